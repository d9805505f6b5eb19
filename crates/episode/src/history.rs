//! The frames at which a selected part of the state changed.
//!
//! Derived from the patches between frames: most of them do not touch the part, which is decided without reading any
//! value. Invariant: a change is reported if and only if the part is not [`identical`] to its value in the previous
//! frame.

use volary_core::Frame;
use volary_core::json::Json;

use crate::diff::{DifferenceKind, Segment, identical};
use crate::frames::{FrameHistory, FramePatch};
use crate::patch::{ListEdit, Patch};

/// The bytes that one call of [`Walk::advance`] copies at most, except for its last frame.
const MOST_COPIED: u64 = 64 << 20;

/// The path of a part of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePath {
    /// The value in which the path starts.
    pub root: Root,
    /// The segments from there.
    pub path: Vec<Segment>,
}

/// One of the two values of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Root {
    #[default]
    State,
    /// The frame's additional information.
    Info,
}

/// A change of the selected part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The frame: 0 is after the reset, `i` after step `i`.
    pub frame: usize,
    pub kind: DifferenceKind,
}

impl StatePath {
    /// The value at the path; `None` if there is none.
    pub fn value<'a>(&self, frame: &'a Frame) -> Option<&'a Json> {
        let root = match self.root {
            Root::State => &frame.state,
            Root::Info => &frame.info,
        };
        self.path
            .iter()
            .try_fold(root, |value, segment| match (segment, value) {
                (Segment::Key(key), Json::Object(object)) => object.get(key),
                (Segment::Index(index), Json::List(list)) => list.get(*index),
                _ => None,
            })
    }

    fn touched_by(&self, patch: &FramePatch) -> bool {
        match self.root {
            Root::State => touches(&patch.state, &self.path),
            Root::Info => touches(&patch.info, &self.path),
        }
    }
}

/// The frames at which the part changed, in order. The first frame that contains it counts as adding it.
pub fn changes(frames: &FrameHistory, part: &StatePath) -> Vec<Change> {
    let mut walk = Walk::default();
    while !walk.advance(frames, part, usize::MAX) {}
    walk.found
}

/// A resumable walk through all frames.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// The changes so far; see [`changes`].
    pub found: Vec<Change>,
    next: usize,
    frame: Frame,
    before: Option<Json>,
}

impl Walk {
    /// Processes at most this many frames, fewer if rebuilding them copies much. Returns whether all frames
    /// were processed.
    pub fn advance(&mut self, frames: &FrameHistory, part: &StatePath, most: usize) -> bool {
        let end = frames.len().min(self.next.saturating_add(most));
        let mut copied = 0;
        while self.next < end && copied <= MOST_COPIED {
            let index = self.next;
            copied += frames.copied_at(index);
            self.next += 1;
            let Some(patch) = frames.patch(index) else {
                break;
            };
            let applied = patch.apply(&mut self.frame);
            // Every stored patch fits.
            debug_assert!(applied.is_ok(), "a kept patch fits");
            if index > 0 && !part.touched_by(patch) {
                continue;
            }
            let now = part.value(&self.frame);
            let kind = match (&self.before, now) {
                (None, Some(_)) => Some(DifferenceKind::Added),
                (Some(_), None) => Some(DifferenceKind::Removed),
                (Some(before), Some(now)) if !identical(before, now) => {
                    Some(DifferenceKind::Changed)
                }
                _ => None,
            };
            if let Some(kind) = kind {
                self.before = now.cloned();
                self.found.push(Change { frame: index, kind });
            }
        }
        self.next >= frames.len()
    }
}

/// Whether a patch may change the value at a path. May return a false positive, never a false negative.
fn touches(patch: &Patch, path: &[Segment]) -> bool {
    match (patch, path) {
        (Patch::Same, _) => false,
        (Patch::Object(patch), [Segment::Key(key), rest @ ..]) => {
            let changed = patch.change.iter().find(|(known, _)| known == key);
            changed.is_some_and(|(_, patch)| touches(patch, rest))
                || patch.remove.contains(key)
                || patch.add.iter().any(|(_, known, _)| known == key)
        }
        (Patch::List(edits), [Segment::Index(index), rest @ ..]) => {
            touches_element(edits, *index, rest)
        }
        _ => true,
    }
}

/// Elements keep their indices up to the first insertion or removal.
fn touches_element(edits: &[ListEdit], index: usize, rest: &[Segment]) -> bool {
    let mut left = index;
    for edit in edits {
        match edit {
            ListEdit::Keep(count) if left < *count => return false,
            ListEdit::Keep(count) => left -= count,
            ListEdit::Change(patch) if left == 0 => return touches(patch, rest),
            ListEdit::Change(_) => left -= 1,
            ListEdit::Remove(_) | ListEdit::Add(_) => return true,
        }
    }
    // The index is past the end, before and after.
    false
}
