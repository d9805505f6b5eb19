//! What can be wrong with a JSON text, and where.

/// What is wrong with a text, in Python's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadProblem {
    /// A value is missing.
    #[error("Expecting value")]
    ExpectingValue,
    /// A key is missing.
    #[error("Expecting property name enclosed in double quotes")]
    ExpectingKey,
    /// No colon after a key.
    #[error("Expecting ':' delimiter")]
    ExpectingColon,
    /// Neither a comma nor the end of the list or object.
    #[error("Expecting ',' delimiter")]
    ExpectingComma,
    /// More after the value.
    #[error("Extra data")]
    ExtraData,
    /// A text without its closing quote.
    #[error("Unterminated string starting at")]
    Unterminated,
    /// A control character that must be escaped.
    #[error("Invalid control character at")]
    ControlCharacter,
    /// A backslash before a character that makes no escape.
    #[error("Invalid \\escape")]
    Escape,
    /// `\u` without four hex digits.
    #[error("Invalid \\uXXXX escape")]
    UnicodeEscape,
    /// A byte order mark at the start.
    #[error("Unexpected UTF-8 BOM (decode using utf-8-sig)")]
    ByteOrderMark,
    /// More levels than [`DEPTH_LIMIT`](super::DEPTH_LIMIT).
    #[error("Nested too deeply")]
    TooDeep,
}

/// A text that is not valid JSON, and the position of the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: line {line} column {column} (char {position})")]
pub struct ReadError {
    /// What is wrong.
    pub problem: ReadProblem,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The place in characters, from 0.
    pub position: usize,
}

/// A problem at a byte.
#[derive(Clone, Copy)]
pub(super) struct Fault {
    pub(super) problem: ReadProblem,
    pub(super) at: usize,
}

impl Fault {
    /// The problem's place in lines and characters.
    pub(super) fn locate(&self, text: &str) -> ReadError {
        let before = &text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |place| place + 1);
        ReadError {
            problem: self.problem,
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            position: before.chars().count(),
        }
    }
}
