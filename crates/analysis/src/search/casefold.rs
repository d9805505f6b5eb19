//! Case folding that maps every character to exactly one character, so that character offsets stay valid. The original
//! is stored as differences and can be restored.

use std::ops::Range;

/// The folded form of a character: its lowercase, or the first character of a multi-character lowercase.
pub(super) fn fold(character: char) -> char {
    match character {
        'A'..='Z' => character.to_ascii_lowercase(),
        '\0'..='\u{7f}' => character,
        // The final form of sigma.
        'ς' => 'σ',
        _ => character.to_lowercase().next().unwrap_or(character),
    }
}

/// A folded text with the data to restore its original.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folded {
    text: String,
    changed: Changed,
}

/// The changes made by folding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Changed {
    /// A bit for each byte of the text: whether it was an ASCII uppercase letter.
    capitals: Vec<u64>,
    /// Other changed characters, by byte offset in ascending order.
    others: Vec<(u32, char)>,
}

/// Builds a folded text.
#[derive(Clone, Debug, Default)]
pub(super) struct Folding {
    /// UTF-8.
    bytes: Vec<u8>,
    changed: Changed,
}

impl Folding {
    /// Creates an empty builder with a capacity of `length` bytes.
    pub(super) fn with_capacity(length: usize) -> Self {
        Folding {
            bytes: Vec::with_capacity(length),
            ..Folding::default()
        }
    }

    /// The number of bytes so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends a text. The total must stay below 4 GiB.
    pub(super) fn push(&mut self, text: &str) {
        self.bytes.reserve(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let plain = self.push_ascii(rest.as_bytes());
            rest = rest.get(plain..).unwrap_or_default();
            let others = rest.chars().take_while(|character| !character.is_ascii());
            let mut length = 0;
            for character in others {
                length += character.len_utf8();
                self.push_other(character);
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }

    /// Appends the leading ASCII characters, eight at a time; returns their number.
    fn push_ascii(&mut self, bytes: &[u8]) -> usize {
        const ONES: u64 = u64::MAX / 255;
        const HIGH: u64 = ONES << 7;
        let (words, _) = bytes.as_chunks::<8>();
        let mut done = 0;
        for word in words {
            let word = u64::from_le_bytes(*word);
            if word & HIGH != 0 {
                break;
            }
            // No sum overflows into the next byte, since no byte has its high bit set.
            let from_a = word + ONES * u64::from(0x80 - b'A');
            let past_z = word + ONES * u64::from(0x7f - b'Z');
            let capitals = (from_a ^ past_z) & HIGH;
            self.mark(capitals);
            let small = word | capitals >> 2;
            self.bytes.extend_from_slice(&small.to_le_bytes());
            done += 8;
        }
        for byte in bytes[done..].iter().take_while(|byte| byte.is_ascii()) {
            self.mark(u64::from(byte.is_ascii_uppercase()) << 7);
            self.bytes.push(byte.to_ascii_lowercase());
            done += 1;
        }
        done
    }

    /// Marks which of the next eight bytes were uppercase: those with the high bit set.
    fn mark(&mut self, capitals: u64) {
        if capitals == 0 {
            return;
        }
        // The multiplication moves the high bit of byte n to bit n.
        let bits = (capitals >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let offset = self.bytes.len();
        let (word, shift) = (offset / 64, offset % 64);
        let known = &mut self.changed.capitals;
        if known.is_empty() {
            known.reserve_exact(self.bytes.capacity() / 64 + 2);
        }
        if known.len() < word + 2 {
            known.resize(word + 2, 0);
        }
        known[word] |= bits << shift;
        known[word + 1] |= bits.checked_shr(64 - shift as u32).unwrap_or_default();
    }

    fn push_other(&mut self, character: char) {
        let folded = fold(character);
        if folded != character {
            let offset = self.bytes.len() as u32;
            self.changed.others.push((offset, character));
        }
        let mut room = [0; 4];
        let text = folded.encode_utf8(&mut room);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Finishes the folded text.
    pub(super) fn done(mut self) -> Folded {
        self.bytes.shrink_to_fit();
        self.changed.capitals.shrink_to_fit();
        self.changed.others.shrink_to_fit();
        Folded {
            // Only whole characters were appended.
            text: String::from_utf8(self.bytes).unwrap_or_default(),
            changed: self.changed,
        }
    }
}

impl Folded {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The original of a byte range, which ends at character boundaries.
    pub(super) fn original(&self, range: Range<usize>) -> String {
        let start = range.start;
        let part = self.text.get(range).unwrap_or_default();
        part.char_indices()
            .map(|(offset, folded)| self.changed.original_of(start + offset, folded))
            .collect()
    }

    /// The memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.changed.capitals.len() * 8 + self.changed.others.len() * 8
    }
}

impl Changed {
    fn original_of(&self, offset: usize, folded: char) -> char {
        let word = self.capitals.get(offset / 64);
        if word.is_some_and(|word| word >> (offset % 64) & 1 == 1) {
            return folded.to_ascii_uppercase();
        }
        let found = self
            .others
            .binary_search_by_key(&(offset as u32), |(at, _)| *at);
        found.map_or(folded, |found| self.others[found].1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn case_folding_round_trips(texts in prop::collection::vec("\\PC*|[A-Za-zÄÖÜßİςΣ\u{212a}]{0,40}|[ -~]{0,200}", 0..6)) {
            let mut folding = Folding::default();
            texts.iter().for_each(|text| folding.push(text));
            let folded = folding.done();
            let all = texts.concat();
            prop_assert_eq!(folded.text(), all.chars().map(fold).collect::<String>());
            prop_assert_eq!(folded.original(0..folded.text().len()), all);
        }
    }
}
