//! Recovers the readable part of JSON that is truncated, malformed or nested too deeply.
//!
//! Invariants: every recovered value occurs in the text; only closing brackets are added.

use std::borrow::Cow;

use volary_core::json::read::ReadProblem;
use volary_core::json::{Json, ReadError};

/// A recovered value, and the problems of its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repaired {
    pub value: Json,
    /// The position and reason where parsing stopped, for the user; `None` if all of the text was parsed.
    pub cut: Option<String>,
    /// The number of parts that were nested too deeply; they are preserved as text.
    pub deep: usize,
    /// The number of strings with characters that JSON requires to be escaped; they are read unchanged.
    pub odd: usize,
}

/// Whether a problem can be repaired without data loss.
pub(crate) fn is_repairable(problem: ReadProblem) -> bool {
    use ReadProblem::{ControlCharacter, Escape, TooDeep, UnicodeEscape};
    matches!(problem, ControlCharacter | Escape | TooDeep | UnicodeEscape)
}

/// Parses as much as possible. Returns the first error if nothing can be parsed.
pub(crate) fn repair(text: &str) -> Result<Repaired, ReadError> {
    match Json::parse(text) {
        Ok(value) => Ok(Repaired {
            value,
            cut: None,
            deep: 0,
            odd: 0,
        }),
        Err(error) => repair_after(text, error),
    }
}

/// Parses as much as possible of a text that is no JSON: parsing it failed with the error `first`, which is returned if
/// nothing can be parsed.
pub(crate) fn repair_after(text: &str, first: ReadError) -> Result<Repaired, ReadError> {
    let mut scanned = Scanner::new(text).scan();
    let mut cut = scanned.cut.then(|| {
        if is_repairable(first.problem) {
            "the end is missing".to_owned()
        } else {
            first.to_string()
        }
    });
    loop {
        match Json::parse(&scanned.text) {
            // A bare string or number that was truncated is meaningless.
            Ok(value @ (Json::List(_) | Json::Object(_))) => {
                let (deep, odd) = (scanned.deep, scanned.odd);
                return Ok(Repaired {
                    value,
                    cut,
                    deep,
                    odd,
                });
            }
            Ok(_) => return Err(first),
            Err(error) => {
                // Everything before the problem is complete; each round is shorter than the last.
                let end = scanned.text.char_indices().nth(error.position);
                let end = end.map_or(scanned.text.len(), |(offset, _)| offset);
                let before = scanned.text[..end].to_owned();
                cut.get_or_insert_with(|| error.to_string());
                let again = Scanner::new(&before).scan();
                if again.text.len() >= scanned.text.len() || again.text.is_empty() {
                    return Err(first);
                }
                scanned = Scanned {
                    deep: scanned.deep,
                    odd: scanned.odd,
                    ..again
                };
            }
        }
    }
}

struct Scanned {
    text: String,
    cut: bool,
    deep: usize,
    odd: usize,
}

/// Scans a text without building values, so that depth and size are unlimited.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    out: String,
    /// The pending closing brackets.
    open: Vec<char>,
    /// The length of the prefix of `out` that is valid once the pending brackets are appended.
    safe: usize,
    deep: usize,
    odd: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Scanner {
            text,
            at: 0,
            out: String::new(),
            open: Vec::new(),
            safe: 0,
            deep: 0,
            odd: 0,
        }
    }

    fn scan(mut self) -> Scanned {
        /// Deeper parts become text. Far below the parser's limit, since formats nest values inside others.
        const DEPTH: usize = 500;
        let bytes = self.text.as_bytes();
        // Whether the next or current token is a value, not a key.
        let mut value = true;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let closed = self.string();
                    match (closed, value) {
                        (true, true) => self.safe = self.out.len(),
                        (true, false) => {}
                        (false, true) => return self.cut_in_text(),
                        (false, false) => return self.end(true),
                    }
                    continue;
                }
                b'{' | b'[' if self.open.len() >= DEPTH => {
                    if !self.deep_part() {
                        return self.end(true);
                    }
                    self.safe = self.out.len();
                    continue;
                }
                b'{' => {
                    self.open.push('}');
                    value = false;
                }
                b'[' => {
                    self.open.push(']');
                    value = true;
                }
                b'}' | b']' => {
                    // Everything before the bracket is complete.
                    self.safe = self.out.len();
                    if self.open.last() != Some(&char::from(byte)) {
                        return self.end(true);
                    }
                    self.open.pop();
                    value = true;
                }
                b':' => value = true,
                b',' => {
                    // Everything before the comma is complete.
                    self.safe = self.out.len();
                    value = self.open.last() != Some(&'}');
                }
                _ => {}
            }
            // Only ASCII is significant, so characters are copied whole.
            let length = self.text[self.at..]
                .chars()
                .next()
                .map_or(1, char::len_utf8);
            self.out.push_str(&self.text[self.at..self.at + length]);
            self.at += length;
            if matches!(byte, b'{' | b'[' | b'}' | b']') {
                self.safe = self.out.len();
                if self.open.is_empty() {
                    let cut = !self.text[self.at..].trim().is_empty();
                    return self.end(cut);
                }
            }
        }
        self.end(true)
    }

    /// Copies a string; false if it is unterminated.
    fn string(&mut self) -> bool {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                b'"' => {
                    let text = escaped(&self.text[start..=at]);
                    self.odd += usize::from(matches!(text, Cow::Owned(_)));
                    self.out.push_str(&text);
                    self.at = at + 1;
                    return true;
                }
                _ => at += 1,
            }
        }
        false
    }

    /// Handles the end of the text inside a string: the partial string is preserved.
    fn cut_in_text(mut self) -> Scanned {
        let mut part = escaped(&self.text[self.at..]).into_owned();
        // An incomplete escape must go: at most `\u` and three digits.
        for _ in 0..6 {
            let closed = format!("{part}\"");
            if Json::parse(&closed).is_ok() {
                self.out.push_str(&closed);
                self.safe = self.out.len();
                break;
            }
            part.pop();
        }
        self.end(true)
    }

    /// Copies a part that is too deep as text; false if it is unterminated.
    fn deep_part(&mut self) -> bool {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    at += 1;
                    while let Some(&inner) = bytes.get(at)
                        && inner != b'"'
                    {
                        at += if inner == b'\\' { 2 } else { 1 };
                    }
                }
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        self.deep += 1;
        let part = Json::from(&self.text[start..at.min(bytes.len())]);
        self.out.push_str(&part.to_compact_text());
        self.at = at.min(bytes.len());
        depth == 0
    }

    fn end(mut self, cut: bool) -> Scanned {
        self.out.truncate(self.safe);
        self.out.extend(self.open.iter().rev());
        Scanned {
            text: self.out,
            cut,
            deep: self.deep,
            odd: self.odd,
        }
    }
}

/// A quoted string with everything escaped that JSON requires: control characters, and backslashes that start no
/// escape.
fn escaped(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut done, mut at) = (0, 0);
    let mut out = String::new();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0..0x20 => {
                out.push_str(&text[done..at]);
                out.push_str(&format!("\\u{byte:04x}"));
                (done, at) = (at + 1, at + 1);
            }
            b'\\' if begins_escape(&bytes[at + 1..]) => at += 2,
            b'\\' => {
                out.push_str(&text[done..at]);
                out.push_str("\\\\");
                (done, at) = (at + 1, at + 1);
            }
            _ => at += 1,
        }
    }
    match done {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[done..]),
    }
}

/// Whether a backslash and these bytes form an escape; at the end of the text they may.
fn begins_escape(rest: &[u8]) -> bool {
    match rest {
        [b'u', digits @ ..] => digits.iter().take(4).all(u8::is_ascii_hexdigit),
        [next, ..] => br#""\/bfnrt"#.contains(next),
        [] => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> String {
        repair(text).unwrap().value.to_python_text()
    }

    #[test]
    fn members_before_a_cut_are_kept() {
        let cases = [
            (
                r#"{"a": 1, "b": [1, {"c": "some te"#,
                r#"{"a": 1, "b": [1, {"c": "some te"}]}"#,
            ),
            (r#"{"a": 1, "b"#, r#"{"a": 1}"#),
            (r#"{"a": 1, "b": "#, r#"{"a": 1}"#),
            (r#"[1, 2, 3"#, "[1, 2]"),
            (r#"[true, fal"#, "[true]"),
            (r#"["é\u00e"#, r#"["\u00e9"]"#),
            (r#"["x\"#, r#"["x"]"#),
            ("[", "[]"),
            (r#"{"a": {"b": [1]}"#, r#"{"a": {"b": [1]}}"#),
            (r#"{"a": 1} and more"#, r#"{"a": 1}"#),
            (r#"[1, 2, oops, 3]"#, "[1, 2]"),
            (r#"{"a": 1, b: 2}"#, r#"{"a": 1}"#),
            (r#"[1, {"a": 2]"#, r#"[1, {"a": 2}]"#),
        ];
        for (text, expected) in cases {
            assert_eq!(repaired(text), expected, "{text}");
            assert!(repair(text).unwrap().cut.is_some(), "{text}");
        }
    }

    #[test]
    fn unescaped_characters_are_read() {
        let cases = [
            ("[\"a\tb\nc\"]", r#"["a\tb\nc"]"#),
            (r#"["it\'s \x41 \d+"]"#, r#"["it\\'s \\x41 \\d+"]"#),
            (r#"["\u12g4", 1]"#, r#"["\\u12g4", 1]"#),
            (r#"["\\d \" \u0041"]"#, r#"["\\d \" A"]"#),
            ("{\"a\u{1}\": 1}", r#"{"a\u0001": 1}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(repaired(text), expected, "{text}");
            assert_eq!(repair(text).unwrap().cut, None, "{text}");
        }
        let cut = repair("[\"a\tb\", \"c\td").unwrap();
        assert_eq!((cut.odd, cut.cut.is_some()), (1, true));
        assert_eq!(cut.value.to_python_text(), r#"["a\tb", "c\td"]"#);
    }

    #[test]
    fn text_that_is_not_json_gives_none() {
        for text in ["", "hello", "\"cut", "12 34"] {
            assert!(repair(text).is_err(), "{text}");
        }
    }

    #[test]
    fn deep_parts_become_text() {
        let deep = format!(
            "{{\"a\": {}{}, \"b\": 1}}",
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        let repaired = repair(&deep).unwrap();
        assert_eq!((repaired.deep, repaired.cut), (1, None));
        assert_eq!(repaired.value.get("b"), Some(&Json::from(1)));
        let cut = repair(&"[".repeat(100_000)).unwrap();
        assert!(cut.cut.is_some());
    }
}
