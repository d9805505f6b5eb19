//! Where the elements of lists begin and end: the lists under some keys of the outermost object, in bytes that
//! come in chunks.

use std::ops::Range;

/// Longer ones are none of ours.
const LONGEST_KEY: usize = 64;

/// A walk through an object, byte by byte; no value is built.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    keys: &'static [&'static str],
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// The last text of the outermost object: a key, if a colon follows.
    text: Vec<u8>,
    /// Which of the keys precedes the next value.
    key: Option<usize>,
    in_list: bool,
    /// Where the element begins that has not ended.
    begun: Option<usize>,
    /// Whether it has no brackets that end it.
    is_bare: bool,
    /// The text around the elements.
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

    /// The text around the elements, as far as it was read.
    pub fn around(&self) -> &[u8] {
        &self.around
    }

    /// The key of the element that ended last.
    pub fn key(&self) -> Option<&'static str> {
        self.keys.get(self.key?).copied()
    }

    /// The next whole element in the bytes, looking from `seen` on.
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

    /// Goes past bytes within a text.
    fn pass(&mut self, bytes: &[u8]) {
        if self.depth == 1 {
            let room = LONGEST_KEY.saturating_sub(self.text.len());
            self.text.extend(bytes.iter().take(room));
        }
        if self.begun.is_none() && !self.in_list {
            self.around.extend_from_slice(bytes);
        }
    }

    /// Gives the element that ends with this byte, or before it.
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
                    // The bracket is pushed by no one else.
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

    /// A bracket closes, if the byte is one.
    fn close(&mut self, byte: u8) {
        if matches!(byte, b']' | b'}') {
            self.depth = self.depth.saturating_sub(1);
            self.in_list &= self.depth > 1;
        }
    }

    /// How many bytes need not be held any more, and what is held moves to the front.
    pub fn release(&mut self, done: usize, seen: usize) -> usize {
        let free = match self.begun {
            Some(start) => start.max(done),
            None => seen,
        };
        self.begun = self.begun.map(|start| start - free.min(start));
        free
    }

    /// The bytes so far of an unfinished element were taken; scanning continues from here.
    pub fn go_on(&mut self, seen: usize) {
        self.begun = self.begun.map(|_| seen);
    }

    /// The bytes of the element that has not ended.
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
