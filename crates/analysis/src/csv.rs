//! A table of episodes for spreadsheets: RFC 4180, UTF-8.
//!
//! Invariants: no spreadsheet reads a text as a formula, whether it separates cells by commas, semicolons or tabs.

use std::borrow::Cow;

use volary_episode::time;

use crate::table::token_column::TokenColumn;
use crate::table::{Cell, Column, Row, found_columns};

/// The columns that every file has.
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

/// [`COLUMNS`], and the counts and figures of recorded tokens and the diagnostics that some rows have.
pub fn columns(rows: &[Row]) -> Vec<Column> {
    /// The maximum number of streams with a column.
    const MOST_STREAMS: usize = 100;
    let counts = [Column::RecordedTokens, Column::TrainedTokens];
    let is_known = |column: &Column| rows.iter().any(|row| row.cell(column) != Cell::Empty);
    let counts = counts.into_iter().filter(|column| is_known(column));
    let figures = found_columns(rows, MOST_STREAMS).into_iter();
    let figures = figures.map(|(column, _)| column);
    let figures = figures.filter(|column| match column {
        Column::TokenFigure(_) => true,
        // Steps are compared with other rows, which not every caller does.
        Column::Diagnostic(_) => is_known(column),
        _ => false,
    });
    COLUMNS.into_iter().chain(counts).chain(figures).collect()
}

/// The title of a figure of tokens.
pub fn figure_title(column: &TokenColumn) -> String {
    match column {
        TokenColumn::Stream(name) => format!("mean {name}"),
        column => column.name().replace('-', "_"),
    }
}

/// The text of a file: a header line, then a line per row. The id comes first.
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

/// The title of a column.
pub fn title(column: &Column) -> String {
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
        Column::Errors => "errors",
        Column::RepeatedCalls => "repeated_calls",
        Column::Notes => "notes",
        Column::Labels => "labels",
        Column::Verdict => "verdict",
        Column::Tokens => "tokens",
        Column::RecordedTokens => "sequence_tokens",
        Column::TrainedTokens => "trained_tokens",
        Column::Cost => "cost_usd",
        Column::Time => "seconds",
        Column::Started => "started",
        Column::Outcome => "outcome",
        Column::Tags => "tags",
        Column::Origin => "origin",
        Column::Added => "added",
        Column::Size => "bytes",
        Column::Cluster => "cluster",
        Column::TokenFigure(column) => return figure_title(column),
        Column::Diagnostic(kind) => return kind.name().replace('-', "_"),
        Column::Score(name) => return format!("score {name}"),
        Column::Answer(question) => return format!("answer {question}"),
        Column::AnswerQuotes(question) => return format!("quotes {question}"),
        Column::Metadata(path) => return path.join("."),
    }
    .to_owned()
}

fn field(out: &mut String, text: &str, is_text: bool) {
    if is_text {
        push_text(out, text)
    } else {
        out.push_str(text)
    }
}

/// Appends a text as one field: formulas neutralized, and quoted if RFC 4180 requires it.
pub fn push_text(out: &mut String, text: &str) {
    let text = without_formulas(text);
    if !text.contains([',', '"', '\n', '\r']) {
        return out.push_str(&text);
    }
    out.push('"');
    out.push_str(&text.replace('"', "\"\""));
    out.push('"');
}

/// Puts an apostrophe before text that a spreadsheet could evaluate as a formula.
///
/// A spreadsheet that separates cells by semicolons or tabs ignores quotes in the middle of a line, so a new
/// cell may start after each of these characters and after each line break within the text.
fn without_formulas(text: &str) -> Cow<'_, str> {
    let mut guarded = String::new();
    let mut copied = 0;
    let mut may_start = true;
    for (at, character) in text.char_indices() {
        if may_start && starts_formula(&text[at..]) {
            guarded.push_str(&text[copied..at]);
            guarded.push('\'');
            copied = at;
        }
        may_start = matches!(character, ';' | '\t' | '\n' | '\r');
    }
    if copied == 0 && guarded.is_empty() {
        Cow::Borrowed(text)
    } else {
        guarded.push_str(&text[copied..]);
        Cow::Owned(guarded)
    }
}

/// Whether a spreadsheet evaluates a cell that starts like this. A cell may start with quotes, and East Asian versions
/// of spreadsheets accept full-width signs as well.
fn starts_formula(cell: &str) -> bool {
    let signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    cell.starts_with(['\t', '\r']) || cell.trim_start_matches('"').starts_with(signs)
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

    #[test]
    fn figures_of_tokens_have_columns_if_there_are_tokens() {
        let without = Row {
            id: "a".into(),
            ..Row::default()
        };
        assert_eq!(columns(std::slice::from_ref(&without)), COLUMNS);
        let with = Row {
            id: "b".into(),
            recorded_tokens: Some(4),
            trained_tokens: Some(1),
            token_figures: Some(Box::new(crate::tokens::TokenFigures {
                means: vec![("=x".into(), 0.0)],
                ..Default::default()
            })),
            ..Row::default()
        };
        let rows = [without, with];
        let columns = columns(&rows);
        let columns = columns.get(COLUMNS.len()..).unwrap();
        assert_eq!(
            to_text(&rows, columns),
            "id,sequence_tokens,trained_tokens,prompt_tokens,response_tokens,trained_share,not_finite,mean =x\r\n\
            a,,,,,,,\r\nb,4,1,0,4,0.25,0,0\r\n"
        );
    }

    #[test]
    fn no_separator_makes_a_formula_of_a_part() {
        for (text, written) in [
            ("plain; text, and more", "\"plain; text, and more\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("＝1", "'＝1"),
            ("\t=1", "'\t'=1"),
            ("\r=1", "\"'\r'=1\""),
            ("a;=1", "a;'=1"),
            ("a;;@b;-c", "a;;'@b;'-c"),
            ("a\t+1", "a\t'+1"),
            ("a\n=1", "\"a\n'=1\""),
            ("a;\"=1\"", "\"a;'\"\"=1\"\"\""),
            ("\"\"=1", "\"'\"\"\"\"=1\""),
            ("2 - 1 = 1; x = 2", "2 - 1 = 1; x = 2"),
        ] {
            let mut out = String::new();
            push_text(&mut out, text);
            assert_eq!(out, written, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_cell_of_any_separator_is_a_formula(text in "[=+@;\t\r\n\",'a -]{0,24}") {
            let mut out = String::new();
            push_text(&mut out, &text);
            // In the middle of a line, where a spreadsheet ignores the quotes around the field.
            let line = format!("id,{out},x");
            for cell in line.split([';', '\t', '\n', '\r']) {
                let cell = cell.trim_start_matches('"');
                proptest::prop_assert!(!cell.starts_with(['=', '+', '-', '@']), "{line:?}");
            }
        }
    }
}
