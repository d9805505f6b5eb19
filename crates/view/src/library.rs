//! The table of trajectories for display: column names, cell texts, filters and order.

use volary_analysis::table::filter::Filter;
use volary_analysis::table::order::Direction;
use volary_analysis::table::{Cell, Column, Row};
use volary_core::quantity::{large_count_text, size_text};

use super::asking::cost_text;
use super::summary::{reward_text, seconds_text};
use super::training::figure_text;

/// The columns shown by default.
pub const FIRST_COLUMNS: [Column; 13] = [
    Column::Name,
    Column::Environment,
    Column::Task,
    Column::Model,
    Column::Agent,
    Column::Reward,
    Column::Steps,
    Column::Errors,
    Column::Tokens,
    Column::Cost,
    Column::Time,
    Column::Outcome,
    Column::Run,
];

/// All columns that every table can show.
pub const COLUMNS: [Column; 25] = [
    Column::Name,
    Column::Environment,
    Column::Task,
    Column::Model,
    Column::Agent,
    Column::Reward,
    Column::Steps,
    Column::Calls,
    Column::Errors,
    Column::RepeatedCalls,
    Column::Tokens,
    Column::RecordedTokens,
    Column::TrainedTokens,
    Column::Cost,
    Column::Time,
    Column::Started,
    Column::Outcome,
    Column::Run,
    Column::Tags,
    Column::Notes,
    Column::Labels,
    Column::Verdict,
    Column::Origin,
    Column::Added,
    Column::Size,
];

/// The heading of a column.
pub fn heading(column: &Column) -> String {
    let name = match column {
        Column::Name => "Name",
        Column::Environment => "Environment",
        Column::Model => "Model",
        Column::Agent => "Agent",
        Column::Task => "Task",
        Column::Run => "Run",
        Column::Reward => "Reward",
        Column::Steps => "Steps",
        Column::Calls => "Calls",
        Column::Errors => "Errors",
        Column::RepeatedCalls => "Repeated calls",
        Column::Notes => "Notes",
        Column::Labels => "Labels",
        Column::Verdict => "Verdict",
        Column::Tokens => "Tokens",
        Column::RecordedTokens => "Sequence tokens",
        Column::TrainedTokens => "Trained tokens",
        Column::Cost => "Cost",
        Column::Time => "Time",
        Column::Started => "Started",
        Column::Outcome => "Outcome",
        Column::Tags => "Tags",
        Column::Origin => "Origin",
        Column::Added => "Added",
        Column::Size => "Size",
        Column::Cluster => "Cluster",
        Column::TokenFigure(column) => return column.heading(),
        Column::Diagnostic(kind) => return kind.heading(),
        Column::Score(name) | Column::Answer(name) => return name.to_string(),
        Column::AnswerQuotes(name) => return format!("{name}: quotes"),
        Column::Metadata(path) => return path.join("."),
    };
    name.to_owned()
}

/// The CSS class of a column.
pub fn class(column: &Column) -> &'static str {
    match column {
        Column::Name => "column-name",
        Column::Environment
        | Column::Task
        | Column::Model
        | Column::Agent
        | Column::Run
        | Column::Tags
        | Column::Notes
        | Column::Labels
        | Column::Verdict
        | Column::Answer(_)
        | Column::AnswerQuotes(_)
        | Column::Started
        | Column::Origin
        | Column::Added
        | Column::Cluster
        | Column::Metadata(_) => "column-text",
        Column::Outcome => "column-outcome",
        Column::Reward => "column-number column-reward",
        Column::Steps
        | Column::Calls
        | Column::Errors
        | Column::RepeatedCalls
        | Column::Tokens
        | Column::RecordedTokens
        | Column::TrainedTokens
        | Column::Cost
        | Column::Time
        | Column::Size
        | Column::Score(_)
        | Column::TokenFigure(_)
        | Column::Diagnostic(_) => "column-number",
    }
}

/// The text of a cell; empty if unknown.
pub fn cell_text(row: &Row, column: &Column) -> String {
    match (column, row.cell(column)) {
        (Column::Name, cell) => match cell.to_text().trim() {
            "" => row.id.to_string(),
            name => name.to_owned(),
        },
        (
            Column::Steps
            | Column::Calls
            | Column::Errors
            | Column::RepeatedCalls
            | Column::Tokens
            | Column::RecordedTokens
            | Column::TrainedTokens
            | Column::Diagnostic(_),
            Cell::Number(count),
        ) => large_count_text(count as u64),
        (Column::TokenFigure(column), Cell::Number(count)) if column.is_count() => {
            large_count_text(count as u64)
        }
        (Column::TokenFigure(_), Cell::Number(figure)) => figure_text(figure, false),
        (Column::Cost, Cell::Number(cost)) => cost_text(cost),
        (Column::Time, Cell::Number(seconds)) => seconds_text(seconds),
        (Column::Started | Column::Added, Cell::Number(seconds)) => date_text(seconds),
        (Column::Size, Cell::Number(bytes)) => size_text(bytes as u64),
        (_, Cell::Number(number)) => reward_text(number),
        (_, cell) => cell.to_text(),
    }
}

/// A time in UTC: `2026-03-09 17:05`.
pub fn date_text(seconds: f64) -> String {
    if !(0.0..2.5e11).contains(&seconds) {
        return String::new();
    }
    let minutes = (seconds / 60.0) as i64;
    let (days, minutes) = (minutes / 1440, minutes % 1440);
    // The civil calendar from days since 1970, counted in eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (minutes / 60, minutes % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

/// Parses a filter: bounds of a number (`>= 1`, `< 3`, `0..0.5`, `2`), a text (`= whole text` or a part of it),
/// `known` or `unknown`. `None` if it is invalid.
pub fn read_filter(words: &str, numeric: bool) -> Option<Filter> {
    let words = words.trim();
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|number| !number.is_nan())
    };
    match words {
        "" => None,
        "known" => Some(Filter::Known(true)),
        "unknown" => Some(Filter::Known(false)),
        _ if numeric => {
            let between = |low, high| Some(Filter::Between { low, high });
            if let Some(low) = words.strip_prefix(">=").or(words.strip_prefix('≥')) {
                return between(Some(number(low)?), None);
            }
            if let Some(high) = words.strip_prefix("<=").or(words.strip_prefix('≤')) {
                return between(None, Some(number(high)?));
            }
            if let Some(low) = words.strip_prefix('>') {
                return between(Some(number(low)?.next_up()), None);
            }
            if let Some(high) = words.strip_prefix('<') {
                return between(None, Some(number(high)?.next_down()));
            }
            if let Some((low, high)) = words.split_once("..") {
                return between(Some(number(low)?), Some(number(high)?));
            }
            let exactly = number(words.strip_prefix('=').unwrap_or(words))?;
            between(Some(exactly), Some(exactly))
        }
        _ => match words.strip_prefix('=') {
            Some(whole) => Some(Filter::OneOf(vec![whole.trim().to_owned()])),
            None => Some(Filter::Contains(words.to_owned())),
        },
    }
}

/// A filter in words, shown after the name of its column.
pub fn filter_text(filter: &Filter) -> String {
    match filter {
        Filter::Known(true) => "is known".to_owned(),
        Filter::Known(false) => "is unknown".to_owned(),
        Filter::Contains(part) => format!("contains \"{part}\""),
        Filter::OneOf(texts) => {
            let words = texts.iter().map(|text| match text.as_str() {
                "" => "unknown".to_owned(),
                text => format!("\"{text}\""),
            });
            let texts: Vec<String> = words.collect();
            format!("is {}", texts.join(" or "))
        }
        Filter::Between { low, high } => match (low, high) {
            (Some(low), Some(high)) if low == high => format!("= {low}"),
            (Some(low), Some(high)) => format!("{low} to {high}"),
            // A strict bound is stored as the next number.
            (Some(low), None) => match shorter(*low, low.next_down()) {
                Some(below) => format!("> {below}"),
                None => format!(">= {low}"),
            },
            (None, Some(high)) => match shorter(*high, high.next_up()) {
                Some(above) => format!("< {above}"),
                None => format!("<= {high}"),
            },
            (None, None) => "is a number".to_owned(),
        },
    }
}

/// The text of a neighbour of a number, if it is shorter.
fn shorter(number: f64, neighbour: f64) -> Option<String> {
    // Zero has no sign here.
    let text = (neighbour + 0.0).to_string();
    (text.len() < number.to_string().len()).then_some(text)
}

/// The sort order of the rows.
pub type Sort = (Column, Direction);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_known_values() {
        let row = Row {
            id: "x".into(),
            cost: Some(0.5),
            tokens: Some(12_345),
            seconds: Some(2.0),
            reward: Some(0.1 + 0.2),
            ..Row::default()
        };
        let text = |column| cell_text(&row, &column);
        assert_eq!(text(Column::Name), "x");
        assert_eq!(text(Column::Cost), "$0.50");
        assert_eq!(text(Column::Tokens), "12,345");
        assert_eq!(text(Column::Time), "2.0 s");
        assert_eq!(text(Column::Reward), "0.3");
        assert_eq!(text(Column::Started), "");
        let unknown = Row::default();
        assert_eq!(cell_text(&unknown, &Column::Cost), "");
        assert_eq!(text(Column::Score("accuracy".into())), "");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0.0, "1970-01-01 00:00"),
            (951_782_399.0, "2000-02-28 23:59"),
            (951_782_400.0, "2000-02-29 00:00"),
            (951_868_800.0, "2000-03-01 00:00"),
            (1_773_075_900.0, "2026-03-09 17:05"),
            (-1.0, ""),
            (f64::NAN, ""),
        ] {
            assert_eq!(date_text(seconds), expected);
        }
    }

    #[test]
    fn every_column_has_a_heading_of_its_own() {
        let mut headings: Vec<String> = COLUMNS.iter().map(heading).collect();
        headings.sort();
        headings.dedup();
        assert_eq!(headings.len(), COLUMNS.len());
        for column in FIRST_COLUMNS {
            assert!(COLUMNS.contains(&column), "{column:?} can be shown again");
        }
        assert_eq!(heading(&Column::Score("accuracy".into())), "accuracy");
        let path = ["usage".into(), "cost".into()];
        assert_eq!(heading(&Column::Metadata(path.into())), "usage.cost");
    }

    #[test]
    fn counts_have_no_decimals_and_times_are_dates() {
        let row = Row {
            name: "  ".into(),
            id: "x".into(),
            steps: 1_234,
            bytes: Some(2_500_000),
            started: Some(1_773_075_900.0),
            errors: Some(0),
            tags: vec!["a".into(), "b".into()],
            ..Row::default()
        };
        let text = |column| cell_text(&row, &column);
        assert_eq!(text(Column::Name), "x", "a blank name is no name");
        assert_eq!(text(Column::Steps), "1,234");
        assert_eq!(text(Column::Size), "2.5 MB");
        assert_eq!(text(Column::Started), "2026-03-09 17:05");
        assert_eq!(text(Column::Errors), "0");
        assert_eq!(text(Column::Tags), "a, b");
        assert_eq!(text(Column::Added), "");
    }

    /// The filter that was typed, in words.
    fn said(words: &str) -> String {
        let filter = read_filter(words, true);
        filter.map_or("refused".to_owned(), |filter| filter_text(&filter))
    }

    #[test]
    fn strict_bounds_are_said_as_they_were_typed() {
        for (words, expected) in [
            ("> 1", "> 1"),
            ("<3", "< 3"),
            ("> 0", "> 0"),
            ("< 0", "< 0"),
            (">0.3", "> 0.3"),
            (">= 0.3", ">= 0.3"),
            ("≥ 2", ">= 2"),
            ("≤ -2.5", "<= -2.5"),
            ("> -1", "> -1"),
        ] {
            assert_eq!(said(words), expected, "{words}");
        }
    }

    #[test]
    fn strict_bounds_exclude_their_number() {
        let passes = |words: &str, number: f64| {
            let filter = read_filter(words, true).expect("a filter");
            filter.passes(&Cell::Number(number))
        };
        assert!(!passes("> 0", 0.0) && passes("> 0", f64::MIN_POSITIVE));
        assert!(!passes("< 0", 0.0) && !passes("< 0", -0.0) && passes("< 0", -1e-300));
        assert!(passes(">= 0", -0.0));
        assert!(passes("0..0.5", 0.5) && !passes("0..0.5", 0.6));
        assert!(passes("= 2", 2.0) && passes("2", 2.0) && !passes("2", 2.1));
    }

    #[test]
    fn what_is_no_condition_on_numbers_is_refused() {
        for words in [
            "x", ">", ">= x", "1..", "..1", "1..x", "= ", "NaN", ">= nan", "1 2",
        ] {
            assert_eq!(said(words), "refused", "{words}");
        }
        assert_eq!(read_filter("  ", false), None);
        // Any text is a condition on texts.
        let text = read_filter("> 1", false);
        assert_eq!(text, Some(Filter::Contains("> 1".to_owned())));
        let whole = read_filter("= m ", false);
        assert_eq!(whole, Some(Filter::OneOf(vec!["m".to_owned()])));
    }

    #[test]
    fn filters_of_texts_are_said() {
        let one_of = |texts: &[&str]| {
            let texts = texts.iter().map(|text| (*text).to_owned());
            filter_text(&Filter::OneOf(texts.collect()))
        };
        assert_eq!(one_of(&["a"]), "is \"a\"");
        assert_eq!(one_of(&["a", "b"]), "is \"a\" or \"b\"");
        assert_eq!(one_of(&[""]), "is unknown");
        let any = Filter::Between {
            low: None,
            high: None,
        };
        assert_eq!(filter_text(&any), "is a number");
    }
}
