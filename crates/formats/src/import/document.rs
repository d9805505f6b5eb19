//! Parses a text as a document: one JSON value, or one per line. Truncated or malformed input is read as far as
//! possible.

use volary_core::json::read::ReadProblem;
use volary_core::json::{Json, ReadError};

use super::json_repair::{is_repairable, repair, repair_after};
use super::reader::{Document, Line};

/// A document, with remarks about how it was read.
pub(crate) struct DocumentRead {
    pub document: Document,
    /// Irregularities without data loss.
    pub remarks: Vec<String>,
    /// Descriptions of the parts that could not be read.
    pub losses: Vec<String>,
}

/// Parses a document. Fails if no part of it is JSON.
pub(crate) fn read(text: &str) -> Result<DocumentRead, ReadError> {
    let error = match Json::parse(text) {
        Ok(value) => {
            return Ok(DocumentRead::of(Document::Value(value)));
        }
        Err(error) => error,
    };
    if has_lines(text)
        && let Some(read) = lines(text)
    {
        return Ok(read);
    }
    if error.problem == ReadProblem::ExtraData
        && let Some(read) = several(text)
    {
        return Ok(read);
    }
    let repaired = repair_after(text, error)?;
    let mut read = DocumentRead::of(Document::Value(repaired.value));
    if let Some(why) = repaired.cut {
        let text = format!("The file is cut off or broken ({why}); the content before it is read.");
        read.losses.push(text);
    }
    read.repaired(repaired.deep, repaired.odd);
    Ok(read)
}

impl DocumentRead {
    fn of(document: Document) -> Self {
        DocumentRead {
            document,
            remarks: Vec::new(),
            losses: Vec::new(),
        }
    }

    fn repaired(&mut self, deep: usize, odd: usize) {
        if deep > 0 {
            let text = format!("Values that are nested too deeply ({deep}) are kept as text.");
            self.remarks.push(text);
        }
        if odd > 0 {
            let text = format!("Strings with unescaped characters ({odd}) are read unchanged.");
            self.remarks.push(text);
        }
    }
}

/// Whether most of the first lines are JSON values.
fn has_lines(text: &str) -> bool {
    const LOOKED_AT: usize = 6;
    let (mut values, mut others) = (0, 0);
    for line in filled(text).take(LOOKED_AT) {
        // A long line that starts like an object is assumed to be one; it is parsed later.
        const LONG: usize = 1 << 16;
        let is_value = line.1.starts_with('{') && line.1.len() > LONG
            || Json::parse(line.1).map_or_else(|error| is_repairable(error.problem), |_| true);
        if is_value { values += 1 } else { others += 1 }
    }
    values + others > 1 && values >= others
}

/// The lines that are not empty, with their numbers from 1.
pub(super) fn filled(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    lines
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty())
}

fn lines(text: &str) -> Option<DocumentRead> {
    let mut read = lines_of(filled(text), true);
    let Document::Lines(lines) = &mut read.document else {
        return None;
    };
    match lines.len() {
        0 => None,
        1 => {
            read.document = Document::Value(lines.pop()?.value);
            Some(read)
        }
        _ => Some(read),
    }
}

/// Parses numbered lines, none of them empty, to a document of lines. `is_end`: whether the last one ends the file.
pub(super) fn lines_of<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    is_end: bool,
) -> DocumentRead {
    let mut read = DocumentRead::of(Document::Lines(Vec::new()));
    let mut rest = lines.peekable();
    let mut lines = Vec::new();
    let (mut deep, mut odd) = (0, 0);
    while let Some((number, line)) = rest.next() {
        let value = match Json::parse(line) {
            Ok(value) => value,
            // A truncated line is the last one; other invalid lines are damaged and may mislead.
            Err(error) if (rest.peek().is_some() || !is_end) && !is_repairable(error.problem) => {
                read.lose(number, &error);
                continue;
            }
            Err(error) => match repair_after(line, error) {
                Ok(repaired) => {
                    deep += repaired.deep;
                    odd += repaired.odd;
                    if let Some(why) = repaired.cut {
                        let text = format!(
                            "Line {number} is cut off ({why}); the content before it is read."
                        );
                        read.losses.push(text);
                    }
                    repaired.value
                }
                Err(error) => {
                    read.lose(number, &error);
                    continue;
                }
            },
        };
        lines.push(Line { number, value });
    }
    read.repaired(deep, odd);
    read.document = Document::Lines(lines);
    read
}

/// Parses several values in one text, each spanning several lines, as written by tools that append indented JSON.
/// `None` if there is only one.
fn several(text: &str) -> Option<DocumentRead> {
    let mut read = DocumentRead::of(Document::Lines(Vec::new()));
    let mut lines = Vec::new();
    let (mut deep, mut odd) = (0, 0);
    let mut number = 1;
    let mut rest = text;
    let mut has_text = false;
    while let Some(start) = rest.find(['{', '[']) {
        has_text |= !is_between(&rest[..start]);
        number += rest[..start].matches('\n').count();
        rest = &rest[start..];
        let (value, after) = rest.split_at(length(rest));
        match repair(value) {
            // Brackets within prose.
            Ok(repaired) if repaired.cut.is_some() && is_empty(&repaired.value) => {}
            Ok(repaired) => {
                (deep, odd) = (deep + repaired.deep, odd + repaired.odd);
                if let Some(why) = repaired.cut {
                    read.losses.push(format!(
                        "What begins in line {number} is cut off or broken ({why}); the content \
                         before it is read."
                    ));
                }
                lines.push(Line {
                    number,
                    value: repaired.value,
                });
            }
            Err(error) => read.lose(number, &error),
        }
        number += value.matches('\n').count();
        rest = after;
    }
    read.repaired(deep, odd);
    if has_text || !is_between(rest) {
        // A tool may have written a value that looks like part of the log.
        read.losses.push(
            "The file mixes JSON with other text, which is ignored. Parts of the JSON may also \
             come from that text."
                .to_owned(),
        );
    }
    (lines.len() > 1).then(|| {
        read.document = Document::Lines(lines);
        read
    })
}

/// Whether a text may separate values: white space or a comma.
fn is_between(text: &str) -> bool {
    text.chars().all(|one| one.is_whitespace() || one == ',')
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::List(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// The length of the list or object that a text starts with; the whole text if it is unclosed.
fn length(text: &str) -> usize {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => {
                depth -= 1;
                if depth == 0 {
                    return offset + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

impl DocumentRead {
    fn lose(&mut self, line: usize, error: &ReadError) {
        const MOST: usize = 20;
        match self.losses.len() {
            ..MOST => self
                .losses
                .push(format!("Line {line} is not valid JSON: {error}.")),
            MOST => self
                .losses
                .push("More lines are not valid JSON.".to_owned()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> (usize, usize) {
        let read = read(text).unwrap();
        match read.document {
            Document::Value(_) => (0, read.losses.len()),
            Document::Lines(lines) => (lines.len(), read.losses.len()),
        }
    }

    #[test]
    fn lines_are_distinguished_from_one_value() {
        assert_eq!(kind("{\n \"a\": [\n1,\n2]}"), (0, 0));
        assert_eq!(kind("{\"a\": 1}\n\n{\"b\": 2}\n"), (2, 0));
        assert_eq!(kind("\"id\"\n{\"a\": 1}\n{\"a\": 2"), (3, 1));
        assert_eq!(kind("{\"a\": 1}\n{oops}\n{\"a\": 2}\n"), (2, 1));
        assert_eq!(kind("{\n \"a\": [\n1,\n2,"), (0, 1));
        assert_eq!(kind("{\"a\": [1, 2"), (0, 1));
        assert_eq!(kind("{\n \"a\": 1\n}\n{\n \"b\": \"}{\"\n}\n"), (2, 0));
        assert_eq!(kind("{\n \"a\": 1\n}\n{\n \"b\": [1,"), (2, 1));
        assert_eq!(kind("{\n \"a\": 1\n} and {some} text"), (0, 1));
        assert_eq!(kind("{\"a\": \"x\ty\"}\n{\"a\": 2}\n"), (2, 0));
        assert!(read("some text\nand more").is_err());
    }

    #[test]
    fn values_within_text_are_reported_as_uncertain() {
        let log = "{\n \"role\": \"user\"\n}\nran: {\"role\": \"assistant\"}\n{\n \"role\": \"user\"\n}\n";
        let read = read(log).unwrap();
        assert!(
            read.losses
                .iter()
                .any(|loss| loss.contains("may also come from that text")),
            "{:?}",
            read.losses
        );
        assert_eq!(kind("{\n \"a\": 1\n},\n{\n \"b\": 2\n}\n"), (2, 0));
    }
}
