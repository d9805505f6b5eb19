//! A scanner for the boundaries of list elements: the lists under some keys of the outermost object, in bytes that
//! arrive in chunks.

use std::ops::Range;

/// The maximum length of a key in bytes; longer keys are never looked for.
const LONGEST_KEY: usize = 64;

/// A byte-wise scanner; it builds no value.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    keys: &'static [&'static str],
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// The last string of the outermost object: a key, if a colon follows.
    text: Vec<u8>,
    /// The index of the key that precedes the next value.
    key: Option<usize>,
    in_list: bool,
    /// The start of the unfinished element.
    begun: Option<usize>,
    /// Whether the element is a scalar, without closing bracket.
    is_bare: bool,
    /// The bytes around the elements.
    around: Vec<u8>,
}

impl Elements {
    pub fn new(keys: &'static [&'static str]) -> Self {
        Elements {
            keys,
            depth: 0,
            in_text: false,
            escaped: false,
            text: Vec::new(),
            key: None,
            in_list: false,
            begun: None,
            is_bare: false,
            around: Vec::new(),
        }
    }

    /// The bytes around the elements, as far as they were scanned.
    pub fn around(&self) -> &[u8] {
        &self.around
    }

    /// The key of the last finished element.
    pub fn key(&self) -> Option<&'static str> {
        self.keys.get(self.key?).copied()
    }

    /// The range of the next complete element, scanning from `seen`.
    pub fn next(&mut self, bytes: &[u8], seen: &mut usize) -> Option<Range<usize>> {
        while let Some(&byte) = bytes.get(*seen) {
            if self.in_text && !self.escaped {
                // Most bytes are in long strings.
                let rest = &bytes[*seen..];
                let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if length > 0 {
                    self.pass(&rest[..length]);
                    *seen += length;
                    continue;
                }
            }
            let at = *seen;
            *seen += 1;
            let ended = self.step(byte, at);
            if self.begun.is_none() && !self.in_list {
                self.around.push(byte);
            }
            if ended.is_some() {
                return ended;
            }
        }
        None
    }

    /// Skips bytes within a string.
    fn pass(&mut self, bytes: &[u8]) {
        if self.depth == 1 {
            let room = LONGEST_KEY.saturating_sub(self.text.len());
            self.text.extend(bytes.iter().take(room));
        }
        if self.begun.is_none() && !self.in_list {
            self.around.extend_from_slice(bytes);
        }
    }

    /// Returns the range of an element that ends with this byte, or before it.
    fn step(&mut self, byte: u8, at: usize) -> Option<Range<usize>> {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return None;
        }
        let in_list = self.in_list && self.depth == 2;
        if in_list && self.is_bare && matches!(byte, b',' | b']' | b'}') {
            self.is_bare = false;
            let start = self.begun.take()?;
            self.close(byte);
            return Some(start..at);
        }
        let is_between = byte.is_ascii_whitespace() || matches!(byte, b',' | b']');
        if in_list && self.begun.is_none() && !is_between {
            self.begun = Some(at);
            self.is_bare = !matches!(byte, b'[' | b'{');
        }
        match byte {
            b'"' => {
                self.in_text = true;
                if self.depth == 1 {
                    self.text.clear();
                }
            }
            b':' if self.depth == 1 => {
                let mut keys = self.keys.iter();
                self.key = keys.position(|key| key.as_bytes() == self.text);
            }
            b',' if self.depth == 1 => self.key = None,
            b'[' | b'{' => {
                self.depth += 1;
                if byte == b'[' && self.depth == 2 && self.key.is_some() {
                    self.in_list = true;
                    // The bracket is not pushed anywhere else.
                    self.around.push(byte);
                }
            }
            b']' | b'}' => {
                self.close(byte);
                if self.in_list && self.depth == 2 && !self.is_bare {
                    return self.begun.take().map(|start| start..at + 1);
                }
            }
            _ => {}
        }
        None
    }

    /// Handles a closing bracket.
    fn close(&mut self, byte: u8) {
        if matches!(byte, b']' | b'}') {
            self.depth = self.depth.saturating_sub(1);
            self.in_list &= self.depth > 1;
        }
    }

    /// The number of bytes that can be released; the start of the unfinished element moves accordingly.
    pub fn release(&mut self, done: usize, seen: usize) -> usize {
        let free = match self.begun {
            Some(start) => start.max(done),
            None => seen,
        };
        self.begun = self.begun.map(|start| start - free.min(start));
        free
    }

    /// Continues after the bytes of an unfinished element were consumed.
    pub fn go_on(&mut self, seen: usize) {
        self.begun = self.begun.map(|_| seen);
    }

    /// The bytes of the unfinished element.
    pub fn rest<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let start = self.begun?;
        Some((bytes.get(start..)?, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str, chunk: usize) -> (Vec<String>, String) {
        let mut walk = Elements::new(&["list"]);
        let (mut held, mut seen, mut found) = (Vec::new(), 0, Vec::new());
        for part in text.as_bytes().chunks(chunk) {
            held.extend_from_slice(part);
            let mut done = 0;
            while let Some(range) = walk.next(&held, &mut seen) {
                done = range.end;
                found.push(String::from_utf8_lossy(&held[range]).into_owned());
            }
            let free = walk.release(done, seen);
            held.drain(..free);
            seen -= free;
        }
        (found, String::from_utf8_lossy(walk.around()).into_owned())
    }

    #[test]
    fn elements_need_no_brackets() {
        let text = r#"{"list": [1 , "a,]\\", {"b": 2}, null,[], -3e5], "c": 1}"#;
        for chunk in 1..text.len() {
            let (found, around) = elements(text, chunk);
            let expected = ["1 ", r#""a,]\\""#, r#"{"b": 2}"#, "null", "[]", "-3e5"];
            assert_eq!(found, expected, "{chunk}");
            assert_eq!(around, r#"{"list": [], "c": 1}"#);
        }
    }

    #[test]
    fn a_bracket_that_fits_nothing_holds_no_bytes() {
        let (found, around) = elements(r#"{"list": [1} , "c": [2]"#, 5);
        assert_eq!(found, ["1"]);
        assert_eq!(around, r#"{"list": [} , "c": [2]"#);
    }

    #[test]
    fn elements_are_found_however_the_bytes_come() {
        let text = r#"{"a": "\"list\": [", "b": {"list": [{"x": 1}]}, "list": [ {"y": "]}\\"}, {"z": [{}]} , {}], "c": 1}"#;
        for chunk in 1..text.len() {
            let (found, around) = elements(text, chunk);
            assert_eq!(
                found,
                [r#"{"y": "]}\\"}"#, r#"{"z": [{}]}"#, "{}"],
                "{chunk}"
            );
            let expected = r#"{"a": "\"list\": [", "b": {"list": [{"x": 1}]}, "list": [], "c": 1}"#;
            assert_eq!(around, expected);
        }
    }
}
