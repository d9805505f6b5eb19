//! A table of episodes for spreadsheets: RFC 4180, UTF-8.
//!
//! What always holds: a text that a spreadsheet would take for a formula is written so that it does not.

use crate::table::{Cell, Column, Row};
use crate::time;

/// The columns that are always there.
pub const COLUMNS: [Column; 13] = [
    Column::Name,
    Column::Environment,
    Column::Model,
    Column::Agent,
    Column::Task,
    Column::Run,
    Column::Reward,
    Column::Steps,
    Column::Calls,
    Column::Tokens,
    Column::Cost,
    Column::Time,
    Column::Outcome,
];

/// The text of a file: a line of titles, then a line a row. The id comes first.
pub fn to_text<'a>(rows: impl IntoIterator<Item = &'a Row>, columns: &[Column]) -> String {
    let mut text = String::from("id");
    for column in columns {
        text.push(',');
        field(&mut text, &title(column), true);
    }
    text.push_str("\r\n");
    for row in rows {
        field(&mut text, &row.id, true);
        for column in columns {
            text.push(',');
            match (column, row.cell(column)) {
                (Column::Started | Column::Added, Cell::Number(seconds)) => {
                    field(&mut text, &time::format(seconds).unwrap_or_default(), false);
                }
                (_, cell @ Cell::Number(_)) => field(&mut text, &cell.to_text(), false),
                (_, cell) => field(&mut text, &cell.to_text(), true),
            }
        }
        text.push_str("\r\n");
    }
    text
}

fn title(column: &Column) -> String {
    match column {
        Column::Name => "name",
        Column::Environment => "environment",
        Column::Model => "model",
        Column::Agent => "agent",
        Column::Task => "task",
        Column::Run => "run",
        Column::Reward => "reward",
        Column::Steps => "steps",
        Column::Calls => "calls",
        Column::Tokens => "tokens",
        Column::Cost => "cost_usd",
        Column::Time => "seconds",
        Column::Started => "started",
        Column::Outcome => "outcome",
        Column::Tags => "tags",
        Column::Origin => "origin",
        Column::Added => "added",
        Column::Size => "bytes",
        Column::Score(name) => return format!("score {name}"),
        Column::Metadata(path) => return path.join("."),
    }
    .to_owned()
}

fn field(out: &mut String, text: &str, is_text: bool) {
    let is_formula = is_text && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && !text.contains([',', '"', '\n', '\r']) {
        return out.push_str(text);
    }
    out.push('"');
    if is_formula {
        out.push('\'');
    }
    out.push_str(&text.replace('"', "\"\""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_no_formulas() {
        let row = Row {
            id: "a\"b".into(),
            name: "=1+1,\n".into(),
            reward: Some(-0.5),
            started: Some(0.0),
            ..Row::default()
        };
        let columns = [Column::Name, Column::Reward, Column::Started, Column::Cost];
        let text = to_text([&row], &columns);
        assert_eq!(
            text,
            "id,name,reward,started,cost_usd\r\n\"a\"\"b\",\"'=1+1,\n\",-0.5,1970-01-01T00:00:00Z,\r\n"
        );
    }
}
