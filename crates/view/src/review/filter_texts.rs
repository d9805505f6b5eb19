//! Filters, columns and grouping of the table: their texts, and what a choice changes. Pure.

use std::sync::Arc;

use crate::library::{filter_text, heading, read_filter};
use volary_analysis::table::filter::Filter;
use volary_analysis::table::variation::Uniform;
use volary_analysis::table::{Cell, Column, Row};

use super::table_rows::sampled;

/// The maximum length, in characters, of a displayed value that all rows have in common.
const LONGEST_VALUE: usize = 40;

/// Common grouping columns, listed first.
const GROUPED: [Column; 7] = [
    Column::Task,
    Column::Run,
    Column::Model,
    Column::Agent,
    Column::Environment,
    Column::Outcome,
    Column::Tags,
];

/// The text of a filter.
pub fn chip_text(column: &Column, filter: &Filter) -> String {
    format!("{} {}", heading(column), filter_text(filter))
}

/// A column of numbers cannot be filtered by a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotANumber;

/// The filter that the user typed for a column; `None` if nothing was typed.
pub fn new_filter(
    words: &str,
    column: &Column,
    rows: &[Arc<Row>],
) -> Result<Option<Filter>, NotANumber> {
    if words.trim().is_empty() {
        return Ok(None);
    }
    let mut cells = sampled(rows).map(|row| row.cell(column));
    let is_numeric = matches!(column, Column::TokenFigure(_) | Column::Diagnostic(_))
        || cells.any(|cell| matches!(cell, Cell::Number(_)));
    let filter = read_filter(words, is_numeric);
    filter.map(Some).ok_or(NotANumber)
}

/// Groups by another first column. Without one, there is no second one either.
pub fn group_first(groups: &mut Vec<Column>, column: Option<Column>) {
    match (column, groups.first_mut()) {
        (None, _) => groups.clear(),
        (Some(column), Some(known)) => *known = column,
        (Some(column), None) => groups.push(column),
    }
}

/// Groups by another second column, or by the first one only.
pub fn group_second(groups: &mut Vec<Column>, column: Option<Column>) {
    groups.truncate(1);
    groups.extend(column);
}

/// The columns by which rows can be grouped, common ones first.
pub fn grouping_columns(all: &[Column]) -> Vec<Column> {
    let others = all.iter();
    let others = others.filter(|column| !GROUPED.contains(column) && **column != Column::Name);
    GROUPED.iter().chain(others).cloned().collect()
}

/// The name of a column in a select. Names that come from a file stay as they are.
pub fn grouping_name(column: &Column) -> String {
    match column {
        Column::TokenFigure(_)
        | Column::Score(_)
        | Column::Answer(_)
        | Column::AnswerQuotes(_)
        | Column::Metadata(_) => heading(column),
        column => heading(column).to_lowercase(),
    }
}

/// Shows or hides a column. One that is shown again comes last.
pub fn show_column(columns: &mut Vec<Column>, column: &Column, is_shown: bool) {
    columns.retain(|known| known != column);
    if is_shown {
        columns.push(column.clone());
    }
}

/// Describes the hidden columns.
pub fn hidden_text(hidden: &[Uniform]) -> String {
    let (known, unknown): (Vec<_>, Vec<_>) =
        hidden.iter().partition(|column| column.value.is_some());
    let same = known.iter().filter_map(|known| {
        let value = known.value.as_ref()?;
        Some(format!("{} {}", heading(&known.column), shortened(value)))
    });
    let same: Vec<String> = same.collect();
    let unknown: Vec<String> = unknown.iter().map(|known| heading(&known.column)).collect();
    let parts = [("Same in all rows: ", same), ("Empty: ", unknown)];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let parts = parts.map(|(words, names)| format!("{words}{}.", names.join(", ")));
    parts.collect::<Vec<_>>().join(" ")
}

/// The first characters of a value: it may be a long text, and the table needs the space.
fn shortened(value: &str) -> String {
    let mut rest = value.chars();
    let start: String = rest.by_ref().take(LONGEST_VALUE).collect();
    match rest.next() {
        Some(_) => format!("{start}…"),
        None => start,
    }
}

#[cfg(test)]
mod tests {
    use crate::library::COLUMNS;
    use volary_analysis::table::view::{column_text, read_column};

    use super::*;

    /// The selects of columns name them by these texts.
    #[test]
    fn each_column_is_found_by_its_text() {
        let found = [
            Column::Metadata(vec!["a/b".into(), "c d".into()]),
            Column::Score("50%/é".into()),
        ];
        for column in COLUMNS.iter().chain(&found) {
            let text = column_text(column);
            assert_eq!(read_column(&text).as_ref(), Some(column), "{text}");
        }
        assert_eq!(read_column(""), None);
    }

    #[test]
    fn hidden_columns_are_named() {
        let uniform = |column, value: Option<&str>| Uniform {
            column,
            value: value.map(str::to_owned),
        };
        let hidden = [
            uniform(Column::Model, Some("m")),
            uniform(Column::Cost, None),
            uniform(Column::Run, Some("r")),
        ];
        assert_eq!(
            hidden_text(&hidden),
            "Same in all rows: Model m, Run r. Empty: Cost."
        );
        assert_eq!(hidden_text(&hidden[1..2]), "Empty: Cost.");
        let long = "m".repeat(LONGEST_VALUE + 1);
        let words = hidden_text(&[uniform(Column::Model, Some(&long))]);
        assert!(words.ends_with("m…."), "{words}");
    }

    #[test]
    fn filters_are_read_as_they_are_written() {
        for (words, numeric, expected) in [
            (">= 1", true, ">= 1"),
            ("<=0.5", true, "<= 0.5"),
            ("0..1", true, "0 to 1"),
            ("2", true, "= 2"),
            ("oracle", false, "contains \"oracle\""),
            ("= oracle", false, "is \"oracle\""),
            ("known", true, "is known"),
            ("unknown", true, "is unknown"),
        ] {
            let filter: Option<Filter> = read_filter(words, numeric);
            assert_eq!(
                filter.map(|filter| filter_text(&filter)).as_deref(),
                Some(expected)
            );
        }
        assert_eq!(read_filter("", true), None);
        assert_eq!(read_filter("more", true), None);
    }

    fn figures() -> Vec<Arc<Row>> {
        let rows = [Some(1.0), None].map(|reward| {
            Arc::new(Row {
                name: "refund".into(),
                reward,
                ..Row::default()
            })
        });
        rows.to_vec()
    }

    #[test]
    fn a_condition_suits_the_values_of_its_column() {
        let read = |words, column| new_filter(words, &column, &figures());
        assert!(matches!(
            read(">= 1", Column::Reward),
            Ok(Some(Filter::Between { .. }))
        ));
        assert_eq!(read("refund", Column::Reward), Err(NotANumber));
        assert_eq!(read("  ", Column::Reward), Ok(None), "nothing was typed");
        let text = read("refund", Column::Name).expect("any text");
        let text = chip_text(&Column::Name, &text.expect("a filter"));
        assert_eq!(text, "Name contains \"refund\"");
    }

    #[test]
    fn rows_are_grouped_by_up_to_two_columns() {
        let mut groups = Vec::new();
        group_first(&mut groups, Some(Column::Task));
        group_second(&mut groups, Some(Column::Model));
        group_first(&mut groups, Some(Column::Run));
        assert_eq!(groups, [Column::Run, Column::Model], "the second one stays");
        group_second(&mut groups, Some(Column::Agent));
        assert_eq!(groups, [Column::Run, Column::Agent]);
        group_second(&mut groups, None);
        assert_eq!(groups, [Column::Run]);
        group_second(&mut groups, Some(Column::Agent));
        group_first(&mut groups, None);
        assert_eq!(groups, [], "no second without a first");
    }

    #[test]
    fn every_column_but_the_name_can_be_grouped_once() {
        let score = Column::Score("accuracy".into());
        let all = vec![Column::Name, Column::Model, Column::Reward, score.clone()];
        let offered = grouping_columns(&all);
        assert_eq!(offered[..GROUPED.len()], GROUPED);
        assert_eq!(offered[GROUPED.len()..], [Column::Reward, score.clone()]);
        assert_eq!(grouping_name(&Column::Reward), "reward");
        assert_eq!(grouping_name(&score), "accuracy", "a name of the file");
    }

    #[test]
    fn a_column_that_is_shown_again_comes_last() {
        let mut columns = vec![Column::Name, Column::Model, Column::Reward];
        show_column(&mut columns, &Column::Model, false);
        assert_eq!(columns, [Column::Name, Column::Reward]);
        show_column(&mut columns, &Column::Model, true);
        show_column(&mut columns, &Column::Model, true);
        assert_eq!(columns, [Column::Name, Column::Reward, Column::Model]);
    }
}
