//! Syntax errors of JSON texts, with their positions.

/// A syntax error, worded as in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadProblem {
    /// A value is missing.
    #[error("Expecting value")]
    ExpectingValue,
    /// A key is missing.
    #[error("Expecting property name enclosed in double quotes")]
    ExpectingKey,
    /// A colon is missing after a key.
    #[error("Expecting ':' delimiter")]
    ExpectingColon,
    /// A comma or the end of the list or object is missing.
    #[error("Expecting ',' delimiter")]
    ExpectingComma,
    /// There is more text after the value.
    #[error("Extra data")]
    ExtraData,
    /// A string has no closing quote.
    #[error("Unterminated string starting at")]
    Unterminated,
    /// A string contains an unescaped control character.
    #[error("Invalid control character at")]
    ControlCharacter,
    /// A backslash is followed by a character that is not an escape.
    #[error("Invalid \\escape")]
    Escape,
    /// `\u` is not followed by four hex digits.
    #[error("Invalid \\uXXXX escape")]
    UnicodeEscape,
    /// The text begins with a byte order mark.
    #[error("Unexpected UTF-8 BOM (decode using utf-8-sig)")]
    ByteOrderMark,
    /// The nesting exceeds [`DEPTH_LIMIT`](super::DEPTH_LIMIT).
    #[error("Nested too deeply")]
    TooDeep,
}

/// A syntax error and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: line {line} column {column} (char {position})")]
pub struct ReadError {
    pub problem: ReadProblem,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The offset in characters, from 0.
    pub position: usize,
}

/// A syntax error and its byte offset.
#[derive(Clone, Copy)]
pub(super) struct Fault {
    pub(super) problem: ReadProblem,
    pub(super) at: usize,
}

impl Fault {
    /// Converts the byte offset to line, column and character offset.
    pub(super) fn locate(&self, text: &str) -> ReadError {
        let before = &text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |offset| offset + 1);
        ReadError {
            problem: self.problem,
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            position: before.chars().count(),
        }
    }
}
