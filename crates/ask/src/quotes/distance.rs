//! Approximate search: the part of a text with the smallest edit distance to a pattern.
//!
//! The algorithm is Myers' (1999) in the form of Hyyrö: a column of the distance matrix is a pair of bit vectors, so that 64
//! rows are computed at once.

use std::ops::Range;

const WORD: usize = 64;

/// The bit vectors of a pattern, for each byte: at which positions it occurs.
struct Pattern {
    length: usize,
    words: usize,
    /// `words` vectors for each of the 256 bytes.
    occurs: Vec<u64>,
}

/// One column of the matrix, as differences of neighbouring rows.
#[derive(Clone, Copy)]
struct Block {
    up: u64,
    down: u64,
}

impl Pattern {
    fn of(bytes: impl ExactSizeIterator<Item = u8>) -> Pattern {
        let length = bytes.len();
        let words = length.div_ceil(WORD);
        let mut occurs = vec![0; 256 * words];
        for (index, byte) in bytes.enumerate() {
            if let Some(word) = occurs.get_mut(usize::from(byte) * words + index / WORD) {
                *word |= 1 << (index % WORD);
            }
        }
        Pattern {
            length,
            words,
            occurs,
        }
    }

    /// Passes the distance between the whole pattern and what ends at each byte to `each`, with the number of bytes read.
    /// `anchored` distances are those from the start of the text, others from the best start.
    fn scan(
        &self,
        text: impl Iterator<Item = u8>,
        anchored: bool,
        mut each: impl FnMut(usize, usize),
    ) {
        let mut column = vec![
            Block {
                up: u64::MAX,
                down: 0
            };
            self.words
        ];
        let mut distance = self.length;
        let last = 1_u64 << ((self.length - 1) % WORD);
        for (index, byte) in text.enumerate() {
            let start = usize::from(byte) * self.words;
            let occurs = self
                .occurs
                .get(start..start + self.words)
                .unwrap_or_default();
            // The difference in the row above the first one: 1 a byte if the start is fixed.
            let (mut plus, mut minus) = (u64::from(anchored), 0);
            let count = column.len();
            for (number, (block, occurs)) in column.iter_mut().zip(occurs).enumerate() {
                let end = if number + 1 == count {
                    last
                } else {
                    1 << (WORD - 1)
                };
                let vertical = occurs | block.down;
                let matches = occurs | minus;
                let diagonal = ((matches & block.up).wrapping_add(block.up) ^ block.up) | matches;
                let right = block.down | !(diagonal | block.up);
                let left = block.up & diagonal;
                let (out_plus, out_minus) =
                    (u64::from(right & end != 0), u64::from(left & end != 0));
                let right = right << 1 | plus;
                let left = left << 1 | minus;
                block.up = left | !(vertical | right);
                block.down = right & vertical;
                (plus, minus) = (out_plus, out_minus);
            }
            distance = (distance + usize::from(plus == 1)).saturating_sub(usize::from(minus == 1));
            each(index + 1, distance);
        }
    }
}

/// The part of the text with the smallest edit distance to the pattern, if that is at most `most`, and the distance. Of
/// equal ones, the first.
pub(super) fn find(pattern: &[u8], text: &[u8], most: usize) -> Option<(usize, Range<usize>)> {
    if pattern.is_empty() {
        return None;
    }
    let mut best = None;
    Pattern::of(pattern.iter().copied()).scan(text.iter().copied(), false, |end, distance| {
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, end));
        }
    });
    let (distance, end) = best?;
    // The start, by reading backwards from the end.
    let room = pattern.len() + distance;
    let window = text.get(end.saturating_sub(room)..end)?;
    let mut length = None;
    Pattern::of(pattern.iter().rev().copied()).scan(
        window.iter().rev().copied(),
        true,
        |count, found| {
            if found == distance && length.is_none() {
                length = Some(count);
            }
        },
    );
    let start = end - length?;
    Some((distance, start..end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The distance matrix, in full.
    fn slow(pattern: &[u8], text: &[u8]) -> usize {
        let mut column: Vec<usize> = (0..=pattern.len()).collect();
        let mut best = pattern.len();
        for byte in text {
            let mut diagonal = column[0];
            for row in 1..=pattern.len() {
                let change = diagonal + usize::from(pattern[row - 1] != *byte);
                diagonal = column[row];
                column[row] = change.min(column[row] + 1).min(column[row - 1] + 1);
            }
            best = best.min(column[pattern.len()]);
        }
        best
    }

    fn full(one: &[u8], other: &[u8]) -> usize {
        let mut column: Vec<usize> = (0..=one.len()).collect();
        for byte in other {
            let mut diagonal = column[0];
            column[0] += 1;
            for row in 1..=one.len() {
                let change = diagonal + usize::from(one[row - 1] != *byte);
                diagonal = column[row];
                column[row] = change.min(column[row] + 1).min(column[row - 1] + 1);
            }
        }
        column[one.len()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn the_distance_is_that_of_the_matrix(
            pattern in prop::collection::vec(0_u8..3, 1..200),
            text in prop::collection::vec(0_u8..3, 0..300),
        ) {
            let expected = slow(&pattern, &text);
            let found = find(&pattern, &text, pattern.len());
            if let Some((distance, range)) = found {
                prop_assert_eq!(distance, expected);
                prop_assert_eq!(full(&pattern, &text[range]), distance);
            } else {
                prop_assert!(text.is_empty());
            }
        }
    }

    #[test]
    fn the_limit_holds() {
        assert_eq!(
            find(b"hello wurld", b"say hello world", 1),
            Some((1, 4..15))
        );
        assert_eq!(find(b"hello wurld", b"say hello world", 0), None);
        assert_eq!(find(b"", b"x", 3), None);
    }
}
