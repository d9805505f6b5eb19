//! A frame as rows of a tree, with marks of what changed since the frame before.
//!
//! The number of rows is bounded: a branch with many children shows the first and the last ones, and more in slices of
//! [`SLICE`]. Once there are [`OPENED_ROWS`] rows, branches are closed by default. Long values are cut. What a reader
//! opened and closed ([`Expansion`]) is stored by path, so it stays the same while the selected step changes.

mod change;
mod step_frames;
mod walk;

use std::collections::HashMap;
use std::ops::Range;

use volary_core::json::Text;
use volary_core::{Frame, Json};
use volary_trace::diff::{Diff, diff};

use super::pretty::TokenKind;
use crate::later::Later;
pub use step_frames::StepFrames;
use walk::Walk;

/// The number of children that "Show more" adds.
pub const SLICE: usize = 100;
/// A branch with at most this many children shows all of them.
const FEW: usize = 30;
/// A branch with more children shows this many at its start,
const FIRST: usize = 10;
/// and this many at its end, where lists grow.
const LAST: usize = 10;
/// Once there are this many rows, only readers open branches.
const OPENED_ROWS: usize = 300;
/// Branches down to this level are open unless a reader closed them. Level 1 is the frame's `state`.
const OPEN_LEVELS: usize = 2;

/// What a reader opened and closed, by the path of the row.
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

    /// Which of the children of a row are not shown.
    fn hidden(&self, path: &str, count: usize) -> Range<usize> {
        let slices = self.slices.get(path).copied().unwrap_or_default();
        let (start, end) = (FIRST + SLICE * slices, count.saturating_sub(LAST));
        if count <= FEW || start >= end {
            return count + 1..count + 1;
        }
        start..end
    }
}

/// A row of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where the value stands, as a JSON pointer. Unique among the rows.
    pub path: String,
    /// The level, from 1.
    pub level: usize,
    /// The key or the place, for people.
    pub name: String,
    /// What stands there.
    pub kind: RowKind,
    /// What changed.
    pub mark: Mark,
    /// The place among its siblings, from 1.
    pub position: usize,
    /// How many siblings there are, itself included.
    pub siblings: usize,
}

impl Row {
    /// Whether it can be opened and closed, and is open.
    pub fn open(&self) -> Option<bool> {
        match &self.kind {
            RowKind::Branch { open, .. } | RowKind::LongText { open, .. } => Some(*open),
            RowKind::Leaf { .. } | RowKind::More { .. } => None,
        }
    }
}

/// What stands in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A value on one line.
    Leaf {
        /// What it is.
        kind: TokenKind,
        /// It, readable.
        text: String,
    },
    /// A text too long for a line.
    LongText {
        /// The whole of it; shown in parts.
        text: Text,
        /// Its start, on one line.
        preview: String,
        /// Whether it is shown.
        open: bool,
    },
    /// A list or an object with something in it.
    Branch {
        /// Whether its children follow.
        open: bool,
        /// How many there are, with a noun.
        count: String,
        /// What is in it, on one line.
        preview: String,
    },
    /// There are more children than are shown.
    More {
        /// The branch.
        parent: String,
        /// How many are not shown.
        hidden: usize,
    },
}

/// What changed in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    Same,
    /// It is new.
    Added,
    /// It is gone; shown where it stood.
    Removed,
    /// Another value stood here before.
    Changed {
        /// The former value, on one line.
        was: String,
    },
    /// A part of a text changed.
    Edited {
        /// What is gone, cut.
        removed: String,
        /// What is new, cut.
        added: String,
    },
    /// Something within changed.
    Inside,
}

/// What changed from one frame to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    state: Diff,
    info: Diff,
}

/// [`Changes::between`].
pub static CHANGES: Later<fn(&Frame, &Frame) -> Changes> = Later::new();

pub(crate) fn install() {
    CHANGES.set(Changes::between);
    change::install();
}

impl Changes {
    /// What changed. The one costly part: linear in the size of the frames.
    pub fn between(previous: &Frame, frame: &Frame) -> Self {
        Changes {
            state: diff(&previous.state, &frame.state),
            info: diff(&previous.info, &frame.info),
        }
    }
}

/// The rows of a frame. `previous` is the frame before it with what changed since.
pub fn rows(
    frame: &Frame,
    previous: Option<(&Frame, &Changes)>,
    expansion: &Expansion,
) -> Vec<Row> {
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
    let mut walk = Walk::new(expansion);
    for (place, (name, value, before)) in roots.into_iter().enumerate() {
        walk.root(name, value, before, (place + 1, siblings));
    }
    walk.rows
}

/// Whether a part of a frame says nothing, so that it needs no row.
fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
