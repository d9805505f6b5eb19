//! Folds texts: what two writers of the same words may write differently becomes equal.
//!
//! Case, typographic quotes, dashes and spaces, full-width forms, accents, ligatures, invisible characters, the escapes of
//! JSON, and Markdown's emphasis marks.

use std::ops::Range;

/// A folded text, as UTF-8, with the offset in the original for each byte.
#[derive(Debug, Default)]
pub(super) struct Folded {
    bytes: Vec<u8>,
    origins: Vec<u32>,
}

impl Folded {
    pub(super) fn of(text: &str) -> Folded {
        let mut folded = Folded {
            bytes: Vec::with_capacity(text.len()),
            origins: Vec::with_capacity(text.len()),
        };
        let mut letters = text.char_indices().peekable();
        while let Some((offset, letter)) = letters.next() {
            let letter = if letter == '\\' {
                // Texts in JSON are quoted with and without their escapes.
                match letters.peek().map(|(_, next)| *next) {
                    Some('n' | 't' | 'r') => {
                        letters.next();
                        ' '
                    }
                    Some(next @ ('"' | '\\' | '/')) => {
                        letters.next();
                        next
                    }
                    _ => letter,
                }
            } else {
                letter
            };
            folded.push(offset, letter);
        }
        folded
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes without white space at both ends.
    pub(super) fn trimmed(&self) -> &[u8] {
        self.bytes.trim_ascii()
    }

    /// The range in the original of a range of folded bytes, at character boundaries.
    pub(super) fn origin(&self, range: Range<usize>, text: &str) -> Range<usize> {
        let at = |index: usize| {
            let origin = self.origins.get(index);
            // Offsets of texts in memory fit, see `push`.
            origin.map_or(text.len(), |origin| *origin as usize)
        };
        let start = at(range.start);
        // The end of the last character, or of its escape.
        let mut end = range.end;
        while end > range.start
            && at(end) == at(range.end.saturating_sub(1))
            && end < self.origins.len()
        {
            end += 1;
        }
        let last = at(range.end.saturating_sub(1));
        let next = if end < self.origins.len() {
            at(end)
        } else {
            text.len()
        };
        // Skipped characters after the last one do not belong to it.
        let rest = text.get(last..next).unwrap_or_default();
        let mut letters = rest.chars();
        let first = letters.next().map_or(0, char::len_utf8);
        let is_escape =
            rest.starts_with('\\') && letters.next().is_some_and(|next| "ntr\"\\/".contains(next));
        start..(last + first + usize::from(is_escape)).max(start)
    }

    fn push(&mut self, offset: usize, letter: char) {
        if letter.is_ascii() {
            let byte = letter as u8;
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.space(offset),
                b'*' | b'`' | b'_' => {}
                _ => self.byte(offset, byte.to_ascii_lowercase()),
            }
            return;
        }
        if letter.is_whitespace() {
            self.space(offset);
            return;
        }
        match letter {
            '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{300}'..='\u{36f}'
            | '\u{fe00}'..='\u{fe0f}' => {}
            '‘' | '’' | '‚' | '‛' | '′' | '´' => self.byte(offset, b'\''),
            '“' | '”' | '„' | '‟' | '″' | '«' | '»' => self.byte(offset, b'"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => self.byte(offset, b'-'),
            '…' => self.all(offset, "..."),
            '•' | '·' => self.byte(offset, b'-'),
            '\u{fb00}'..='\u{fb06}' => {
                let forms = ["ff", "fi", "fl", "ffi", "ffl", "st", "st"];
                let index = letter as usize - 0xfb00;
                self.all(offset, forms.get(index).copied().unwrap_or_default());
            }
            // Full-width forms of ASCII.
            '\u{ff01}'..='\u{ff5e}' => {
                let plain = u8::try_from(letter as u32 - 0xfee0).unwrap_or(b'?');
                self.byte(offset, plain.to_ascii_lowercase());
            }
            'ς' => self.letter(offset, 'σ'),
            letter => {
                for lower in letter.to_lowercase() {
                    if let Some(base) = base_of(lower) {
                        self.all(offset, base);
                    } else if !matches!(lower, '\u{300}'..='\u{36f}') {
                        self.letter(offset, lower);
                    }
                }
            }
        }
    }

    /// A run of white space is one space.
    fn space(&mut self, offset: usize) {
        if self.bytes.last() != Some(&b' ') {
            self.byte(offset, b' ');
        }
    }

    fn byte(&mut self, offset: usize, byte: u8) {
        self.bytes.push(byte);
        // A message of 4 GiB cannot be sent to a model.
        self.origins.push(u32::try_from(offset).unwrap_or(u32::MAX));
    }

    fn all(&mut self, offset: usize, text: &str) {
        text.bytes().for_each(|byte| self.byte(offset, byte));
    }

    fn letter(&mut self, offset: usize, letter: char) {
        self.all(offset, letter.encode_utf8(&mut [0; 4]));
    }
}

/// The letters without accent of a small Latin letter with one, from Latin-1 and Latin Extended-A.
fn base_of(letter: char) -> Option<&'static str> {
    Some(match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' => "t",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

/// Whether two texts differ at most in the length and kind of their white space.
pub(super) fn same_but_white_space(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        String::from_utf8(Folded::of(text).trimmed().to_vec()).unwrap()
    }

    #[test]
    fn writers_differ_in_what_is_folded() {
        for (one, other) in [
            ("“It’s”  5–6 €…", "\"it's\" 5-6 €..."),
            ("CAFÉ cafe\u{301}", "cafe cafe"),
            ("**bold** `code`", "bold code"),
            (r#"{"a":"x\ny \"z\""}"#, "{\"a\":\"x\ny \"z\"\"}"),
            ("ﬁnd\u{200b}  ＡＢＣ", "find abc"),
            ("İ Straße", "i strasse"),
        ] {
            assert_eq!(folded(one), folded(other));
        }
        assert_ne!(folded("50"), folded("5 0"));
    }

    #[test]
    fn ranges_are_those_of_the_original() {
        let text = "Say “Hi”…  now \\n then";
        let all = Folded::of(text);
        let needle = b"\"hi\"...";
        let start = memchr::memmem::find(all.bytes(), needle).unwrap();
        let range = all.origin(start..start + needle.len(), text);
        assert_eq!(&text[range], "“Hi”…");
        let start = memchr::memmem::find(all.bytes(), b"then").unwrap();
        assert_eq!(&text[all.origin(start..start + 4, text)], "then");
        for start in 0..all.bytes().len() {
            for end in start + 1..=all.bytes().len() {
                let range = all.origin(start..end, text);
                assert!(
                    text.get(range.clone()).is_some_and(|text| !text.is_empty()),
                    "{range:?}"
                );
            }
        }
    }
}
