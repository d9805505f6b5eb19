//! Aligns the elements of two lists.
//!
//! Common elements at both ends are matched first: that settles appends, prepends and single changes. The rest goes
//! through Myers' algorithm with a limit on the number of edits, so that the work stays linear; beyond it, elements are
//! paired by index.

use volary_core::json::Json;

use super::compare::{diff, identical};
use super::{Run, RunKind};

/// The maximum number of edits to search for: lists with more are easier to read paired by index.
const MOST_EDITS: usize = 32;

/// The runs that turn the old list into the new one.
pub(super) fn align(old: &[Json], new: &[Json]) -> Vec<Run> {
    let shorter = old.len().min(new.len());
    let start = common(old.iter().zip(new));
    let end = common(old.iter().rev().zip(new.iter().rev()).take(shorter - start));
    let old_middle = &old[start..old.len() - end];
    let new_middle = &new[start..new.len() - end];

    let mut runs = Runs::default();
    runs.same(start);
    let mut done = (0, 0);
    for block in blocks(old_middle, new_middle) {
        runs.gap(
            &old_middle[done.0..block.old],
            &new_middle[done.1..block.new],
        );
        runs.same(block.length);
        done = (block.old + block.length, block.new + block.length);
    }
    runs.gap(&old_middle[done.0..], &new_middle[done.1..]);
    runs.same(end);
    runs.runs
}

fn common<'a>(pairs: impl Iterator<Item = (&'a Json, &'a Json)>) -> usize {
    pairs
        .take_while(|(left, right)| identical(left, right))
        .count()
}

#[derive(Default)]
struct Runs {
    runs: Vec<Run>,
    old: usize,
    new: usize,
}

impl Runs {
    fn push(&mut self, kind: RunKind, old: usize, new: usize) {
        let length = old.max(new);
        if length == 0 {
            return;
        }
        match self.runs.last_mut() {
            Some(last) if last.kind == RunKind::Same && kind == RunKind::Same => {
                last.length += length;
            }
            _ => self.runs.push(Run {
                kind,
                old: self.old,
                new: self.new,
                length,
            }),
        }
        self.old += old;
        self.new += new;
    }

    fn same(&mut self, length: usize) {
        self.push(RunKind::Same, length, length);
    }

    /// Handles unmatched elements: they are paired by index, and the rest is removed or added.
    fn gap(&mut self, old: &[Json], new: &[Json]) {
        for (old, new) in old.iter().zip(new) {
            match diff(old, new) {
                super::Diff::Same => self.same(1),
                change => self.push(RunKind::Changed(change), 1, 1),
            }
        }
        let paired = old.len().min(new.len());
        self.push(RunKind::Removed, old.len() - paired, 0);
        self.push(RunKind::Added, 0, new.len() - paired);
    }
}

/// A run of elements that are equal in both lists.
struct Block {
    old: usize,
    new: usize,
    length: usize,
}

/// The common blocks of both lists, in order.
fn blocks(old: &[Json], new: &[Json]) -> Vec<Block> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let most = if old.len() == new.len() {
        // A changed cell of a grid stays a change: shifting elements must save at least one edit.
        let pairs = old.iter().zip(new);
        let changed = pairs.filter(|(old, new)| !identical(old, new)).count();
        changed.saturating_sub(1).min(MOST_EDITS)
    } else {
        MOST_EDITS
    };
    myers(old, new, most).unwrap_or_default()
}

/// The greedy algorithm of E. Myers, "An O(ND) difference algorithm and its variations" (1986).
/// `None` if more than `most` insertions and deletions are needed.
fn myers(old: &[Json], new: &[Json], most: usize) -> Option<Vec<Block>> {
    // `reached[k + most + 1]`: the furthest position in `old` of a path on diagonal k = old - new.
    let width = 2 * most + 3;
    let center = most + 1;
    let mut reached = vec![0_usize; width];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for edits in 0..=most {
        rounds.push(reached.clone());
        for diagonal in (center - edits..=center + edits).step_by(2) {
            let mut x = first_of(&reached, diagonal, center, edits);
            // Such a path leaves the lists and is useless.
            let Some(mut y) = (x + center).checked_sub(diagonal) else {
                continue;
            };
            while let (Some(left), Some(right)) = (old.get(x), new.get(y))
                && identical(left, right)
            {
                x += 1;
                y += 1;
            }
            reached[diagonal] = x;
            if x >= old.len() && y >= new.len() {
                return Some(trace(&rounds, diagonal, x, center));
            }
        }
    }
    None
}

/// The position at which a path enters a diagonal after its last edit: from the diagonal above (an insertion keeps x)
/// or from the one below (a deletion advances x by one).
fn first_of(reached: &[usize], diagonal: usize, center: usize, edits: usize) -> usize {
    if edits == 0 {
        0
    } else if comes_by_insertion(reached, diagonal, center, edits) {
        reached[diagonal + 1]
    } else {
        reached[diagonal - 1] + 1
    }
}

fn comes_by_insertion(reached: &[usize], diagonal: usize, center: usize, edits: usize) -> bool {
    diagonal == center - edits
        || (diagonal != center + edits && reached[diagonal - 1] < reached[diagonal + 1])
}

fn trace(rounds: &[Vec<usize>], mut diagonal: usize, mut x: usize, center: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (edits, reached) in rounds.iter().enumerate().rev() {
        let first = first_of(reached, diagonal, center, edits);
        if x > first {
            blocks.push(Block {
                old: first,
                new: first + center - diagonal,
                length: x - first,
            });
        }
        if edits > 0 {
            if comes_by_insertion(reached, diagonal, center, edits) {
                diagonal += 1;
            } else {
                diagonal -= 1;
            }
            x = reached[diagonal];
        }
    }
    blocks.reverse();
    blocks
}
