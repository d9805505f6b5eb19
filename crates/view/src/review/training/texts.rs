//! What is said about a run, a step and a group, and how a group's tile looks. Pure.

use std::collections::BTreeSet;

use crate::library::FIRST_COLUMNS;
use crate::route::{ReviewPlace, Route};
use crate::training::{SIDE, figure_text, spread_text};
use volary_analysis::table::Column;
use volary_analysis::table::filter::Filter;
use volary_analysis::table::view::View;
use volary_analysis::training::{RewardChoice, Sample, SampleGroup, StepSummary, TrainingRun};
use volary_core::quantity::{count_text, plural};

/// The maximum number of files that a filter of the table names.
const MOST_FILES: usize = 16;
/// The maximum number of gaps between steps that are named.
const MOST_GAPS: usize = 12;
/// The number of shades of tiles.
const SHADES: usize = 5;
/// The maximum number of samples whose rewards a tile shows.
const MOST_BARS: usize = 64;

pub fn run_facts(run: &TrainingRun) -> String {
    let sum = |count: fn(&StepSummary) -> usize| run.steps.iter().map(count).sum::<usize>();
    let rewards = run.samples.iter().map(|sample| sample.reward);
    let unscored = rewards.clone().filter(Option::is_none).count();
    let not_finite = rewards.flatten().filter(|reward| !reward.is_finite());
    let mut parts = vec![
        plural(run.steps.len(), "step"),
        plural(run.samples.len(), "sample"),
    ];
    parts.extend(group_part(
        sum(StepSummary::group_count),
        sum(StepSummary::uniform_groups),
        sum(groups_of_one),
    ));
    parts.extend(counted([
        (sum(|step| step.truncated), "truncated"),
        (sum(|step| step.aborted), "aborted or failed"),
        (
            sum(|step| step.mixed_policies),
            "sampled from several policies",
        ),
        (unscored, "without a reward"),
        (not_finite.count(), "with a NaN or infinite reward"),
    ]));
    parts.join(" · ")
}

pub fn step_facts(step: &StepSummary) -> String {
    let reward = step.spreads.first().copied().unwrap_or_default();
    let mut parts = vec![plural(step.samples.len(), "sample")];
    parts.extend(group_part(
        step.group_count(),
        step.uniform_groups(),
        groups_of_one(step),
    ));
    parts.extend(counted([
        (step.truncated, "truncated"),
        (step.aborted, "aborted or failed"),
        (step.mixed_policies, "sampled from several policies"),
        (reward.missing, "without a reward"),
        (reward.not_finite, "with a NaN or infinite reward"),
    ]));
    parts.join(" · ")
}

/// The number of groups with one sample, in which nothing can be compared.
fn groups_of_one(step: &StepSummary) -> usize {
    let groups = step.groups.iter();
    groups
        .filter(|group| group.key.is_some() && group.samples.len() == 1)
        .count()
}

fn group_part(groups: usize, uniform: usize, of_one: usize) -> Option<String> {
    let all = plural(groups, "group");
    let uniform = count_text(uniform);
    match (groups, of_one) {
        (0, _) => None,
        (_, 0) => Some(format!("{all}, {uniform} without variance")),
        _ if of_one == groups => Some(format!("{all} of one")),
        _ => Some(format!(
            "{all}, {uniform} without variance, {} of one",
            count_text(of_one)
        )),
    }
}

/// What occurs, with its count.
fn counted<const N: usize>(counts: [(usize, &str); N]) -> impl Iterator<Item = String> {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, words)| format!("{} {words}", count_text(count)))
}

pub fn group_facts(step: &StepSummary, group: &SampleGroup) -> String {
    let reward = &group.reward;
    let mut parts = vec![
        format!("Step {}", step.step),
        plural(group.samples.len(), "sample"),
        format!(
            "mean reward {}",
            spread_text(reward.mean, reward.deviation, false)
        ),
    ];
    if let Some((low, high)) = reward.range() {
        parts.push(format!(
            "from {} to {}",
            figure_text(low, false),
            figure_text(high, false)
        ));
    }
    parts.extend(counted([(reward.missing, "without a reward")]));
    parts.join(" · ")
}

/// Names the steps that have no samples.
pub fn gaps_text(run: &TrainingRun) -> Option<String> {
    let (named, others) = run
        .missing_steps
        .split_at(run.missing_steps.len().min(MOST_GAPS));
    let gaps = named.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}–{last}")
        }
    });
    let gaps: Vec<String> = gaps.collect();
    let more = if others.is_empty() { "" } else { " and others" };
    (!gaps.is_empty()).then(|| format!("Steps without samples: {}{more}.", gaps.join(", ")))
}

/// Says how many of something are left out; `None` if none is.
pub fn left_out(count: usize, words: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {words}", count_text(count)))
}

/// The advantage of a sample: one figure, or the range over its tokens.
pub fn advantage_text(advantage: Option<(f64, f64)>) -> String {
    match advantage {
        None => "–".to_owned(),
        Some((low, high)) if (low - high).abs() < 1e-9 => figure_text(low, false),
        Some((low, high)) => format!(
            "{} to {}",
            figure_text(low, false),
            figure_text(high, false)
        ),
    }
}

/// The address of the table of trajectories, filtered to the samples of a step.
/// The reward that counts has a column.
pub fn table_address(samples: &[Sample], step: i64, choice: &RewardChoice) -> String {
    let has_step = samples.first().is_some_and(|sample| {
        let value = sample.row.metadata.get("step");
        value.is_some_and(|value| !value.is_null())
    });
    let key = if has_step { "step" } else { "iteration" };
    let of_step = (
        Column::Metadata(vec![key.into()]),
        Filter::OneOf(vec![step.to_string()]),
    );
    // A sample of no file has an empty one.
    let files = samples.iter().map(|sample| sample.row.run.as_deref());
    let files: BTreeSet<&str> = files.map(Option::unwrap_or_default).collect();
    let is_needed = files.iter().any(|file| !file.is_empty()) && files.len() <= MOST_FILES;
    let of_files = is_needed.then(|| {
        let files = files.iter().map(|file| (*file).to_owned());
        (Column::Run, Filter::OneOf(files.collect()))
    });
    let columns = match choice {
        RewardChoice::Whole => None,
        RewardChoice::Part(name) => Some(columns_with(Column::Score(name.clone()))),
    };
    let view = View {
        filters: std::iter::once(of_step).chain(of_files).collect(),
        columns,
        ..View::default()
    };
    let place = ReviewPlace {
        view: view.to_query(),
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}

/// The first columns of the table, with another one next to the reward.
fn columns_with(other: Column) -> Vec<Column> {
    let columns = FIRST_COLUMNS.iter().flat_map(|column| {
        let beside = (*column == Column::Reward).then(|| other.clone());
        std::iter::once(column.clone()).chain(beside)
    });
    columns.collect()
}

/// The order of the tiles of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileOrder {
    #[default]
    Number,
    Mean,
    Spread,
}

impl TileOrder {
    pub const ALL: [TileOrder; 3] = [TileOrder::Number, TileOrder::Mean, TileOrder::Spread];

    /// The value of the option.
    pub fn key(self) -> &'static str {
        match self {
            TileOrder::Number => "number",
            TileOrder::Mean => "mean",
            TileOrder::Spread => "spread",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            TileOrder::Number => "by number",
            TileOrder::Mean => "by mean reward",
            TileOrder::Spread => "by spread",
        }
    }

    pub fn of_key(key: &str) -> TileOrder {
        let mut all = TileOrder::ALL.into_iter();
        all.find(|order| order.key() == key).unwrap_or_default()
    }

    /// The groups in this order. Those without a figure come last.
    pub fn sorted(self, groups: &[SampleGroup]) -> Vec<&SampleGroup> {
        let mut groups: Vec<&SampleGroup> = groups.iter().collect();
        let figure = |group: &SampleGroup| match self {
            TileOrder::Number => None,
            TileOrder::Mean => group.reward.mean,
            TileOrder::Spread => group.reward.deviation,
        };
        let known = |group| figure(group).unwrap_or(f64::NEG_INFINITY);
        groups.sort_by(|one, other| known(other).total_cmp(&known(one)));
        groups
    }
}

/// A tile for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileTexts {
    pub class: String,
    pub name: String,
    /// The task, if the name does not say it.
    pub task: Option<String>,
    pub mean: String,
    pub remark: String,
    /// The accessible name.
    pub label: String,
}

impl TileTexts {
    /// `range` is the range of the rewards of the run.
    pub fn of(group: &SampleGroup, range: (f64, f64)) -> TileTexts {
        let shade = match group.reward.mean {
            Some(mean) => format!("tile-{}", shade(mean, range)),
            None => "tile-none".to_owned(),
        };
        let uniform = if group.is_uniform() { " uniform" } else { "" };
        let name = group.name();
        let task = group.task.as_deref().filter(|task| **task != *name);
        let mean = spread_text(group.reward.mean, group.reward.deviation, false);
        let remark = match (group.is_uniform(), group.reward.count, group.reward.missing) {
            (true, ..) => "no variance".to_owned(),
            (_, 0, _) => "no reward".to_owned(),
            (_, _, missing) if missing > 0 => format!("{} without reward", count_text(missing)),
            _ => String::new(),
        };
        let count = plural(group.samples.len(), "sample");
        let label = [&*name, &*format!("mean reward {mean}"), &*count, &*remark];
        let label: Vec<&str> = label.into_iter().filter(|part| !part.is_empty()).collect();
        TileTexts {
            class: format!("group-tile {shade}{uniform}"),
            label: label.join(", "),
            task: task.map(str::to_owned),
            name,
            mean,
            remark,
        }
    }
}

/// The shade of a mean; that of the middle if all rewards are equal.
fn shade(mean: f64, (low, high): (f64, f64)) -> usize {
    if high > low {
        // The cast saturates.
        (((mean - low) / (high - low) * SHADES as f64) as usize).min(SHADES - 1)
    } else {
        SHADES / 2
    }
}

/// One bar for each reward; a sample without a finite one has none.
pub fn reward_bars(rewards: &[Option<f64>], (low, high): (f64, f64)) -> String {
    /// The height of the lowest reward, so that it differs from none.
    const LOWEST: f64 = 80.0;
    let count = rewards.len().clamp(1, MOST_BARS);
    let width = SIDE / count as f64;
    let rewards = rewards.iter().take(count).enumerate();
    let bars = rewards.filter_map(|(place, reward)| {
        let reward = reward.filter(|reward| reward.is_finite())?;
        let share = if high > low {
            (reward - low) / (high - low)
        } else {
            0.5
        };
        let height = LOWEST + share.clamp(0.0, 1.0) * (SIDE - LOWEST);
        let left = place as f64 * width;
        Some(format!(
            "M{left:.1} {SIDE}v{:.1}h{:.1}v{height:.1}Z",
            -height,
            width * 0.8
        ))
    });
    bars.collect()
}

#[cfg(test)]
mod tests {
    use volary_analysis::table::Row;
    use volary_core::object;
    use volary_episode::EndingKind;

    use super::super::shown_run::tests::{row, shown};
    use super::*;

    fn run(rows: impl IntoIterator<Item = Row>) -> TrainingRun {
        shown(rows).run
    }

    fn ended(row: Row, ending: EndingKind) -> Row {
        Row {
            ending: Some(ending),
            ..row
        }
    }

    #[test]
    fn a_plain_run_says_little() {
        let run = run([row(1, 0, 0, Some(0.0)), row(1, 0, 1, Some(1.0))]);
        let facts = "1 step · 2 samples · 1 group, 0 without variance";
        assert_eq!(run_facts(&run), facts);
        let of_step = "2 samples · 1 group, 0 without variance";
        assert_eq!(step_facts(&run.steps[0]), of_step);
        assert_eq!(gaps_text(&run), None);
    }

    #[test]
    fn what_went_wrong_is_counted() {
        let rows = [
            ended(row(1, 0, 0, Some(f64::NAN)), EndingKind::Truncated),
            ended(row(1, 0, 1, None), EndingKind::Crashed),
            row(1, 1, 0, Some(1.0)),
            row(1, 1, 1, Some(1.0)),
            row(2, 0, 0, Some(f64::INFINITY)),
        ];
        let run = run(rows);
        assert_eq!(
            run_facts(&run),
            "2 steps · 5 samples · 3 groups, 1 without variance, 1 of one · 1 truncated · 1 aborted or failed \
             · 1 without a reward · 2 with a NaN or infinite reward"
        );
        assert!(step_facts(&run.steps[1]).starts_with("1 sample · 1 group of one · "));
        assert_eq!(
            step_facts(&run.steps[0]),
            "4 samples · 2 groups, 1 without variance · 1 truncated · 1 aborted or failed · 1 without \
             a reward · 1 with a NaN or infinite reward"
        );
    }

    #[test]
    fn gaps_between_steps_are_named_up_to_a_limit() {
        let with_steps = |steps: &[i64]| run(steps.iter().map(|step| row(*step, 0, 0, None)));
        let text = gaps_text(&with_steps(&[1, 2, 4, 5, 6, 10]));
        assert_eq!(text.as_deref(), Some("Steps without samples: 3, 7–9."));
        // Every fourth step is missing.
        let steps: Vec<i64> = (0..80).filter(|step| step % 4 != 3).collect();
        let text = gaps_text(&with_steps(&steps)).expect("gaps");
        assert!(text.starts_with("Steps without samples: 3, 7, "), "{text}");
        assert!(text.ends_with(", 47 and others."), "{text}");
    }

    #[test]
    fn a_group_says_its_range() {
        let run = run([
            row(4, 0, 0, Some(0.0)),
            row(4, 0, 1, Some(1.0)),
            row(4, 0, 2, None),
        ]);
        let step = &run.steps[0];
        let facts = group_facts(step, &step.groups[0]);
        assert!(
            facts.starts_with("Step 4 · 3 samples · mean reward 0.5 ± "),
            "{facts}"
        );
        assert!(
            facts.ends_with(" · from 0.0 to 1.0 · 1 without a reward"),
            "{facts}"
        );
        let unscored = self::run([row(4, 0, 0, None)]);
        let step = &unscored.steps[0];
        assert_eq!(
            group_facts(step, &step.groups[0]),
            "Step 4 · 1 sample · mean reward – · 1 without a reward"
        );
    }

    #[test]
    fn an_advantage_is_one_figure_or_a_range() {
        assert_eq!(advantage_text(None), "–");
        assert_eq!(advantage_text(Some((0.5, 0.5 + 1e-12))), "0.5");
        assert_eq!(advantage_text(Some((-0.5, 0.25))), "-0.5 to 0.25");
    }

    /// The rows that the table shows at the address for a step.
    fn in_table(rows: &[Row], step: i64) -> Vec<usize> {
        let run = run(rows.iter().cloned());
        let at = run.index_of(step).expect("the step");
        let address = table_address(run.samples_of(&run.steps[at].samples), step, &run.choice);
        let Route::Review(place) = Route::parse(&address) else {
            panic!("{address}");
        };
        let filters = View::read(&place.view).filters;
        assert!(!filters.is_empty());
        let passes = |row: &Row| {
            let mut filters = filters.iter();
            filters.all(|(column, filter)| filter.passes(&row.cell(column)))
        };
        let places = rows.iter().enumerate().filter(|(_, row)| passes(row));
        places.map(|(place, _)| place).collect()
    }

    #[test]
    fn the_table_shows_the_samples_of_a_step() {
        let elsewhere = Row {
            run: Some("another run".into()),
            reward: None,
            ..row(1, 0, 9, None)
        };
        let rows = [
            row(1, 0, 0, None),
            row(2, 0, 0, None),
            row(1, 1, 0, None),
            elsewhere,
        ];
        assert_eq!(in_table(&rows[..3], 1), [0, 2]);
        assert_eq!(in_table(&rows[..3], 2), [1]);
    }

    #[test]
    fn the_table_finds_steps_under_either_name() {
        let with = |metadata| Row {
            metadata,
            ..row(1, 0, 0, None)
        };
        let rows = [
            with(object!({ "iteration": 1 })),
            with(object!({ "iteration": 2 })),
        ];
        assert_eq!(in_table(&rows, 2), [1]);
        // An unknown step does not hide the iteration.
        let rows = [with(object!({ "step": null, "iteration": 1 }))];
        assert_eq!(in_table(&rows, 1), [0]);
    }

    #[test]
    fn the_table_shows_samples_of_no_file_too() {
        let sample = |file: Option<&str>| {
            let run = run([Row {
                run: file.map(Into::into),
                ..row(1, 0, 0, None)
            }]);
            run.samples[0].clone()
        };
        let address = |samples: &[Sample]| table_address(samples, 1, &RewardChoice::Whole);
        let alone = address(&[sample(None)]);
        assert!(!alone.contains("run"), "{alone}");
        let samples = [sample(Some("a")), sample(None)];
        let Route::Review(place) = Route::parse(&address(&samples)) else {
            panic!("no place");
        };
        let filters = View::read(&place.view).filters;
        let of_files = filters.iter().filter(|(column, _)| *column == Column::Run);
        for sample in &samples {
            let passes =
                |(column, filter): &(Column, Filter)| filter.passes(&sample.row.cell(column));
            assert!(of_files.clone().all(passes), "{:?}", sample.row.run);
        }
        assert_eq!(of_files.count(), 1);
        let many: Vec<Sample> = (0..=MOST_FILES)
            .map(|file| sample(Some(&format!("file {file}"))))
            .collect();
        let many = address(&many);
        assert!(!many.contains("file"), "an address stays short: {many}");
    }

    #[test]
    fn the_table_shows_the_chosen_reward() {
        let samples = run([row(1, 0, 0, Some(1.0))]).samples;
        let columns = |choice: &RewardChoice| {
            let Route::Review(place) = Route::parse(&table_address(&samples, 1, choice)) else {
                panic!("no place");
            };
            View::read(&place.view).columns
        };
        assert_eq!(
            columns(&RewardChoice::Whole),
            None,
            "the reader's own columns"
        );
        let chosen = columns(&RewardChoice::Part("format".into())).expect("columns");
        let reward = chosen.iter().position(|column| *column == Column::Reward);
        let score = reward.and_then(|at| chosen.get(at + 1));
        assert_eq!(score, Some(&Column::Score("format".into())));
    }

    #[test]
    fn what_is_left_out_is_counted() {
        assert_eq!(left_out(0, "more"), None);
        assert_eq!(left_out(1200, "more").as_deref(), Some("1,200 more"));
    }

    #[test]
    fn tiles_are_ordered_by_what_was_chosen() {
        let run = run([
            row(1, 0, 0, Some(0.5)),
            row(1, 0, 1, Some(0.5)),
            row(1, 1, 0, None),
            row(1, 2, 0, Some(0.0)),
            row(1, 2, 1, Some(2.0)),
        ]);
        let names = |order: TileOrder| {
            let groups = order.sorted(&run.steps[0].groups);
            groups.iter().map(|group| group.name()).collect::<Vec<_>>()
        };
        assert_eq!(names(TileOrder::Number), ["Group 0", "Group 1", "Group 2"]);
        assert_eq!(names(TileOrder::Mean), ["Group 2", "Group 0", "Group 1"]);
        assert_eq!(names(TileOrder::Spread), ["Group 2", "Group 0", "Group 1"]);
        for order in TileOrder::ALL {
            assert_eq!(TileOrder::of_key(order.key()), order);
        }
        assert_eq!(TileOrder::of_key("?"), TileOrder::Number);
    }

    #[test]
    fn a_tile_shows_the_mean_and_what_is_special() {
        let tile = |rows: Vec<Row>| TileTexts::of(&run(rows).steps[0].groups[0], (0.0, 1.0));
        let varied = tile(vec![row(1, 0, 0, Some(0.0)), row(1, 0, 1, Some(1.0))]);
        assert_eq!(varied.class, "group-tile tile-2");
        assert_eq!((&*varied.name, &*varied.remark), ("Group 0", ""));
        assert_eq!(
            varied.label,
            format!("Group 0, mean reward {}, 2 samples", varied.mean)
        );
        let uniform = tile(vec![row(1, 0, 0, Some(1.0)), row(1, 0, 1, Some(1.0))]);
        assert_eq!(uniform.class, "group-tile tile-4 uniform");
        assert_eq!(uniform.remark, "no variance");
        assert!(
            uniform.label.ends_with(", 2 samples, no variance"),
            "{}",
            uniform.label
        );
        let unscored = tile(vec![row(1, 0, 0, None)]);
        assert_eq!(unscored.class, "group-tile tile-none");
        assert_eq!((&*unscored.mean, &*unscored.remark), ("–", "no reward"));
        let partly = tile(vec![row(1, 0, 0, Some(0.1)), row(1, 0, 1, None)]);
        assert_eq!(
            (&*partly.class, &*partly.remark),
            ("group-tile tile-0", "1 without reward")
        );
    }

    #[test]
    fn shades_divide_the_range() {
        let unit = (0.0, 1.0);
        let shades = [0.0, 0.19, 0.2, 0.5, 0.99, 1.0].map(|mean| shade(mean, unit));
        assert_eq!(shades, [0, 0, 1, 2, 4, 4]);
        assert_eq!(shade(-3.0, unit), 0);
        assert_eq!(shade(7.0, unit), 4);
        assert_eq!(shade(1.0, (1.0, 1.0)), 2, "all rewards are equal");
    }

    #[test]
    fn bars_show_rewards_that_can_be_drawn() {
        let bars = |rewards: &[Option<f64>]| reward_bars(rewards, (0.0, 1.0));
        assert_eq!(bars(&[]), "");
        assert_eq!(bars(&[None, Some(f64::NAN), Some(f64::INFINITY)]), "");
        assert_eq!(
            bars(&[Some(0.0), None, Some(1.0), Some(9.0)]),
            "M0.0 1000v-80.0h200.0v80.0ZM500.0 1000v-1000.0h200.0v1000.0ZM750.0 1000v-1000.0h200.0v1000.0Z"
        );
        let many = bars(&[Some(1.0); MOST_BARS + 9]);
        assert_eq!(many.matches('M').count(), MOST_BARS);
        assert_eq!(
            reward_bars(&[Some(3.0)], (3.0, 3.0)),
            "M0.0 1000v-540.0h800.0v540.0Z"
        );
    }
}
