//! Pairs the elements of two sequences, by criteria of decreasing strength.
//!
//! For each criterion: equal elements at both ends are paired; then elements that are unique in both sequences, as far
//! as their order agrees (backoff diff); then the same within the gaps, and finally with the next criterion. Remaining
//! elements are paired by position. The time is about O(n log n), however different the sequences are.

use std::collections::HashMap;
use std::ops::Range;

/// The number of rounds per criterion: elements may become unique within a gap.
const ROUNDS: usize = 4;

/// A pair of indices; one of them may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The index in the left sequence.
    pub left: Option<usize>,
    /// The index in the right sequence.
    pub right: Option<usize>,
}

/// Pairs the elements of two sequences: each is in exactly one pair, and pairs are in order. An element is represented
/// by one key per criterion, the strongest first.
pub fn align<const REASONS: usize>(left: &[[u32; REASONS]], right: &[[u32; REASONS]]) -> Vec<Pair> {
    let mut aligner = Aligner {
        left,
        right,
        pairs: Vec::with_capacity(left.len().max(right.len())),
    };
    aligner.gap(0..left.len(), 0..right.len(), 0);
    aligner.pairs
}

struct Aligner<'a, const REASONS: usize> {
    left: &'a [[u32; REASONS]],
    right: &'a [[u32; REASONS]],
    pairs: Vec<Pair>,
}

impl<const REASONS: usize> Aligner<'_, REASONS> {
    /// Pairs the elements within both ranges. `round` counts across all criteria.
    fn gap(&mut self, mut left: Range<usize>, mut right: Range<usize>, round: usize) {
        let reason = round / ROUNDS;
        if reason >= REASONS || left.is_empty() || right.is_empty() {
            return self.by_index(left, right);
        }
        let alike = |one: usize, other: usize| self.left[one][reason] == self.right[other][reason];
        let start = left.clone().zip(right.clone());
        let start = start.take_while(|(one, other)| alike(*one, *other)).count();
        let (first_left, first_right) = (left.start, right.start);
        left.start += start;
        right.start += start;
        let end = left.clone().rev().zip(right.clone().rev());
        let end = end.take_while(|(one, other)| alike(*one, *other)).count();
        left.end -= end;
        right.end -= end;

        self.run(first_left, first_right, start);
        let anchors = self.anchors(left.clone(), right.clone(), reason);
        // Without anchors, another round of the same criterion would find nothing new.
        let next = if anchors.is_empty() {
            (reason + 1) * ROUNDS
        } else {
            round + 1
        };
        let (mut from_left, mut from_right) = (left.start, right.start);
        for (one, other) in anchors {
            self.gap(from_left..one, from_right..other, next);
            self.run(one, other, 1);
            (from_left, from_right) = (one + 1, other + 1);
        }
        self.gap(from_left..left.end, from_right..right.end, next);
        self.run(left.end, right.end, end);
    }

    fn run(&mut self, left: usize, right: usize, length: usize) {
        self.pairs.extend((0..length).map(|offset| Pair {
            left: Some(left + offset),
            right: Some(right + offset),
        }));
    }

    fn by_index(&mut self, left: Range<usize>, right: Range<usize>) {
        let paired = left.len().min(right.len());
        self.run(left.start, right.start, paired);
        let alone = |left, right| Pair { left, right };
        let rest = (left.start + paired..left.end).map(|index| alone(Some(index), None));
        self.pairs.extend(rest);
        let rest = (right.start + paired..right.end).map(|index| alone(None, Some(index)));
        self.pairs.extend(rest);
    }

    /// Elements that are unique on both sides and in the same order on both.
    fn anchors(
        &self,
        left: Range<usize>,
        right: Range<usize>,
        reason: usize,
    ) -> Vec<(usize, usize)> {
        /// The index, or `None` if there are several.
        type Indices = HashMap<u32, Option<usize>>;
        let indices = |keys: &[[u32; REASONS]], range: Range<usize>| {
            let mut indices = Indices::new();
            for index in range {
                let known = indices.entry(keys[index][reason]).or_insert(Some(index));
                if *known != Some(index) {
                    *known = None;
                }
            }
            indices
        };
        let others = indices(self.right, right);
        let ours = indices(self.left, left.clone());
        let both = left.filter_map(|one| {
            let key = self.left[one][reason];
            ours.get(&key).copied().flatten()?;
            Some((one, others.get(&key).copied().flatten()?))
        });
        longest_rise(&both.collect::<Vec<_>>())
    }
}

/// The longest subsequence with increasing second indices, by backoff sorting. The first indices increase already.
fn longest_rise(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length: the pair with the lowest second index that ends an increasing subsequence of that length.
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|top| pairs[*top].1 < pair.1);
        before.push(pile.checked_sub(1).map(|pile| tops[pile]));
        match tops.get_mut(pile) {
            Some(top) => *top = index,
            None => tops.push(index),
        }
    }
    let mut rise = Vec::with_capacity(tops.len());
    let mut at = tops.last().copied();
    while let Some(index) = at {
        rise.push(pairs[index]);
        at = before[index];
    }
    rise.reverse();
    rise
}
