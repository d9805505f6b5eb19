//! Patches: deltas between JSON values. Small if little changed, so that a state that grows by a line per step costs a
//! line per step.
//!
//! Invariants: applying the patch from `a` to `b` to `a` results in exactly `b`; applying it to a value that it does
//! not fit is an error. A patch weighs no more than the new value.

mod list;
mod object;

use volary_core::json::{Json, Key, Text};

use crate::diff::text::common_ends;
use crate::diff::{Diff, diff};
use list::{apply_edits, edits_weight, list_edits};

/// The delta from an old value to a new one.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Patch {
    /// The value is unchanged.
    #[default]
    Same,
    /// The value is replaced.
    Set(Json),
    /// A part of a text is replaced.
    Splice(Splice),
    /// Members of an object are changed, removed and added, in this order.
    Object(ObjectPatch),
    /// A list is edited from front to back; the edits cover it completely.
    List(Vec<ListEdit>),
}

/// A replaced part of a text. Offsets are in bytes, at character boundaries.
#[derive(Clone, Debug, PartialEq)]
pub struct Splice {
    /// The length of the unchanged prefix.
    pub start: usize,
    /// The length of the removed part.
    pub cut: usize,
    /// The length of the unchanged suffix.
    pub end: usize,
    /// The replacement of the removed part.
    pub insert: Text,
}

/// The changes of an object's members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectPatch {
    pub change: Vec<(Key, Patch)>,
    pub remove: Vec<Key>,
    /// Added members with their indices in the new object, in ascending order.
    pub add: Vec<(usize, Key, Json)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ListEdit {
    /// Skips unchanged elements.
    Keep(usize),
    /// Removes elements.
    Remove(usize),
    /// Inserts elements.
    Add(Vec<Json>),
    /// Changes the next element.
    Change(Patch),
}

/// The depth from which a changed value is replaced as a whole: the JSON of a patch nests deeper than the value, and
/// readers have limits.
const DEEPEST: usize = 64;

/// Error applying a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The patch was made for another value.
    #[error("A change does not match the state before it: it was made for a different {expected}.")]
    Misfit {
        /// The expected type of value.
        expected: &'static str,
    },
    /// Applying the patch would copy more than is allowed.
    #[error("A change of the state exceeds the limit of memory or time.")]
    TooLarge,
}

/// The remaining number of bytes that applying patches may copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance(u64);

/// The cost of moving a member of an object or an element of a list, in bytes: it is higher than copying a text.
const ELEMENT: u64 = 96;

impl Allowance {
    pub const UNLIMITED: Allowance = Allowance(u64::MAX);

    pub const fn of(bytes: u64) -> Allowance {
        Allowance(bytes)
    }

    /// The bytes used since `before`.
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

/// The size of a value, in units of about 24 bytes. Patches and values use the same measure, to decide when a whole
/// value is better than a delta.
pub fn weight(value: &Json) -> usize {
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

/// Whether a value's weight exceeds the limit; stops as soon as that is known.
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
    /// The patch that turns `old` into `new`.
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

    /// Applies the patch in place. On an error the value is left in an unspecified state.
    pub fn apply(&self, value: &mut Json) -> Result<(), PatchError> {
        self.apply_within(value, &mut { Allowance::UNLIMITED })
    }

    /// Like [`Patch::apply`], but limits the copied bytes. Data that stays in place and data of the patch itself is not
    /// counted.
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

    /// The cost to store and apply the patch, in the unit of [`weight`].
    pub(crate) fn weight(&self) -> usize {
        match self {
            Patch::Same => 0,
            Patch::Set(value) => weight(value),
            // Copying the unchanged parts is cheap, but not free.
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
