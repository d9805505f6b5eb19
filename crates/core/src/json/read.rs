//! Parses text to a value, by the rules of Python's `json.loads`.
//!
//! Strict JSON, with these rules: `NaN`, `Infinity` and `-Infinity` are accepted; the last of equal keys wins, at the
//! position of the first; `-0` is the integer 0; integers have any size. An unpaired escaped surrogate
//! becomes U+FFFD, since no Rust text can contain it. The parser has its own stack, so no
//! input overflows the call stack; values nested deeper than [`DEPTH_LIMIT`] are rejected, which
//! allows recursion in all functions on values.

mod error;
mod plain;
mod shared;

use std::borrow::Cow;

use super::{Integer, Json, Key, Object};
use error::Fault;
pub use error::{ReadError, ReadProblem};
use plain::plain_length;
pub use shared::SharedTexts;

/// The maximum nesting of lists and objects. Python's limit is about the same.
pub const DEPTH_LIMIT: usize = 1000;

/// Reads a JSON text.
pub fn read(text: &str) -> Result<Json, ReadError> {
    read_sharing(text, &mut SharedTexts::new(text.len()))
}

/// Reads one of several texts with repeated content: equal long strings share one allocation.
pub fn read_sharing(text: &str, shared: &mut SharedTexts) -> Result<Json, ReadError> {
    let mut reader = Parser {
        text,
        at: 0,
        shared,
    };
    reader.document().map_err(|fault| fault.locate(text))
}

impl Json {
    /// Reads a JSON text; see [`read`].
    pub fn parse(text: &str) -> Result<Json, ReadError> {
        read(text)
    }
}

/// A list or object whose end was not read yet.
enum Open {
    List(Vec<Json>),
    /// The members so far, and the key of the next value.
    Object(Vec<(Key, Json)>, Key),
}

struct Parser<'a> {
    text: &'a str,
    /// The offset of the next byte; a character boundary wherever a fault refers to it.
    at: usize,
    shared: &'a mut SharedTexts,
}

impl<'a> Parser<'a> {
    fn document(&mut self) -> Result<Json, Fault> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.fault(ReadProblem::ByteOrderMark));
        }
        self.skip_space();
        let mut open = Vec::new();
        loop {
            if let Some(opened) = self.opening()? {
                if open.len() >= DEPTH_LIMIT {
                    return Err(self.fault(ReadProblem::TooDeep));
                }
                open.push(opened);
                continue;
            }
            let value = self.leaf()?;
            if let Some(document) = self.close(value, &mut open)? {
                return Ok(document);
            }
        }
    }

    /// Reads the start of a non-empty list or object, up to its first value.
    fn opening(&mut self) -> Result<Option<Open>, Fault> {
        let start = self.at;
        let (end, opened) = match self.peek() {
            Some(b'[') => (b']', Open::List(Vec::new())),
            Some(b'{') => (b'}', Open::Object(Vec::new(), Key::Borrowed(""))),
            _ => return Ok(None),
        };
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(end) {
            self.at = start;
            return Ok(None);
        }
        match opened {
            Open::List(list) => Ok(Some(Open::List(list))),
            Open::Object(members, _) => Ok(Some(Open::Object(members, self.key()?))),
        }
    }

    /// Adds a value to the innermost open list or object, and closes all that end after it. Returns the document when
    /// none is open any more; otherwise the next value follows.
    fn close(&mut self, value: Json, open: &mut Vec<Open>) -> Result<Option<Json>, Fault> {
        let mut value = value;
        loop {
            self.skip_space();
            match open.pop() {
                None if self.at < self.text.len() => {
                    return Err(self.fault(ReadProblem::ExtraData));
                }
                None => return Ok(Some(value)),
                Some(Open::List(mut list)) => {
                    list.push(value);
                    if self.comma_or(b']')? {
                        open.push(Open::List(list));
                        return Ok(None);
                    }
                    // A growing `Vec` allocates at least four elements, several times what a short list needs.
                    list.shrink_to_fit();
                    value = Json::List(list);
                }
                Some(Open::Object(mut members, key)) => {
                    members.push((key, value));
                    if self.comma_or(b'}')? {
                        let key = self.key()?;
                        open.push(Open::Object(members, key));
                        return Ok(None);
                    }
                    members.shrink_to_fit();
                    value = Json::Object(Object::from_pairs(members));
                }
            }
        }
    }

    /// Reads a comma (and white space after it) or the end; returns whether it was a comma.
    fn comma_or(&mut self, end: u8) -> Result<bool, Fault> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.skip_space();
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.fault(ReadProblem::ExpectingComma)),
        }
    }

    /// Reads a key, its colon, and the surrounding white space.
    fn key(&mut self) -> Result<Key, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.fault(ReadProblem::ExpectingKey));
        }
        let key = Key::Owned(self.quoted()?.into_owned());
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.fault(ReadProblem::ExpectingColon));
        }
        self.at += 1;
        self.skip_space();
        Ok(key)
    }

    /// Reads a scalar, or an empty list or object.
    fn leaf(&mut self) -> Result<Json, Fault> {
        match self.peek() {
            Some(b'"') => {
                let text = self.quoted()?;
                Ok(Json::Text(self.shared.text(&text)))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            // `opening` has read the non-empty ones.
            Some(b'[') => Ok(self.empty(b']', Json::List(Vec::new()))),
            Some(b'{') => Ok(self.empty(b'}', Json::Object(Object::new()))),
            _ => self.keyword(&[
                ("null", Json::Null),
                ("true", Json::Bool(true)),
                ("false", Json::Bool(false)),
                ("NaN", Json::Float(f64::NAN)),
                ("Infinity", Json::Float(f64::INFINITY)),
            ]),
        }
    }

    fn empty(&mut self, end: u8, value: Json) -> Json {
        self.at += 1;
        self.skip_space();
        debug_assert_eq!(self.peek(), Some(end));
        self.at += 1;
        value
    }

    fn keyword(&mut self, keywords: &[(&str, Json)]) -> Result<Json, Fault> {
        for (keyword, value) in keywords {
            if self.text.as_bytes()[self.at..].starts_with(keyword.as_bytes()) {
                self.at += keyword.len();
                return Ok(value.clone());
            }
        }
        Err(self.fault(ReadProblem::ExpectingValue))
    }

    fn number(&mut self) -> Result<Json, Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => {
                self.at = start;
                return self.keyword(&[("-Infinity", Json::Float(f64::NEG_INFINITY))]);
            }
        }
        let whole = self.at;
        self.fraction();
        self.exponent();
        let text = &self.text[start..self.at];
        // Both parsers accept everything that the grammar above accepts.
        let value = if self.at == whole {
            Integer::from_digits(text).map(Json::Integer)
        } else {
            text.parse().ok().map(Json::Float)
        };
        value.ok_or(Fault {
            problem: ReadProblem::ExpectingValue,
            at: start,
        })
    }

    fn fraction(&mut self) {
        if let [b'.', b'0'..=b'9', ..] = self.text.as_bytes()[self.at..] {
            self.at += 2;
            self.skip_digits();
        }
    }

    fn exponent(&mut self) {
        let sign = match self.text.as_bytes()[self.at..] {
            [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] => 1,
            [b'e' | b'E', b'0'..=b'9', ..] => 0,
            _ => return,
        };
        self.at += 2 + sign;
        self.skip_digits();
    }

    fn skip_digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a quoted text; borrowed if it contains no escapes.
    fn quoted(&mut self) -> Result<Cow<'a, str>, Fault> {
        let opening = self.at;
        self.at += 1;
        let mut read = String::new();
        loop {
            let start = self.at;
            let length = plain_length(&self.text.as_bytes()[start..]);
            let Some(length) = length else {
                return Err(Fault {
                    problem: ReadProblem::Unterminated,
                    at: opening,
                });
            };
            self.at += length;
            let stretch = &self.text[start..self.at];
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    if read.is_empty() {
                        return Ok(Cow::Borrowed(stretch));
                    }
                    read.push_str(stretch);
                    return Ok(Cow::Owned(read));
                }
                Some(b'\\') => {
                    read.push_str(stretch);
                    let character = self.escape(opening)?;
                    read.push(character);
                }
                _ => return Err(self.fault(ReadProblem::ControlCharacter)),
            }
        }
    }

    /// Reads an escape, starting at its backslash.
    fn escape(&mut self, opening: usize) -> Result<char, Fault> {
        let backslash = self.at;
        let Some(byte) = self.text.as_bytes().get(backslash + 1) else {
            return Err(Fault {
                problem: ReadProblem::Unterminated,
                at: opening,
            });
        };
        let character = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(self.fault(ReadProblem::Escape)),
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let first = self.unit()?;
        if !(0xd800..0xdc00).contains(&first) || !self.text[self.at..].starts_with("\\u") {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let after_first = self.at;
        let second = self.unit()?;
        if (0xdc00..0xe000).contains(&second) {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.at = after_first;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// Reads `\uXXXX`. As in Python, another byte must follow.
    fn unit(&mut self) -> Result<u32, Fault> {
        let fault = Fault {
            problem: ReadProblem::UnicodeEscape,
            at: self.at + 1,
        };
        let rest = &self.text.as_bytes()[self.at..];
        let [_, _, digits @ .., _] = rest.first_chunk::<7>().ok_or(fault)?;
        let mut unit = 0;
        for digit in digits {
            unit = unit << 4 | char::from(*digit).to_digit(16).ok_or(fault)?;
        }
        self.at += 6;
        Ok(unit)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, problem: ReadProblem) -> Fault {
        Fault {
            problem,
            at: self.at,
        }
    }
}
