//! JSON Lines: one object per line. Accepts blank lines, CRLF and a
//! byte order mark; reports every malformed line by its number.

use std::fmt;

use volary_core::json::{Json, Object, Text, read};

/// The maximum number of faults listed in an error.
const SHOWN: usize = 5;

/// The error of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFault {
    /// The line, from 1.
    pub line: usize,
    pub reason: Text,
}

/// The malformed lines. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFaults {
    /// All of them, in order.
    pub faults: Vec<LineFault>,
}

impl fmt::Display for LineFaults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().take(SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(
                formatter,
                "{separator}line {}: {}",
                fault.line, fault.reason
            )?;
        }
        match self.faults.len().checked_sub(SHOWN) {
            None | Some(0) => Ok(()),
            Some(1) => formatter.write_str("; and one more line"),
            Some(more) => write!(formatter, "; and {more} more lines"),
        }
    }
}

impl std::error::Error for LineFaults {}

/// Converts every non-blank line to a row.
pub fn rows<T>(text: &str, row: impl Fn(&Object) -> Result<T, Text>) -> Result<Vec<T>, LineFaults> {
    let mut rows = Vec::new();
    let mut faults = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match object(line).and_then(|object| row(&object)) {
            Ok(row) => rows.push(row),
            Err(reason) => faults.push(LineFault {
                line: index + 1,
                reason,
            }),
        }
    }
    if faults.is_empty() {
        Ok(rows)
    } else {
        Err(LineFaults { faults })
    }
}

/// The text under a key of a row.
pub fn text(row: &Object, key: &str) -> Result<Text, Text> {
    match row.get(key) {
        Some(Json::Text(text)) => Ok(text.clone()),
        Some(_) => Err(format!("'{key}' must be a string").into()),
        None => Err(format!("has no '{key}'").into()),
    }
}

fn object(line: &str) -> Result<Object, Text> {
    match read::read(line) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err("must hold a JSON object".into()),
        Err(error) => Err(format!(
            "is not valid JSON: {} at column {}",
            error.problem, error.column
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(jsonl: &str) -> Result<Vec<Text>, String> {
        rows(jsonl, |row| text(row, "question")).map_err(|faults| faults.to_string())
    }

    #[test]
    fn blank_lines_line_ends_and_byte_order_mark_are_forgiven() {
        let read = questions("\u{feff}{\"question\": \"a\"}\r\n\r\n  \n{\"question\":\"b\"}");
        assert_eq!(read, Ok(vec!["a".into(), "b".into()]));
        assert_eq!(questions(""), Ok(Vec::new()));
    }

    #[test]
    fn every_line_at_fault_is_named() {
        let jsonl = "{\"question\": \"a\"}\n\n[1]\n{\"question\": 5}\n{}\n{\"question\"\n";
        assert_eq!(
            questions(jsonl),
            Err(
                "line 3: must hold a JSON object; line 4: 'question' must be a string; \
                 line 5: has no 'question'; line 6: is not valid JSON: Expecting ':' delimiter at column \
                 12"
                .into()
            )
        );
        let many = "x\n".repeat(9);
        assert!(questions(&many).is_err_and(|said| said.ends_with("; and 4 more lines")));
    }
}
