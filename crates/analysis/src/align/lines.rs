//! Line-by-line diff of two texts.

use std::collections::HashMap;
use std::ops::Range;

use super::sequence::align;

/// A run of neighbouring lines with the same kind of change. Ranges are in lines; one of them is empty for added or
/// removed lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The kind of change.
    pub kind: HunkKind,
    /// The lines of the old text.
    pub old: Range<usize>,
    /// The lines of the new text.
    pub new: Range<usize>,
}

/// The kind of change of a run of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkKind {
    /// The lines are equal.
    Same,
    /// Each line was replaced by one: see [`text_difference`](volary_episode::diff::text_difference) of the two.
    Changed,
    /// The lines are only in the new text.
    Added,
    /// The lines are only in the old text.
    Removed,
}

/// The hunks of two texts. Every line of either text is in exactly one hunk; lines are those of [`str::split`]
/// by `\n`.
pub fn line_hunks(old: &str, new: &str) -> Vec<Hunk> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let old: Vec<[u32; 2]> = keys(old, &mut numbers);
    let new: Vec<[u32; 2]> = keys(new, &mut numbers);
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut next_old, mut next_new) = (0, 0);
    for pair in align(&old, &new) {
        let kind = match (pair.left, pair.right) {
            (Some(left), Some(right)) if old[left][0] == new[right][0] => HunkKind::Same,
            (Some(_), Some(_)) => HunkKind::Changed,
            (None, _) => HunkKind::Added,
            (_, None) => HunkKind::Removed,
        };
        let (from_old, from_new) = (next_old, next_new);
        next_old += usize::from(pair.left.is_some());
        next_new += usize::from(pair.right.is_some());
        match hunks.last_mut() {
            Some(last) if last.kind == kind => {
                last.old.end = next_old;
                last.new.end = next_new;
            }
            _ => hunks.push(Hunk {
                kind,
                old: from_old..next_old,
                new: from_new..next_new,
            }),
        }
    }
    hunks
}

/// The keys of each line: unchanged, and with surrounding white space trimmed.
fn keys<'a>(text: &'a str, numbers: &mut HashMap<&'a str, u32>) -> Vec<[u32; 2]> {
    let mut number = |line: &'a str| {
        // Texts are in memory, so they have fewer than 2^31 lines.
        let next = numbers.len() as u32;
        *numbers.entry(line).or_insert(next)
    };
    text.split('\n')
        .map(|line| [number(line), number(line.trim())])
        .collect()
}
