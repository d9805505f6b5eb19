//! What the cross table of groups shows: which rows and columns, their texts, and the filters that show only the rows of a
//! cell. Pure.

use volary_analysis::statistics::Paired;
use volary_analysis::table::Column;
use volary_analysis::table::cross::{Cross, CrossTotal, Differing};
use volary_analysis::table::filter::Filter;
use volary_analysis::table::groups::{Group, GroupOrder};
use volary_analysis::table::order::Direction;
use volary_core::quantity::{count_text, plural};

use super::group_cells::{exactly, mean_text, rounded};

/// The number of rows shown at first: rendering thousands of cells takes longer than the grouping.
const FIRST_ROWS: usize = 40;
/// The maximum number of rows shown.
const MOST_ROWS: usize = 500;
/// The maximum number of columns shown.
const MOST_COLUMNS: usize = 24;
/// The maximum number of differing rows listed.
const MOST_DIFFERING: usize = 50;

/// The part of a cross table that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPart {
    /// The indices of the rows, in order.
    pub rows: Vec<usize>,
    /// The number of columns.
    pub columns: usize,
    /// What is said about further rows.
    pub more_rows: Option<MoreRows>,
    /// What is said about further columns.
    pub more_columns: Option<String>,
}

/// The rows that are not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoreRows {
    /// A button with this text shows them.
    Offered(String),
    /// There are too many.
    TooMany(String),
}

impl ShownPart {
    /// `is_whole` is whether the user asked for more rows.
    pub fn of(cross: &Cross, sort: Option<(GroupOrder, Direction)>, is_whole: bool) -> ShownPart {
        let mut rows = match sort {
            Some((by, direction)) => cross.ordered(by, direction),
            None => (0..cross.rows.len()).collect(),
        };
        let limit = if is_whole { MOST_ROWS } else { FIRST_ROWS };
        let more = rows.len().saturating_sub(limit);
        rows.truncate(limit);
        let more_rows = (more > 0).then(|| {
            if is_whole {
                MoreRows::TooMany(format!(
                    "{} more rows. Filter to see them.",
                    count_text(more)
                ))
            } else {
                MoreRows::Offered(format!(
                    "Show {}",
                    plural(more.min(MOST_ROWS - FIRST_ROWS), "more row")
                ))
            }
        });
        let columns = cross.columns.len().min(MOST_COLUMNS);
        let more = cross.columns.len() - columns;
        ShownPart {
            rows,
            columns,
            more_rows,
            more_columns: (more > 0)
                .then(|| format!("{} more columns. Filter to see them.", count_text(more))),
        }
    }
}

/// The display text of a value that may be unknown.
pub fn value_name(value: &str) -> &str {
    match value.trim() {
        "" => "unknown",
        name => name,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossCellTexts {
    pub mean: String,
    /// The number of trajectories.
    pub count: String,
    /// What a press does.
    pub label: String,
}

impl CrossCellTexts {
    /// The texts of the group with both values; `half` is the half-width of its mean's interval, if known.
    pub fn of(group: &Group, row: &str, column: &str, half: Option<f64>) -> CrossCellTexts {
        let count = group.rows.len();
        CrossCellTexts {
            mean: group
                .mean_reward
                .map_or_else(|| "–".to_owned(), |mean| mean_text(mean, half)),
            count: number_text(count),
            label: format!(
                "Show {} of {}, {}",
                plural(count, "trajectory"),
                value_name(row),
                value_name(column)
            ),
        }
    }
}

/// The mean and the number of trajectories of a total.
pub fn total_texts(total: CrossTotal) -> (String, String) {
    let mean = total.mean.map_or_else(|| "–".to_owned(), rounded);
    (mean, number_text(total.count))
}

fn number_text(count: usize) -> String {
    format!(" n={}", count_text(count))
}

/// The filters that show only the trajectories of a row and of some columns; empty unless two columns are grouped by.
pub fn filters(columns: &[Column], row: &str, others: &[String]) -> Vec<(Column, Filter)> {
    let [first, second] = columns else {
        return Vec::new();
    };
    let others = match others {
        [one] => exactly(one),
        several => Filter::OneOf(several.to_vec()),
    };
    vec![(first.clone(), exactly(row)), (second.clone(), others)]
}

/// The rows in which two columns differ most, and what is said about the others.
pub fn differing(cross: &Cross, first: usize, second: usize) -> (Vec<Differing>, Option<String>) {
    let mut found = cross.differing(first, second);
    let more = found.len().saturating_sub(MOST_DIFFERING);
    found.truncate(MOST_DIFFERING);
    let more = (more > 0).then(|| match more {
        1 => "1 more row differs.".to_owned(),
        more => format!("{} more rows differ.", count_text(more)),
    });
    (found, more)
}

/// A difference with its sign.
pub fn signed(difference: f64) -> String {
    if difference > 0.0 {
        format!("+{}", rounded(difference))
    } else {
        rounded(difference)
    }
}

/// Describes a comparison.
pub fn paired_text(paired: &Paired) -> String {
    let difference = paired.difference;
    let interval = match (difference.low, difference.high) {
        (Some(low), Some(high)) => format!(" (95%: {} to {})", signed(low), signed(high)),
        _ => String::new(),
    };
    let chance = match paired.p_value {
        small if small < 0.0001 => "p < 0.0001".to_owned(),
        chance => format!("p = {chance:.4}"),
    };
    format!(
        "{}, {}, {} · mean difference {}{interval} · sign test {chance}",
        plural(paired.wins, "win"),
        plural(paired.ties, "tie"),
        match paired.losses {
            1 => "1 loss".to_owned(),
            losses => format!("{} losses", count_text(losses)),
        },
        signed(difference.mean),
    )
}

#[cfg(test)]
mod tests {
    use volary_analysis::table::Row;
    use volary_analysis::table::groups::{GroupBy, SUCCESS, grouped};
    use volary_episode::TaskReference;

    use super::*;

    fn row(task: &str, model: &str, reward: Option<f64>) -> Row {
        Row {
            task: (!task.is_empty()).then(|| TaskReference {
                dataset: "d".into(),
                id: task.into(),
            }),
            model: (!model.is_empty()).then(|| model.into()),
            reward,
            ..Row::default()
        }
    }

    fn cross(rows: &[Row]) -> Cross {
        let by = GroupBy::columns(&[Column::Task, Column::Model]).expect("two columns");
        Cross::of(&grouped(rows, &by, SUCCESS))
    }

    /// A table with these numbers of rows and columns.
    fn table(rows: usize, columns: usize) -> Cross {
        let all = (0..rows).flat_map(|task| {
            (0..columns).map(move |model| {
                row(
                    &format!("task {task}"),
                    &format!("model {model}"),
                    Some(task as f64),
                )
            })
        });
        cross(&all.collect::<Vec<_>>())
    }

    #[test]
    fn a_small_table_is_shown_whole() {
        let part = ShownPart::of(&table(FIRST_ROWS, MOST_COLUMNS), None, false);
        assert_eq!(part.rows, (0..FIRST_ROWS).collect::<Vec<_>>());
        assert_eq!(part.columns, MOST_COLUMNS);
        assert_eq!((part.more_rows, part.more_columns), (None, None));
        let empty = ShownPart::of(&Cross::default(), None, true);
        assert_eq!((empty.rows, empty.columns), (Vec::new(), 0));
        assert_eq!((empty.more_rows, empty.more_columns), (None, None));
    }

    #[test]
    fn more_rows_are_offered_once() {
        let part = ShownPart::of(&table(FIRST_ROWS + 1, 1), None, false);
        assert_eq!(part.rows.len(), FIRST_ROWS);
        assert_eq!(
            part.more_rows,
            Some(MoreRows::Offered("Show 1 more row".to_owned()))
        );
        let part = ShownPart::of(&table(FIRST_ROWS + 1, 1), None, true);
        assert_eq!(part.rows.len(), FIRST_ROWS + 1);
        assert_eq!(part.more_rows, None);
    }

    #[test]
    fn a_table_that_is_too_large_says_what_is_missing() {
        let huge = table(MOST_ROWS + 1_200, 1);
        let part = ShownPart::of(&huge, None, false);
        // Not more than a press shows.
        assert_eq!(
            part.more_rows,
            Some(MoreRows::Offered("Show 460 more rows".to_owned()))
        );
        let part = ShownPart::of(&huge, None, true);
        assert_eq!(part.rows.len(), MOST_ROWS);
        let said = "1,200 more rows. Filter to see them.".to_owned();
        assert_eq!(part.more_rows, Some(MoreRows::TooMany(said)));
        let part = ShownPart::of(&table(1, MOST_COLUMNS + 2), None, false);
        assert_eq!(part.columns, MOST_COLUMNS);
        assert_eq!(
            part.more_columns.as_deref(),
            Some("2 more columns. Filter to see them.")
        );
    }

    #[test]
    fn the_order_applies_before_the_limit() {
        let sort = Some((GroupOrder::Reward, Direction::Descending));
        let part = ShownPart::of(&table(FIRST_ROWS + 10, 1), sort, false);
        assert_eq!(
            part.rows.first(),
            Some(&(FIRST_ROWS + 9)),
            "the best row of all"
        );
        assert_eq!(part.rows.len(), FIRST_ROWS);
    }

    #[test]
    fn a_cell_says_what_it_holds_and_shows() {
        let one = Group {
            rows: vec![0],
            mean_reward: Some(0.5),
            ..Group::default()
        };
        let texts = CrossCellTexts::of(&one, "refund", " ", Some(0.25));
        assert_eq!(texts.mean, "0.5 ± 0.25");
        assert_eq!(texts.count, " n=1");
        assert_eq!(texts.label, "Show 1 trajectory of refund, unknown");
        let many = Group {
            rows: (0..1_000).collect(),
            ..Group::default()
        };
        let texts = CrossCellTexts::of(&many, "", "m", None);
        assert_eq!((&*texts.mean, &*texts.count), ("–", " n=1,000"));
        assert_eq!(texts.label, "Show 1,000 trajectories of unknown, m");
        let total = CrossTotal {
            count: 3,
            mean: Some(1.0 / 3.0),
        };
        assert_eq!(total_texts(total), ("0.333".to_owned(), " n=3".to_owned()));
        assert_eq!(total_texts(CrossTotal::default()).0, "–");
    }

    /// The rows that pass the filters of some cells of one row.
    fn passing(rows: &[Row], name: &str, others: &[&str]) -> Vec<usize> {
        let others: Vec<String> = others.iter().map(|name| (*name).to_owned()).collect();
        let filters = filters(&[Column::Task, Column::Model], name, &others);
        let passes = |row: &Row| {
            filters
                .iter()
                .all(|(column, filter)| filter.passes(&row.cell(column)))
        };
        let places = rows.iter().enumerate().filter(|(_, row)| passes(row));
        places.map(|(place, _)| place).collect()
    }

    #[test]
    fn every_cell_leads_to_exactly_its_rows() {
        let rows = [
            row("1", "a", None),
            row("1", "b", None),
            row("1", "", None),
            row("", "a", None),
            row("", "", None),
            row("1", "a", None),
            row(" ", "a", None),
        ];
        let cross = cross(&rows);
        for (at, name) in cross.rows.iter().enumerate() {
            for (other, value) in cross.columns.iter().enumerate() {
                let group = cross.cell(at, other);
                let own = group.map(|group| group.rows.clone()).unwrap_or_default();
                assert_eq!(passing(&rows, name, &[value]), own, "{name:?} {value:?}");
            }
        }
    }

    #[test]
    fn a_comparison_with_unknown_values_shows_both_sides() {
        let rows = [row("1", "a", None), row("1", "", None), row("1", "b", None)];
        assert_eq!(passing(&rows, "1", &["a", ""]), [0, 1]);
        assert_eq!(passing(&rows, "1", &["a", "b"]), [0, 2]);
        let chip = crate::library::filter_text(&Filter::OneOf(vec!["a".to_owned(), String::new()]));
        assert_eq!(chip, "is \"a\" or unknown");
    }

    #[test]
    fn a_single_column_has_no_cells() {
        assert_eq!(filters(&[Column::Task], "1", &["a".to_owned()]), []);
        assert_eq!(filters(&[], "1", &[]), []);
    }

    #[test]
    fn the_largest_differences_are_listed() {
        let mut rows = Vec::new();
        for task in 0..MOST_DIFFERING + 2 {
            rows.push(row(&task.to_string(), "a", Some(0.0)));
            rows.push(row(&task.to_string(), "b", Some(task as f64)));
        }
        let (found, more) = differing(&cross(&rows), 0, 1);
        assert_eq!(found.len(), MOST_DIFFERING);
        let largest = found.first().map(|pair| pair.second - pair.first);
        assert_eq!(largest, Some((MOST_DIFFERING + 1) as f64));
        // One of the others is equal and does not count.
        assert_eq!(more.as_deref(), Some("1 more row differs."));
        rows.push(row("more", "a", Some(0.0)));
        rows.push(row("more", "b", Some(0.5)));
        let (_, more) = differing(&cross(&rows), 0, 1);
        assert_eq!(more.as_deref(), Some("2 more rows differ."));
        let (found, more) = differing(&cross(&rows), 0, 0);
        assert_eq!((found, more), (Vec::new(), None));
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(signed(0.25), "+0.25");
        assert_eq!(signed(-0.25), "-0.25");
        assert_eq!(signed(0.0), "0.0");
    }

    #[test]
    fn a_comparison_is_described() {
        let paired = Paired::of(&[(1.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)], 0.95);
        let words = paired_text(&paired.unwrap());
        assert!(
            words.starts_with("2 wins, 1 tie, 1 loss · mean difference +0.25 (95%: -"),
            "{words}"
        );
        assert!(words.ends_with("sign test p = 1.0000"), "{words}");
        let one = Paired::of(&[(1.0, 0.0)], 0.95).map(|paired| paired_text(&paired));
        assert_eq!(
            one.as_deref(),
            Some("1 win, 0 ties, 0 losses · mean difference +1.0 · sign test p = 1.0000"),
            "one pair has no interval"
        );
        let clear = Paired::of(&[(1.0, 0.0); 20], 0.95).map(|paired| paired_text(&paired));
        assert!(clear.is_some_and(|words| words.ends_with("sign test p < 0.0001")));
    }
}
