//! Patches: how to make a newer JSON value out of an older one. Small where little changed, so
//! that a state that grows by a line a step costs a line a step.
//!
//! Invariants: the patch from `a` to `b` makes exactly `b` out of `a`; it makes nothing but
//! an error out of a value that it does not fit. It weighs no more than the new value does.

mod list;
mod object;

use volary_core::json::{Json, Key, Text};

use crate::diff::text::common_ends;
use crate::diff::{Diff, diff};
use list::{apply_edits, edits_weight, list_edits};

/// How to make a value out of an older one.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Patch {
    /// It stays.
    #[default]
    Same,
    /// This value instead.
    Set(Json),
    /// A text with a part exchanged.
    Splice(Splice),
    /// An object with some members changed, gone or new, in this order.
    Object(ObjectPatch),
    /// A list, edited from front to back; the edits cover it to its end.
    List(Vec<ListEdit>),
}

/// A part of a text exchanged. In bytes, and only between characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Splice {
    /// How many stay at the front.
    pub start: usize,
    /// How many go after them.
    pub cut: usize,
    /// How many stay at the end.
    pub end: usize,
    /// What comes in place of the cut.
    pub insert: Text,
}

/// Changed members of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectPatch {
    /// Members that change.
    pub change: Vec<(Key, Patch)>,
    /// Members that go.
    pub remove: Vec<Key>,
    /// Members that come, each at its place in the new object, in ascending order.
    pub add: Vec<(usize, Key, Json)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ListEdit {
    /// This many elements stay.
    Keep(usize),
    /// This many elements are removed.
    Remove(usize),
    /// These come.
    Add(Vec<Json>),
    /// The next element changes.
    Change(Patch),
}

/// Changes further down replace the value at this depth: the JSON of a patch nests deeper than
/// the value, and readers have limits.
const DEEPEST: usize = 64;

/// Why a patch could not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// It was made for another value.
    #[error("A change does not match the state before it: it was made for a different {expected}.")]
    Misfit {
        /// What it was made for.
        expected: &'static str,
    },
    /// Applying it would copy more than is allowed.
    #[error("A change of the state exceeds the limit of memory or time.")]
    TooLarge,
}

/// What applying patches may still copy, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance(u64);

/// What moving a member of an object or an element of a list counts for, in bytes: it costs more than copying a text.
const ELEMENT: u64 = 96;

impl Allowance {
    pub const UNLIMITED: Allowance = Allowance(u64::MAX);

    pub const fn of(bytes: u64) -> Allowance {
        Allowance(bytes)
    }

    /// How much of it was used since it was `before`.
    pub const fn used_since(self, before: Allowance) -> u64 {
        before.0.saturating_sub(self.0)
    }

    fn take(&mut self, bytes: u64) -> Result<(), PatchError> {
        self.0 = self.0.checked_sub(bytes).ok_or(PatchError::TooLarge)?;
        Ok(())
    }

    fn take_elements(&mut self, count: usize) -> Result<(), PatchError> {
        self.take(ELEMENT.saturating_mul(count as u64))
    }
}

const fn misfit(expected: &'static str) -> PatchError {
    PatchError::Misfit { expected }
}

/// How much a value holds: about 24 bytes each. Patches and values are weighed alike, to say when
/// a whole value is better than a change.
pub(crate) fn weight(value: &Json) -> usize {
    1 + match value {
        Json::Text(text) => text_weight(text),
        Json::List(list) => list.iter().map(weight).sum(),
        Json::Object(object) => object.values().map(|value| 1 + weight(value)).sum(),
        _ => 0,
    }
}

fn text_weight(text: &str) -> usize {
    text.len() / 24
}

/// Whether a value weighs more than the limit; looks no further than needed.
fn outweighs(value: &Json, limit: usize) -> bool {
    fn left(value: &Json, limit: usize) -> Option<usize> {
        let rest = limit.checked_sub(1)?;
        match value {
            Json::Text(text) => rest.checked_sub(text_weight(text)),
            Json::List(list) => list.iter().try_fold(rest, |rest, value| left(value, rest)),
            Json::Object(object) => object
                .values()
                .try_fold(rest, |rest, value| left(value, rest.checked_sub(1)?)),
            _ => Some(rest),
        }
    }
    left(value, limit).is_none()
}

impl Patch {
    /// The patch that makes `new` out of `old`.
    pub fn between(old: &Json, new: &Json) -> Patch {
        Patch::of(&diff(old, new), old, new, 0)
    }

    fn of(diff: &Diff, old: &Json, new: &Json, depth: usize) -> Patch {
        if depth > DEEPEST && !diff.is_same() {
            return Patch::Set(new.clone());
        }
        let depth = depth + 1;
        let patch = match (diff, old, new) {
            (Diff::Same, ..) => return Patch::Same,
            (Diff::Text, Json::Text(old), Json::Text(new)) => splice(old, new),
            (Diff::Object(diff), Json::Object(old), Json::Object(new)) if !diff.reordered => {
                Patch::Object(ObjectPatch::of(diff, old, new, depth))
            }
            (Diff::List(diff), Json::List(old), Json::List(new)) => {
                Patch::List(list_edits(diff, old, new, depth))
            }
            _ => return Patch::Set(new.clone()),
        };
        if outweighs(new, patch.weight().saturating_sub(1)) {
            patch
        } else {
            Patch::Set(new.clone())
        }
    }

    /// Makes the new value of the old one. On an error the value is spoilt.
    pub fn apply(&self, value: &mut Json) -> Result<(), PatchError> {
        self.apply_within(value, &mut { Allowance::UNLIMITED })
    }

    /// [`Patch::apply`] that copies no more than is allowed. What stays in place and what the patch itself holds
    /// is not counted.
    pub(crate) fn apply_within(
        &self,
        value: &mut Json,
        allowance: &mut Allowance,
    ) -> Result<(), PatchError> {
        match self {
            Patch::Same => Ok(()),
            Patch::Set(new) => {
                *value = new.clone();
                Ok(())
            }
            Patch::Splice(splice) => {
                let Json::Text(text) = value else {
                    return Err(misfit("text"));
                };
                allowance.take((text.len() + splice.insert.len()) as u64)?;
                *text = splice.applied(text).ok_or(misfit("text"))?;
                Ok(())
            }
            Patch::Object(patch) => match value {
                Json::Object(object) => patch.apply(object, allowance),
                _ => Err(misfit("object")),
            },
            Patch::List(edits) => match value {
                Json::List(list) => apply_edits(edits, list, allowance),
                _ => Err(misfit("list")),
            },
        }
    }

    /// What it costs to keep and to apply, in the measure of [`weight`].
    pub(crate) fn weight(&self) -> usize {
        match self {
            Patch::Same => 0,
            Patch::Set(value) => weight(value),
            // Copying what stays is cheap, but not free.
            Patch::Splice(splice) => {
                2 + text_weight(&splice.insert) + (splice.start + splice.end) / 4096
            }
            Patch::Object(patch) => patch.weight(),
            Patch::List(edits) => edits_weight(edits),
        }
    }
}

fn splice(old: &str, new: &Text) -> Patch {
    let (start, end) = common_ends(old, new);
    Patch::Splice(Splice {
        start,
        cut: old.len() - start - end,
        end,
        insert: new[start..new.len() - end].into(),
    })
}

impl Splice {
    fn applied(&self, text: &str) -> Option<Text> {
        let after = self.start.checked_add(self.cut)?;
        let end = text.get(after..)?;
        let start = text.get(..self.start)?;
        (end.len() == self.end).then(|| [start, &self.insert, end].concat().into())
    }
}
