//! The difference between two JSON values, as a shape that is walked together with both values. It contains
//! positions and no values, so the diff of a large state with few changes is small.
//!
//! - `compare`: builds the shape. Linear in the size of the values.
//! - `align`: pairs the elements of two lists.
//! - [`text`]: the difference within a text.
//!
//! Invariants: only [`identical`] values count as equal, so a patch made from a diff reproduces the new value
//! bit for bit, including the order of keys.

mod align;
mod compare;
pub mod text;

pub use compare::{diff, identical};
pub use text::{TextDifference, text_difference};

use volary_core::json::Json;

/// The change from an old value to a new one.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Diff {
    /// Nothing changed.
    #[default]
    Same,
    /// Replaced by another value.
    Replaced,
    /// Both are texts and differ: see [`text_difference`] for where.
    Text,
    /// Both are objects with a difference inside.
    Object(ObjectDiff),
    /// Both are lists with a difference inside.
    List(ListDiff),
}

/// The changes of an object's members. Unchanged members are not listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectDiff {
    /// Added or changed members, by index in the new object.
    pub members: Vec<MemberDiff>,
    /// The indices of removed members in the old object.
    pub removed: Vec<usize>,
    /// Whether the order of the remaining members changed.
    pub reordered: bool,
}

/// An added or changed member.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberDiff {
    /// The index in the new object.
    pub index: usize,
    /// The change; `None` for an added member.
    pub change: Option<Diff>,
}

/// The changes of a list: runs of elements, in order, that cover both lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListDiff {
    pub runs: Vec<Run>,
}

/// Neighbouring elements with the same kind of change.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The kind of change.
    pub kind: RunKind,
    /// The start in the old list (the insertion point of added elements).
    pub old: usize,
    /// The start in the new list (the position that removed elements would have).
    pub new: usize,
    /// The number of elements; one if changed.
    pub length: usize,
}

/// The kind of change of list elements.
#[derive(Clone, Debug, PartialEq)]
pub enum RunKind {
    /// The elements are equal.
    Same,
    /// The elements are only in the new list.
    Added,
    /// The elements are only in the old list.
    Removed,
    /// The element changed.
    Changed(Diff),
}

/// The change of a child of the new value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Child<'a> {
    /// Nothing changed in it or its descendants.
    Same,
    /// It was added, with all its descendants.
    Added,
    /// It changed.
    Changed(&'a Diff),
}

/// A removed child of the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The index in the old value.
    pub old: usize,
    /// The index in the new value before which it would be.
    pub before: usize,
}

/// A change marker for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing changed.
    Same,
    /// The value was replaced.
    Changed,
    /// A descendant changed.
    Inside,
}

impl Diff {
    /// Whether nothing changed.
    pub fn is_same(&self) -> bool {
        matches!(self, Diff::Same)
    }

    /// The marker of the value itself.
    pub fn mark(&self) -> Mark {
        match self {
            Diff::Same => Mark::Same,
            Diff::Replaced | Diff::Text => Mark::Changed,
            Diff::Object(_) | Diff::List(_) => Mark::Inside,
        }
    }

    /// The change of the child at an index of the new value: the n-th member of an object, the n-th element of a list.
    /// In a replaced value every child counts as added.
    pub fn child(&self, index: usize) -> Child<'_> {
        match self {
            Diff::Same => Child::Same,
            Diff::Replaced | Diff::Text => Child::Added,
            Diff::Object(object) => object.member(index),
            Diff::List(list) => list.element(index),
        }
    }

    /// The removed children of the old value, in order. None for a replaced value, which is removed as a whole.
    pub fn removed(&self) -> Vec<Removed> {
        match self {
            Diff::Same | Diff::Replaced | Diff::Text => Vec::new(),
            Diff::Object(object) => object.removed_members(),
            Diff::List(list) => list.removed_elements(),
        }
    }
}

impl ObjectDiff {
    fn member(&self, index: usize) -> Child<'_> {
        match self
            .members
            .binary_search_by_key(&index, |member| member.index)
        {
            Err(_) => Child::Same,
            Ok(found) => self.members[found]
                .change
                .as_ref()
                .map_or(Child::Added, Child::Changed),
        }
    }

    /// The new position is the old one, minus the removed and plus the added members before it (for objects
    /// that kept their order).
    fn removed_members(&self) -> Vec<Removed> {
        let mut added = self
            .members
            .iter()
            .filter(|member| member.change.is_none())
            .map(|member| member.index)
            .peekable();
        let mut more = 0;
        self.removed
            .iter()
            .enumerate()
            .map(|(less, &old)| {
                while added.next_if(|&index| index < old - less + more).is_some() {
                    more += 1;
                }
                Removed {
                    old,
                    before: old - less + more,
                }
            })
            .collect()
    }
}

impl ListDiff {
    fn element(&self, index: usize) -> Child<'_> {
        let after = self.runs.partition_point(|run| run.new <= index);
        // Removed runs have no extent in the new list, so the last run before `after` that is not removed contains the
        // index.
        let run = self.runs[..after]
            .iter()
            .rfind(|run| run.kind != RunKind::Removed);
        match run.map(|run| &run.kind) {
            None | Some(RunKind::Same | RunKind::Removed) => Child::Same,
            Some(RunKind::Added) => Child::Added,
            Some(RunKind::Changed(diff)) => Child::Changed(diff),
        }
    }

    fn removed_elements(&self) -> Vec<Removed> {
        self.runs
            .iter()
            .filter(|run| run.kind == RunKind::Removed)
            .flat_map(|run| {
                (run.old..run.old + run.length).map(|old| Removed {
                    old,
                    before: run.new,
                })
            })
            .collect()
    }
}

/// A segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A member of an object.
    Key(volary_core::json::Key),
    /// An element of a list.
    Index(usize),
}

/// One change, with its path: in the old value for a removal, otherwise in the new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub path: Vec<Segment>,
    /// The old value; `None` if it was added.
    pub old: Option<Json>,
    /// The new value; `None` if it was removed.
    pub new: Option<Json>,
}

/// The kind of change at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The value was added.
    Added,
    /// The value was removed.
    Removed,
    /// The value was replaced.
    Changed,
}

/// The individual changes, at most `limit` of them, in the order of the new value.
pub fn differences(old: &Json, new: &Json, limit: usize) -> Vec<Difference> {
    let mut lister = Lister {
        path: Vec::new(),
        found: Vec::new(),
        limit,
    };
    lister.list(&diff(old, new), old, new);
    lister.found
}

struct Lister {
    path: Vec<Segment>,
    found: Vec<Difference>,
    limit: usize,
}

impl Lister {
    fn add(&mut self, old: Option<&Json>, new: Option<&Json>) {
        if self.found.len() < self.limit {
            self.found.push(Difference {
                path: self.path.clone(),
                old: old.cloned(),
                new: new.cloned(),
            });
        }
    }

    fn list(&mut self, diff: &Diff, old: &Json, new: &Json) {
        match (diff, old, new) {
            (Diff::Object(object), Json::Object(old), Json::Object(new)) => {
                let pairs: Vec<_> = new.iter().collect();
                for member in &object.members {
                    let Some((key, value)) = pairs.get(member.index) else {
                        continue;
                    };
                    self.path.push(Segment::Key((*key).clone()));
                    match (&member.change, old.get(key)) {
                        (Some(change), Some(before)) => self.list(change, before, value),
                        _ => self.add(None, Some(value)),
                    }
                    self.path.pop();
                }
                let keys: Vec<_> = old.keys().collect();
                for key in object.removed.iter().filter_map(|&index| keys.get(index)) {
                    self.path.push(Segment::Key((*key).clone()));
                    self.add(old.get(key), None);
                    self.path.pop();
                }
            }
            (Diff::List(list), Json::List(old), Json::List(new)) => {
                for run in &list.runs {
                    self.list_run(run, old, new);
                }
            }
            (Diff::Same, ..) => {}
            _ => self.add(Some(old), Some(new)),
        }
    }

    fn list_run(&mut self, run: &Run, old: &[Json], new: &[Json]) {
        let (start, is_new) = match &run.kind {
            RunKind::Same => return,
            RunKind::Changed(diff) => {
                if let (Some(old), Some(value)) = (old.get(run.old), new.get(run.new)) {
                    self.path.push(Segment::Index(run.new));
                    self.list(diff, old, value);
                    self.path.pop();
                }
                return;
            }
            RunKind::Added => (run.new, true),
            RunKind::Removed => (run.old, false),
        };
        for index in (start..start + run.length).take(self.limit - self.found.len().min(self.limit))
        {
            self.path.push(Segment::Index(index));
            if is_new {
                self.add(None, new.get(index))
            } else {
                self.add(old.get(index), None)
            }
            self.path.pop();
        }
    }
}
