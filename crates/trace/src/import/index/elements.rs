//! Where the elements of a list begin and end: the list under one key of the outermost object, in bytes that
//! come in chunks.

use std::ops::Range;

use volary_scan::text_end;

/// A walk through an object, byte by byte; no value is built.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    key: &'static [u8],
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// Whether a text that ends now was a key of the outermost object, and which.
    text: Vec<u8>,
    key_is_ours: bool,
    in_list: bool,
    /// Where the element begins that has not ended.
    begun: Option<usize>,
    /// What stands before and after the list.
    around: Vec<u8>,
}

impl Elements {
    pub fn new(key: &'static str) -> Self {
        Elements {
            key: key.as_bytes(),
            depth: 0,
            in_text: false,
            escaped: false,
            text: Vec::new(),
            key_is_ours: false,
            in_list: false,
            begun: None,
            around: Vec::new(),
        }
    }

    /// What stands around the list, as far as it was seen.
    pub fn before(&self) -> &[u8] {
        &self.around
    }

    /// The next whole element in the bytes, looking from `seen` on.
    pub fn next(&mut self, bytes: &[u8], seen: &mut usize) -> Option<Range<usize>> {
        while let Some(&byte) = bytes.get(*seen) {
            if self.in_text && !self.escaped && self.begun.is_some() {
                // Most bytes stand in long texts.
                match text_end(&bytes[*seen..]) {
                    None => {
                        *seen = bytes.len();
                        return None;
                    }
                    Some(length) if length > 0 => {
                        *seen += length;
                        continue;
                    }
                    Some(_) => {}
                }
            }
            let at = *seen;
            *seen += 1;
            let ended = self.step(byte, at);
            if let Some(start) = ended {
                return Some(start..*seen);
            }
            if self.begun.is_none() && !self.in_list {
                self.around.push(byte);
            }
        }
        None
    }

    /// Gives where the element began that ends with this byte.
    fn step(&mut self, byte: u8, at: usize) -> Option<usize> {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ if self.depth == 1 && self.text.len() < 64 => self.text.push(byte),
                _ => {}
            }
            return None;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                if self.depth == 1 {
                    self.text.clear();
                }
            }
            b':' if self.depth == 1 => self.key_is_ours = self.text == self.key,
            b',' if self.depth == 1 => self.key_is_ours = false,
            b'[' | b'{' => {
                if self.in_list && self.depth == 2 {
                    self.begun = Some(at);
                }
                self.depth += 1;
                if byte == b'[' && self.depth == 2 && self.key_is_ours {
                    self.in_list = true;
                    // The bracket is pushed by no one else.
                    self.around.push(byte);
                }
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.in_list && self.depth == 2 {
                    return self.begun.take();
                }
                if self.in_list && self.depth == 1 {
                    self.in_list = false;
                }
            }
            _ => {}
        }
        None
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

    /// The bytes of the element that never ended.
    pub fn rest<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let start = self.begun?;
        Some((bytes.get(start..)?, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str, chunk: usize) -> (Vec<String>, String) {
        let mut walk = Elements::new("list");
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
        (found, String::from_utf8_lossy(walk.before()).into_owned())
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
