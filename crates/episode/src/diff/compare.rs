//! Computes diffs. Shared texts are known to be equal without a comparison, which is the usual case between two frames
//! of one environment.

use std::collections::HashMap;
use std::sync::Arc;

use volary_core::json::{Json, Object};

use super::align::align;
use super::{Diff, ListDiff, MemberDiff, ObjectDiff};

/// The diff from one value to the other.
pub fn diff(old: &Json, new: &Json) -> Diff {
    match (old, new) {
        (Json::Object(old), Json::Object(new)) => diff_objects(old, new),
        (Json::List(old), Json::List(new)) => {
            let runs = align(old, new);
            match runs.as_slice() {
                [] => Diff::Same,
                [run] if run.kind == super::RunKind::Same => Diff::Same,
                _ => Diff::List(ListDiff { runs }),
            }
        }
        _ if identical(old, new) => Diff::Same,
        (Json::Text(_), Json::Text(_)) => Diff::Text,
        _ => Diff::Replaced,
    }
}

/// Whether two values are equal in every respect that a file or a reader could distinguish: the order of keys counts,
/// `0.0` is not `-0.0`, `NaN` is `NaN`.
pub fn identical(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Null, Json::Null) => true,
        (Json::Bool(left), Json::Bool(right)) => left == right,
        (Json::Integer(left), Json::Integer(right)) => left == right,
        (Json::Float(left), Json::Float(right)) => {
            left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
        }
        (Json::Text(left), Json::Text(right)) => Arc::ptr_eq(left, right) || left == right,
        (Json::List(left), Json::List(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| identical(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|((key, left), (other, right))| key == other && identical(left, right))
        }
        _ => false,
    }
}

fn diff_objects(old: &Object, new: &Object) -> Diff {
    let found = if old.len() == new.len() && old.keys().eq(new.keys()) {
        diff_values(old, new)
    } else {
        diff_members(old, new)
    };
    if found == ObjectDiff::default() {
        Diff::Same
    } else {
        Diff::Object(found)
    }
}

/// The diff of objects with the same keys in the same order, as in most frames.
fn diff_values(old: &Object, new: &Object) -> ObjectDiff {
    let values = old.values().zip(new.values()).enumerate();
    let changed = values.filter_map(|(index, (before, value))| {
        let change = Some(diff(before, value)).filter(|change| !change.is_same())?;
        Some(MemberDiff {
            index,
            change: Some(change),
        })
    });
    ObjectDiff {
        members: changed.collect(),
        ..ObjectDiff::default()
    }
}

fn diff_members(old: &Object, new: &Object) -> ObjectDiff {
    let mut finder = MemberFinder::of(old);
    let mut found = ObjectDiff::default();
    let mut kept = vec![false; old.len()];
    let mut next = 0;
    for (index, (key, value)) in new.iter().enumerate() {
        match finder.find(key, next) {
            None => found.members.push(MemberDiff {
                index,
                change: None,
            }),
            Some((was, before)) => {
                found.reordered |= was < next;
                next = was + 1;
                kept[was] = true;
                let change = diff(before, value);
                if !change.is_same() {
                    found.members.push(MemberDiff {
                        index,
                        change: Some(change),
                    });
                }
            }
        }
    }
    found.removed = (0..old.len()).filter(|&index| !kept[index]).collect();
    found
}

/// Finds members by key: by position while the order is unchanged, and through an index if many members of a
/// large object were added or removed.
struct MemberFinder<'a> {
    pairs: Vec<(&'a str, &'a Json)>,
    searches: usize,
    index: Option<HashMap<&'a str, usize>>,
}

/// The number of searches from which an index pays off.
const INDEXED: usize = 24;

impl<'a> MemberFinder<'a> {
    fn of(object: &'a Object) -> Self {
        MemberFinder {
            pairs: object
                .iter()
                .map(|(key, value)| (key.as_ref(), value))
                .collect(),
            searches: 0,
            index: None,
        }
    }

    fn find(&mut self, key: &str, expected: usize) -> Option<(usize, &'a Json)> {
        if let Some((known, value)) = self.pairs.get(expected)
            && *known == key
        {
            return Some((expected, value));
        }
        self.searches += 1;
        let found = if self.searches < INDEXED {
            self.pairs.iter().position(|(known, _)| *known == key)?
        } else {
            let pairs = self.pairs.iter().enumerate();
            let index = self
                .index
                .get_or_insert_with(|| pairs.map(|(found, (key, _))| (*key, found)).collect());
            index.get(key).copied()?
        };
        self.pairs.get(found).map(|(_, value)| (found, *value))
    }
}
