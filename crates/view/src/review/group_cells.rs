//! What the table of groups shows: the texts of a group, its bar, and the filters that show only its rows. Pure.

use crate::summary::reward_text;
use volary_analysis::statistics::share;
use volary_analysis::table::Column;
use volary_analysis::table::cross::Cross;
use volary_analysis::table::filter::Filter;
use volary_analysis::table::groups::{Group, GroupBy, GroupOrder, Passes};
use volary_analysis::table::order::Direction;
use volary_core::quantity::count_text;

/// The confidence level of the intervals.
pub const CONFIDENCE: f64 = 0.95;
/// The maximum k of pass^k.
const MOST_TRIES: usize = 8;

/// The columns of the table; the last one is shown only for tasks.
const COLUMNS: &[(&str, GroupOrder)] = &[
    ("Group", GroupOrder::Name),
    ("Trajectories", GroupOrder::Count),
    ("Mean reward", GroupOrder::Reward),
    ("Succeeded", GroupOrder::Success),
    ("Agreement", GroupOrder::Agreement),
];

/// The grouping and its groups.
#[derive(Clone, Debug)]
pub struct Grouped {
    pub by: GroupBy,
    pub groups: Vec<Group>,
    /// The minimum and the maximum of the mean rewards, extended to include 0. The bars span this range.
    pub range: (f64, f64),
    /// The cross table, if the rows are grouped by two columns.
    pub cross: Option<Cross>,
}

impl Grouped {
    pub fn of(by: GroupBy, groups: Vec<Group>) -> Grouped {
        let range = range_with_zero(groups.iter().filter_map(|group| group.mean_reward));
        let cross = matches!(by, GroupBy::Pair(..)).then(|| Cross::of(&groups));
        Grouped {
            by,
            groups,
            range,
            cross,
        }
    }
}

/// The minimum and the maximum of finite numbers, extended to include 0.
pub fn range_with_zero(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = numbers.filter(|number| number.is_finite());
    finite.fold((0.0_f64, 0.0_f64), |(low, high), number| {
        (low.min(number), high.max(number))
    })
}

/// The columns of the table of groups by a criterion.
pub fn columns(by: &GroupBy) -> &'static [(&'static str, GroupOrder)] {
    match by {
        GroupBy::Task => COLUMNS,
        _ => &COLUMNS[..COLUMNS.len() - 1],
    }
}

/// The order after a press of a column's heading: ascending, descending, none.
pub fn next_order<T: PartialEq>(sort: Option<(T, Direction)>, by: T) -> Option<(T, Direction)> {
    match sort {
        Some((known, Direction::Ascending)) if known == by => Some((known, Direction::Descending)),
        Some((known, Direction::Descending)) if known == by => None,
        _ => Some((by, Direction::Ascending)),
    }
}

/// The texts of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupCells {
    pub name: String,
    /// The environment and the actor of trials of a task, if they are known.
    pub aside: Option<String>,
    pub count: String,
    pub mean: String,
    pub success: String,
    /// The agreement; `None` for groups that are no tasks.
    pub agreement: Option<String>,
    /// The filters that show only the rows of the group.
    pub filters: Vec<(Column, Filter)>,
}

impl GroupCells {
    /// The texts of a group; `half` is the half-width of its mean's interval, if known.
    pub fn of(by: &GroupBy, group: &Group, half: Option<f64>) -> GroupCells {
        let known = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
        let aside = group.tried.as_ref().and_then(|tried| {
            let actor = actor(&tried.model, &tried.agent).unwrap_or_default();
            joined(&[&*tried.environment, &*actor])
        });
        let success = share(group.successes, group.trials, CONFIDENCE).map(|share| {
            let percent = |share: Option<f64>| (share.unwrap_or_default() * 100.0).round();
            format!(
                "{} of {} ({}–{}%)",
                group.successes,
                group.trials,
                percent(share.low),
                percent(share.high)
            )
        });
        let agreement = group.agreement;
        let agreement = agreement.map(|share| format!("{:.0}%", share * 100.0));
        GroupCells {
            name: match group.name.trim() {
                "" => "unknown".to_owned(),
                name => name.to_owned(),
            },
            aside,
            count: count_text(group.rows.len()),
            mean: known(group.mean_reward.map(|mean| mean_text(mean, half))),
            success: known(success),
            agreement: (*by == GroupBy::Task).then(|| known(agreement)),
            filters: filters(by, group),
        }
    }
}

/// The filter for exactly this value; an empty one is unknown.
pub fn exactly(value: &str) -> Filter {
    match value {
        "" => Filter::Known(false),
        _ => Filter::OneOf(vec![value.to_owned()]),
    }
}

fn filters(by: &GroupBy, group: &Group) -> Vec<(Column, Filter)> {
    let column = match by {
        GroupBy::Task => Column::Task,
        GroupBy::Run => Column::Run,
        GroupBy::Column(column) | GroupBy::Pair(column, _) => column.clone(),
    };
    let mut filters = vec![(column, exactly(&group.name))];
    // Restrict to the same task: others may have the same name or another environment.
    filters.extend(group.tried.iter().flat_map(|tried| {
        [
            (Column::Environment, exactly(&tried.environment)),
            (Column::Model, exactly(&tried.model)),
            (Column::Agent, exactly(&tried.agent)),
        ]
    }));
    filters
}

/// pass^k of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassTexts {
    /// The model and the agent, if known.
    pub actor: Option<String>,
    /// The name and the percentage for each k.
    pub figures: Vec<(String, String)>,
}

impl PassTexts {
    pub fn of(passes: &Passes) -> PassTexts {
        let shares = passes.all.iter().take(MOST_TRIES).enumerate();
        let figures = shares.map(|(place, share)| {
            let percent = format!("{:.1}%", share * 100.0);
            (format!("pass^{} ", place + 1), percent)
        });
        PassTexts {
            actor: actor(&passes.model, &passes.agent),
            figures: figures.collect(),
        }
    }
}

/// The model and the agent, if known.
fn actor(model: &str, agent: &str) -> Option<String> {
    joined(&[model, agent])
}

/// The texts that are not empty, separated by commas.
fn joined(texts: &[&str]) -> Option<String> {
    let known: Vec<&str> = texts
        .iter()
        .copied()
        .filter(|text| !text.is_empty())
        .collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// A mean with the half-width of its interval, if known.
pub fn mean_text(mean: f64, half: Option<f64>) -> String {
    match half {
        Some(half) => format!("{} ± {}", rounded(mean), short(half)),
        None => rounded(mean),
    }
}

/// Formats a mean with three decimals, which are enough to distinguish means.
pub fn rounded(mean: f64) -> String {
    match mean.abs() {
        tiny if tiny < 0.001 => reward_text(mean),
        _ => reward_text((mean * 1e3).round() / 1e3),
    }
}

/// Formats a half-width with two digits.
fn short(half: f64) -> String {
    match half.abs() {
        0.0 => "0".to_owned(),
        large if large >= 10.0 => format!("{half:.0}"),
        middle if middle >= 0.1 => format!("{half:.2}"),
        _ => format!("{half:.3}"),
    }
}

/// The bar from 0 to a mean, in percent of the range of all means: its start and its width. `None` for an empty range.
pub fn bar_span(mean: f64, (low, high): (f64, f64)) -> Option<(f64, f64)> {
    let width = high - low;
    if width.is_nan() || width <= 0.0 {
        return None;
    }
    let place = |value: f64| (value - low) / width * 100.0;
    let (zero, end) = (place(0.0), place(mean));
    Some((zero.min(end), (end - zero).abs()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_analysis::table::Row;
    use volary_analysis::table::groups::{SUCCESS, Tried, grouped};
    use volary_core::json::Text;
    use volary_episode::TaskReference;

    use super::*;

    fn of_trials() -> Group {
        Group {
            name: "refund".into(),
            tried: Some(Tried {
                environment: "airline".into(),
                model: "m".into(),
                agent: "".into(),
            }),
            rows: (0..1200).collect(),
            trials: 4,
            successes: 1,
            mean_reward: Some(0.25),
            agreement: Some(0.5),
            ..Group::default()
        }
    }

    #[test]
    fn a_task_shows_who_tried_it_and_how_often() {
        let cells = GroupCells::of(&GroupBy::Task, &of_trials(), Some(0.4244));
        assert_eq!(cells.name, "refund");
        assert_eq!(cells.aside.as_deref(), Some("airline, m"));
        assert_eq!(cells.count, count_text(1200));
        assert_eq!(cells.mean, "0.25 ± 0.42");
        assert_eq!(cells.success, "1 of 4 (5–70%)");
        assert_eq!(cells.agreement.as_deref(), Some("50%"));
    }

    #[test]
    fn a_group_that_is_no_task_has_no_agreement() {
        let by = GroupBy::Column(Column::Model);
        let group = Group {
            name: "m".into(),
            rows: vec![0],
            ..Group::default()
        };
        let cells = GroupCells::of(&by, &group, None);
        assert_eq!((cells.aside, cells.agreement), (None, None));
        assert_eq!((&*cells.mean, &*cells.success), ("–", "–"));
        let heads = |by| {
            columns(by)
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
        };
        assert!(!heads(&by).contains(&"Agreement"));
        assert!(heads(&GroupBy::Task).contains(&"Agreement"));
        let unreplied = GroupCells::of(&GroupBy::Task, &group, None);
        assert_eq!(unreplied.agreement.as_deref(), Some("–"));
    }

    #[test]
    fn a_group_leads_to_exactly_its_rows() {
        let one_of = |text: &str| Filter::OneOf(vec![text.to_owned()]);
        let cells = GroupCells::of(&GroupBy::Task, &of_trials(), None);
        // Another environment may have a task of this name, and other trials of it.
        let expected = [
            (Column::Task, one_of("refund")),
            (Column::Environment, one_of("airline")),
            (Column::Model, one_of("m")),
            (Column::Agent, Filter::Known(false)),
        ];
        assert_eq!(cells.filters, expected);
        let unnamed = Group::default();
        let cells = GroupCells::of(&GroupBy::Run, &unnamed, None);
        assert_eq!(cells.name, "unknown");
        assert_eq!(cells.filters, [(Column::Run, Filter::Known(false))]);
        let blank = Group {
            name: " ".into(),
            ..Group::default()
        };
        let cells = GroupCells::of(&GroupBy::Run, &blank, None);
        assert_eq!(cells.name, "unknown");
        // The value is known, although it has nothing to show.
        assert_eq!(cells.filters, [(Column::Run, one_of(" "))]);
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let word = || proptest::option::of("[ ab]{0,2}");
        let row = (
            word(),
            word(),
            word(),
            word(),
            proptest::collection::vec("[ab]", 0..3),
            proptest::option::of(-1..2),
        );
        let row = row.prop_map(|(task, run, model, environment, tags, reward)| {
            let text = |word: Option<String>| word.map(Text::from);
            Row {
                task: task.map(|id| TaskReference {
                    dataset: "d".into(),
                    id: id.into(),
                }),
                run: text(run),
                model: text(model),
                environment: text(environment),
                tags: tags.into_iter().map(Text::from).collect(),
                reward: reward.map(f64::from),
                ..Row::default()
            }
        });
        proptest::collection::vec(row, 0..12)
    }

    proptest! {
        #[test]
        fn the_filters_of_a_group_pass_its_rows_and_no_others(rows in rows()) {
            for by in [
                GroupBy::Run,
                GroupBy::Column(Column::Model),
                GroupBy::Column(Column::Tags),
                GroupBy::Column(Column::Reward),
            ] {
                for group in grouped(&rows, &by, SUCCESS) {
                    let filters = GroupCells::of(&by, &group, None).filters;
                    let passes = |row: &Row| {
                        filters.iter().all(|(column, filter)| filter.passes(&row.cell(column)))
                    };
                    let passing = rows.iter().enumerate().filter(|(_, row)| passes(row));
                    let passing: Vec<usize> = passing.map(|(place, _)| place).collect();
                    prop_assert_eq!(passing, group.rows, "{:?} {:?}", &by, filters);
                }
            }
        }
    }

    #[test]
    fn a_press_of_a_heading_cycles_its_order() {
        use Direction::{Ascending, Descending};
        let name = GroupOrder::Name;
        let first = next_order(None, name);
        assert_eq!(first, Some((name, Ascending)));
        let second = next_order(first, name);
        assert_eq!(second, Some((name, Descending)));
        assert_eq!(next_order(second, name), None);
        // Another column starts at its beginning.
        let other = next_order(second, GroupOrder::Count);
        assert_eq!(other, Some((GroupOrder::Count, Ascending)));
    }

    #[test]
    fn the_range_of_bars_contains_zero_and_ignores_what_cannot_be_drawn() {
        let range = |numbers: &[f64]| range_with_zero(numbers.iter().copied());
        assert_eq!(range(&[]), (0.0, 0.0));
        assert_eq!(range(&[2.0, 3.0]), (0.0, 3.0));
        assert_eq!(range(&[-2.0, -3.0]), (-3.0, 0.0));
        assert_eq!(
            range(&[f64::NAN, f64::INFINITY, 1.0, f64::NEG_INFINITY]),
            (0.0, 1.0)
        );
    }

    #[test]
    fn pass_k_is_listed_for_a_few_k() {
        let passes = Passes {
            model: "m".into(),
            agent: "a".into(),
            all: vec![0.5; MOST_TRIES + 1],
        };
        let texts = PassTexts::of(&passes);
        assert_eq!(texts.actor.as_deref(), Some("m, a"));
        assert_eq!(texts.figures.len(), MOST_TRIES);
        assert_eq!(
            texts.figures.first(),
            Some(&("pass^1 ".to_owned(), "50.0%".to_owned()))
        );
        let unknown = Passes {
            model: Text::default(),
            agent: Text::default(),
            all: vec![2.0 / 3.0],
        };
        let texts = PassTexts::of(&unknown);
        assert_eq!(texts.actor, None);
        assert_eq!(texts.figures, [("pass^1 ".to_owned(), "66.7%".to_owned())]);
    }

    #[test]
    fn bars_start_at_zero_in_either_direction() {
        let groups = [-1.0, 3.0].map(|mean| Group {
            mean_reward: Some(mean),
            ..Group::default()
        });
        let grouped = Grouped::of(GroupBy::Run, groups.to_vec());
        assert_eq!(grouped.range, (-1.0, 3.0));
        assert!(grouped.cross.is_none());
        assert_eq!(bar_span(3.0, grouped.range), Some((25.0, 75.0)));
        assert_eq!(bar_span(-1.0, grouped.range), Some((0.0, 25.0)));
        assert_eq!(bar_span(0.0, (0.0, 0.0)), None, "all means are 0");
        let odd = [f64::NAN, f64::INFINITY, 2.0];
        assert_eq!(range_with_zero(odd.into_iter()), (0.0, 2.0));
    }

    #[test]
    fn a_heading_sorts_in_three_steps() {
        let first = next_order(None, GroupOrder::Reward);
        assert_eq!(first, Some((GroupOrder::Reward, Direction::Ascending)));
        let second = next_order(first, GroupOrder::Reward);
        assert_eq!(second, Some((GroupOrder::Reward, Direction::Descending)));
        assert_eq!(next_order(second, GroupOrder::Reward), None);
        let other = next_order(second, GroupOrder::Name);
        assert_eq!(other, Some((GroupOrder::Name, Direction::Ascending)));
    }

    #[test]
    fn means_are_short_and_never_rounded_to_nothing() {
        assert_eq!(mean_text(0.333_333, None), "0.333");
        assert_eq!(mean_text(0.5, Some(0.0)), "0.5 ± 0");
        assert_eq!(mean_text(12.0, Some(10.4)), "12.0 ± 10");
        assert_eq!(mean_text(0.5, Some(0.0123)), "0.5 ± 0.012");
        assert_ne!(rounded(0.000_4), "0");
    }

    #[test]
    fn passes_name_their_actor() {
        let passes = Passes {
            model: "m".into(),
            agent: "a".into(),
            all: vec![0.5; 20],
        };
        let texts = PassTexts::of(&passes);
        assert_eq!(texts.actor.as_deref(), Some("m, a"));
        assert_eq!(texts.figures.len(), MOST_TRIES);
        assert_eq!(texts.figures[1], ("pass^2 ".to_owned(), "50.0%".to_owned()));
        let unnamed = Passes {
            model: "".into(),
            agent: "".into(),
            all: Vec::new(),
        };
        assert_eq!(PassTexts::of(&unnamed).actor, None);
    }
}
