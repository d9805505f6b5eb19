//! Patches: how to make a newer JSON value out of an older one. Small where little changed, so
//! that a state that grows by a line a step costs a line a step.
//!
//! What always holds: the patch from `a` to `b` makes exactly `b` out of `a`; it makes nothing but
//! an error out of a value that it does not fit. It weighs no more than the new value does.

use volary_core::json::{Json, Key, Object, Text};

use crate::diff::text::common_ends;
use crate::diff::{Diff, ListDiff, ObjectDiff, RunKind, diff};

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

/// An edit of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum ListEdit {
    /// So many elements stay.
    Keep(usize),
    /// So many elements go.
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
    #[error("A change does not fit the state before it: it was made for a different {expected}.")]
    Misfit {
        /// What it was made for.
        expected: &'static str,
    },
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
                *text = splice.applied(text).ok_or(misfit("text"))?;
                Ok(())
            }
            Patch::Object(patch) => match value {
                Json::Object(object) => patch.apply(object),
                _ => Err(misfit("object")),
            },
            Patch::List(edits) => match value {
                Json::List(list) => apply_edits(edits, list),
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

impl ObjectPatch {
    fn of(diff: &ObjectDiff, old: &Object, new: &Object, depth: usize) -> ObjectPatch {
        let mut patch = ObjectPatch::default();
        let mut kept = old
            .iter()
            .enumerate()
            .filter(|(place, _)| diff.removed.binary_search(place).is_err())
            .map(|(_, pair)| pair);
        let mut changed = diff.members.iter().peekable();
        for (place, (key, value)) in new.iter().enumerate() {
            let member = changed.next_if(|member| member.place == place);
            match member.map(|member| &member.change) {
                Some(None) => patch.add.push((place, key.clone(), value.clone())),
                // The order was kept, so the old members come along one by one.
                stays => {
                    if let (Some((_, before)), Some(Some(change))) = (kept.next(), stays) {
                        let change = Patch::of(change, before, value, depth);
                        patch.change.push((key.clone(), change));
                    }
                }
            }
        }
        let keys: Vec<&Key> = old.keys().collect();
        patch.remove = diff
            .removed
            .iter()
            .map(|&place| keys[place].clone())
            .collect();
        patch
    }

    fn apply(&self, object: &mut Object) -> Result<(), PatchError> {
        let mut pairs: Vec<(Key, Json)> = std::mem::take(object).into_iter().collect();
        let mut finder = Finder::default();
        for (key, patch) in &self.change {
            let place = finder.find(&pairs, key)?;
            patch.apply(&mut pairs[place].1)?;
        }
        if !self.remove.is_empty() {
            let mut finder = Finder::default();
            let mut gone = vec![false; pairs.len()];
            for key in &self.remove {
                gone[finder.find(&pairs, key)?] = true;
            }
            let mut gone = gone.into_iter();
            pairs.retain(|_| !gone.next().unwrap_or_default());
        }
        *object = if self.add.is_empty() {
            Object::from_distinct(pairs)
        } else {
            self.added(pairs)?
        };
        Ok(())
    }

    fn added(&self, pairs: Vec<(Key, Json)>) -> Result<Object, PatchError> {
        let length = pairs.len() + self.add.len();
        let mut all = Vec::with_capacity(length);
        let mut pairs = pairs.into_iter();
        for (place, key, value) in &self.add {
            let missing = place.checked_sub(all.len()).ok_or(misfit("object"))?;
            all.extend(pairs.by_ref().take(missing));
            if all.len() != *place {
                return Err(misfit("object"));
            }
            all.push((key.clone(), value.clone()));
        }
        all.extend(pairs);
        let object = Object::from_pairs(all);
        // A key that was there already does not come.
        (object.len() == length)
            .then_some(object)
            .ok_or(misfit("object"))
    }

    fn weight(&self) -> usize {
        let change: usize = self
            .change
            .iter()
            .map(|(_, patch)| 1 + patch.weight())
            .sum();
        let add: usize = self.add.iter().map(|(_, _, value)| 1 + weight(value)).sum();
        1 + change + add + self.remove.len()
    }
}

/// Finds members. Those of a patch come in the order of the object, so the search goes on where it
/// left off. A file that somebody sorted may need to start anew, but not for ever.
#[derive(Default)]
struct Finder {
    next: usize,
    restarts: usize,
}

impl Finder {
    fn find(&mut self, pairs: &[(Key, Json)], key: &str) -> Result<usize, PatchError> {
        const MOST_RESTARTS: usize = 1000;
        let within = |from: usize, to: usize| {
            let places = pairs.get(from..to)?.iter();
            let found = places.into_iter().position(|(known, _)| known == key)?;
            Some(from + found)
        };
        let place = within(self.next, pairs.len()).or_else(|| {
            self.restarts += 1;
            within(0, self.next).filter(|_| self.restarts < MOST_RESTARTS)
        });
        let place = place.ok_or(misfit("object"))?;
        self.next = place + 1;
        Ok(place)
    }
}

fn list_edits(diff: &ListDiff, old: &[Json], new: &[Json], depth: usize) -> Vec<ListEdit> {
    let runs = diff.runs.iter();
    runs.map(|run| match &run.kind {
        RunKind::Same => ListEdit::Keep(run.length),
        RunKind::Removed => ListEdit::Remove(run.length),
        RunKind::Added => ListEdit::Add(new[run.new..run.new + run.length].to_vec()),
        RunKind::Changed(diff) => {
            ListEdit::Change(Patch::of(diff, &old[run.old], &new[run.new], depth))
        }
    })
    .collect()
}

/// What stays in place is not touched: only from the first element that comes or goes is the list
/// made anew.
fn apply_edits(edits: &[ListEdit], list: &mut Vec<Json>) -> Result<(), PatchError> {
    let mut place = 0;
    let mut edits = edits.iter();
    while let Some(edit) = edits.as_slice().first() {
        match edit {
            ListEdit::Keep(count) => place = within(list, place, *count)?,
            ListEdit::Change(patch) => {
                patch.apply(list.get_mut(place).ok_or(misfit("list"))?)?;
                place += 1;
            }
            ListEdit::Remove(_) | ListEdit::Add(_) => break,
        }
        edits.next();
    }
    let tail = list.split_off(within(list, place, 0)?);
    let mut tail = tail.into_iter();
    for edit in edits {
        match edit {
            ListEdit::Keep(count) => {
                enough(&tail, *count)?;
                list.extend(tail.by_ref().take(*count));
            }
            ListEdit::Remove(count) => {
                enough(&tail, *count)?;
                tail.by_ref().take(*count).for_each(drop);
            }
            ListEdit::Add(values) => list.extend_from_slice(values),
            ListEdit::Change(patch) => {
                let mut element = tail.next().ok_or(misfit("list"))?;
                patch.apply(&mut element)?;
                list.push(element);
            }
        }
    }
    if tail.len() > 0 {
        return Err(misfit("list"));
    }
    Ok(())
}

fn within(list: &[Json], place: usize, count: usize) -> Result<usize, PatchError> {
    place
        .checked_add(count)
        .filter(|end| *end <= list.len())
        .ok_or(misfit("list"))
}

fn enough(tail: &std::vec::IntoIter<Json>, count: usize) -> Result<(), PatchError> {
    if count > tail.len() {
        return Err(misfit("list"));
    }
    Ok(())
}

fn edits_weight(edits: &[ListEdit]) -> usize {
    let mut weight_of_all = 1;
    let mut moves = false;
    for edit in edits {
        weight_of_all += 1 + match edit {
            // Elements that move are much cheaper than new ones.
            ListEdit::Keep(count) if moves => count / 256,
            ListEdit::Keep(_) => 0,
            ListEdit::Remove(_) => {
                moves = true;
                0
            }
            ListEdit::Add(values) => {
                moves = true;
                values.iter().map(weight).sum()
            }
            ListEdit::Change(patch) => patch.weight(),
        };
    }
    weight_of_all
}
