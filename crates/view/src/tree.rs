//! A frame as rows of a tree, with marks for changes since the previous frame.
//!
//! The number of rows is bounded: a branch with many children shows the first and the last ones, and more in slices of
//! [`SLICE`]. Once there are [`OPENED_ROWS`] rows, branches are closed by default. Long values are cut. The rows that
//! a reader opened and closed ([`Expansion`]) are stored by path, so they stay the same while the selected step
//! changes.

mod change;
mod keys;
mod step_frames;
mod walk;

use std::collections::HashMap;
use std::ops::Range;

use volary_core::json::Text;
use volary_core::{Frame, Json};
use volary_episode::diff::{Diff, diff};

use super::pretty::TokenKind;
pub use keys::TreeReaction;
pub use step_frames::StepFrames;
use walk::TreeWalk;

/// The number of children that "Show more" adds.
pub const SLICE: usize = 100;
/// A branch with at most this many children shows all of them.
const FEW: usize = 30;
/// A branch with more children shows this many at its start,
const FIRST: usize = 10;
/// and this many at its end, where lists grow.
const LAST: usize = 10;
/// From this number of rows on, branches are closed by default.
const OPENED_ROWS: usize = 300;
/// Branches down to this level are open unless a reader closed them. Level 1 is the frame's `state`.
const OPEN_LEVELS: usize = 2;

/// The rows that a reader opened and closed, by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expansion {
    open: HashMap<String, bool>,
    slices: HashMap<String, usize>,
}

impl Expansion {
    /// Opens or closes a row.
    pub fn set(&mut self, path: &str, open: bool) {
        self.open.insert(path.to_owned(), open);
    }

    /// Shows one more slice of the children of a row.
    pub fn show_more(&mut self, path: &str) {
        *self.slices.entry(path.to_owned()).or_default() += 1;
    }

    /// The children of a row that are hidden.
    fn hidden(&self, path: &str, count: usize) -> Range<usize> {
        let slices = self.slices.get(path).copied().unwrap_or_default();
        let (start, end) = (FIRST + SLICE * slices, count.saturating_sub(LAST));
        if count <= FEW || start >= end {
            return count + 1..count + 1;
        }
        start..end
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// The JSON pointer of the value. Unique among the rows.
    pub path: String,
    /// The level, counted from 1.
    pub level: usize,
    /// The key or index for display.
    pub name: String,
    /// The value.
    pub kind: RowKind,
    /// The change mark.
    pub mark: Mark,
    /// The position among its siblings, counted from 1.
    pub position: usize,
    /// The number of siblings, including itself.
    pub siblings: usize,
}

impl TreeRow {
    /// Whether it can be opened and closed, and its state.
    pub fn open(&self) -> Option<bool> {
        match &self.kind {
            RowKind::Branch { open, .. } | RowKind::LongText { open, .. } => Some(*open),
            RowKind::Leaf { .. } | RowKind::More { .. } => None,
        }
    }
}

/// The content of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A value on one line.
    Leaf {
        kind: TokenKind,
        /// Its formatted text.
        text: String,
    },
    /// A text too long for a line.
    LongText {
        /// The whole text, shown in parts.
        text: Text,
        /// Its start, on one line.
        preview: String,
        /// Whether the whole text is shown.
        open: bool,
    },
    /// A list or object that is not empty.
    Branch {
        /// Whether its children follow.
        open: bool,
        /// The number of children with a noun.
        count: String,
        /// A preview on one line.
        preview: String,
    },
    /// More children than are shown.
    More {
        /// The branch.
        parent: String,
        /// The number of hidden children.
        hidden: usize,
    },
}

/// The change mark of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Unchanged.
    Same,
    /// New.
    Added,
    /// Removed; shown at its previous position.
    Removed,
    Changed {
        /// The previous value on one line.
        was: String,
    },
    /// A part of a text changed.
    Edited {
        /// The removed text, cut.
        removed: String,
        /// The new text, cut.
        added: String,
    },
    /// A descendant changed.
    Inside,
}

/// The changes between two frames.
#[derive(Clone, Debug)]
pub struct FrameChanges {
    state: Diff,
    info: Diff,
    /// Marks the changed part of a text. A pointer, because the first load of the page draws trees without the code that
    /// compares.
    edited: change::MarkEdited,
}

impl FrameChanges {
    /// Compares two frames. Linear in their size, and the only expensive part.
    pub fn between(previous: &Frame, frame: &Frame) -> Self {
        FrameChanges {
            state: diff(&previous.state, &frame.state),
            info: diff(&previous.info, &frame.info),
            edited: change::edited,
        }
    }
}

/// The rows of a frame. `previous` is the previous frame with the changes since.
pub fn rows(
    frame: &Frame,
    previous: Option<(&Frame, &FrameChanges)>,
    expansion: &Expansion,
) -> Vec<TreeRow> {
    let mut roots = Vec::with_capacity(2);
    for (name, value, before) in [
        (
            "state",
            &frame.state,
            previous.map(|(frame, changes)| (&frame.state, &changes.state)),
        ),
        (
            "info",
            &frame.info,
            previous.map(|(frame, changes)| (&frame.info, &changes.info)),
        ),
    ] {
        let nothing = is_nothing(value) && before.is_none_or(|(old, _)| is_nothing(old));
        if !nothing {
            roots.push((name, value, before));
        }
    }
    let siblings = roots.len();
    let edited = previous.map(|(_, changes)| changes.edited);
    let mut walk = TreeWalk::new(expansion, edited);
    for (place, (name, value, before)) in roots.into_iter().enumerate() {
        walk.root(name, value, before, (place + 1, siblings));
    }
    walk.rows
}

/// Whether a part of a frame is empty and needs no row.
fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
