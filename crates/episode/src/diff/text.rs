//! Text diff by common prefix and suffix: the ends are equal, the rest was removed and added. That is exact for texts
//! that grow or change in one place, which is typical of texts in frames, and takes linear time.

use std::ops::Range;

/// A text diff in three parts: a common prefix, a middle that differs, a common suffix. All ranges are in bytes and lie
/// on character boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextDifference {
    /// The common prefix, in either text.
    pub start: Range<usize>,
    /// The removed range of the old text.
    pub removed: Range<usize>,
    /// The added range of the new text.
    pub added: Range<usize>,
    /// The common suffix, in the new text.
    pub end: Range<usize>,
}

/// The difference of two texts, extended to whole words.
pub fn text_difference(old: &str, new: &str) -> TextDifference {
    let (mut start, mut end) = common_ends(old, new);
    if old.len() != start + end || new.len() != start + end {
        start = word_start(old, new, start);
        end = word_end(old, new, end);
    }
    TextDifference {
        start: 0..start,
        removed: start..old.len() - end,
        added: start..new.len() - end,
        end: new.len() - end..new.len(),
    }
}

/// The lengths of the common prefix and suffix in bytes, at character boundaries, without overlap.
pub(crate) fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let (left, right) = (old.as_bytes(), new.as_bytes());
    let shorter = left.len().min(right.len());
    let mut start = common_length(left, right);
    // Equal bytes up to here, so a boundary in one is a boundary in the other.
    while !old.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take(shorter - start)
        .take_while(|(left, right)| left == right)
        .count();
    while !old.is_char_boundary(old.len() - end) {
        end -= 1;
    }
    (start, end)
}

/// The length of the common prefix in bytes. Compares blocks, since texts in frames may be megabytes.
fn common_length(left: &[u8], right: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = left
        .chunks_exact(BLOCK)
        .zip(right.chunks_exact(BLOCK))
        .take_while(|(left, right)| left == right)
        .count()
        * BLOCK;
    let rest = left[blocks..].iter().zip(&right[blocks..]);
    blocks + rest.take_while(|(left, right)| left == right).count()
}

fn is_word(character: Option<char>) -> bool {
    character.is_some_and(|character| character.is_alphanumeric() || character == '_')
}

/// Moves the end of the prefix back to the start of a word that continues in either text.
fn word_start(old: &str, new: &str, start: usize) -> usize {
    let (kept, _) = old.split_at(start);
    let goes_on = is_word(old[start..].chars().next()) || is_word(new[start..].chars().next());
    if !goes_on {
        return start;
    }
    kept.trim_end_matches(|character| is_word(Some(character)))
        .len()
}

/// Moves the start of the suffix forward out of a word that began before it in either text.
fn word_end(old: &str, new: &str, end: usize) -> usize {
    let (_, kept) = old.split_at(old.len() - end);
    let began = is_word(old[..old.len() - end].chars().next_back())
        || is_word(new[..new.len() - end].chars().next_back());
    if !began {
        return end;
    }
    kept.trim_start_matches(|character| is_word(Some(character)))
        .len()
}
