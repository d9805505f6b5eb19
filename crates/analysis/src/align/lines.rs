//! Line-by-line diff of two texts.

use std::collections::HashMap;
use std::ops::Range;

use super::sequence::align;
use super::similar::similar_pairs;

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
    /// Each line was replaced by a similar one: see [`text_difference`](volary_episode::diff::text_difference) of the two.
    Changed,
    /// The lines are only in the new text.
    Added,
    /// The lines are only in the old text.
    Removed,
}

/// The hunks of two texts. Every line of either text is in exactly one hunk; lines are those of [`str::split`]
/// by `\n`. Between equal lines, similar lines replace each other, and the others were removed or added.
pub fn line_hunks(old: &str, new: &str) -> Vec<Hunk> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let old_keys = keys(old, &mut numbers);
    let new_keys = keys(new, &mut numbers);
    let mut differ = LineDiffer {
        old: old.split('\n').collect(),
        new: new.split('\n').collect(),
        hunks: Vec::new(),
    };
    let (mut next_old, mut next_new) = (0, 0);
    for pair in align(&old_keys, &new_keys) {
        if let (Some(one), Some(other)) = (pair.left, pair.right)
            && old_keys[one][0] == new_keys[other][0]
        {
            differ.gap(next_old..one, next_new..other);
            differ.push(HunkKind::Same, one..one + 1, other..other + 1);
            (next_old, next_new) = (one + 1, other + 1);
        }
    }
    differ.gap(next_old..old_keys.len(), next_new..new_keys.len());
    differ.hunks
}

struct LineDiffer<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    hunks: Vec<Hunk>,
}

impl LineDiffer<'_> {
    /// Adds the lines between equal ones.
    fn gap(&mut self, old: Range<usize>, new: Range<usize>) {
        let pairs = similar_pairs(&self.old[old.clone()], &self.new[new.clone()]);
        let (mut next_old, mut next_new) = (old.start, new.start);
        for (one, other) in pairs {
            let (one, other) = (old.start + one, new.start + other);
            self.alone(next_old..one, next_new..other);
            // A repeated line may be left to this comparison.
            let kind = if self.old[one] == self.new[other] {
                HunkKind::Same
            } else {
                HunkKind::Changed
            };
            self.push(kind, one..one + 1, other..other + 1);
            (next_old, next_new) = (one + 1, other + 1);
        }
        self.alone(next_old..old.end, next_new..new.end);
    }

    fn alone(&mut self, old: Range<usize>, new: Range<usize>) {
        self.push(HunkKind::Removed, old.clone(), new.start..new.start);
        self.push(HunkKind::Added, old.end..old.end, new);
    }

    fn push(&mut self, kind: HunkKind, old: Range<usize>, new: Range<usize>) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        match self.hunks.last_mut() {
            Some(last) if last.kind == kind => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => self.hunks.push(Hunk { kind, old, new }),
        }
    }
}

/// The key of each line: equal lines have equal ones.
fn keys<'a>(text: &'a str, numbers: &mut HashMap<&'a str, u32>) -> Vec<[u32; 1]> {
    let lines = text.split('\n').map(|line| {
        // Texts are in memory, so they have fewer than 2^32 lines.
        let next = numbers.len() as u32;
        [*numbers.entry(line).or_insert(next)]
    });
    lines.collect()
}
