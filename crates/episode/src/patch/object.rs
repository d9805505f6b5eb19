//! Patches of objects: changed, removed and added members.

use volary_core::json::{Json, Key, Object};

use super::{Allowance, ObjectPatch, Patch, PatchError, misfit, weight};
use crate::diff::ObjectDiff;

impl ObjectPatch {
    pub(super) fn of(diff: &ObjectDiff, old: &Object, new: &Object, depth: usize) -> ObjectPatch {
        let mut patch = ObjectPatch::default();
        let mut kept = old
            .iter()
            .enumerate()
            .filter(|(index, _)| diff.removed.binary_search(index).is_err())
            .map(|(_, pair)| pair);
        let mut changed = diff.members.iter().peekable();
        for (index, (key, value)) in new.iter().enumerate() {
            let member = changed.next_if(|member| member.index == index);
            match member.map(|member| &member.change) {
                Some(None) => patch.add.push((index, key.clone(), value.clone())),
                // The order was preserved, so the old members are consumed one by one.
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
            .map(|&index| keys[index].clone())
            .collect();
        patch
    }

    pub(super) fn apply(
        &self,
        object: &mut Object,
        allowance: &mut Allowance,
    ) -> Result<(), PatchError> {
        allowance.take_elements(object.len())?;
        let mut pairs: Vec<(Key, Json)> = std::mem::take(object).into_iter().collect();
        let mut finder = Finder::default();
        for (key, patch) in &self.change {
            let index = finder.find(&pairs, key, allowance)?;
            patch.apply_within(&mut pairs[index].1, allowance)?;
        }
        if !self.remove.is_empty() {
            let mut finder = Finder::default();
            let mut gone = vec![false; pairs.len()];
            for key in &self.remove {
                gone[finder.find(&pairs, key, allowance)?] = true;
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
        for (index, key, value) in &self.add {
            let missing = index.checked_sub(all.len()).ok_or(misfit("object"))?;
            all.extend(pairs.by_ref().take(missing));
            if all.len() != *index {
                return Err(misfit("object"));
            }
            all.push((key.clone(), value.clone()));
        }
        all.extend(pairs);
        let object = Object::from_pairs(all);
        // An added key must not exist already.
        (object.len() == length)
            .then_some(object)
            .ok_or(misfit("object"))
    }

    pub(super) fn weight(&self) -> usize {
        let change: usize = self
            .change
            .iter()
            .map(|(_, patch)| 1 + patch.weight())
            .sum();
        let add: usize = self.add.iter().map(|(_, _, value)| 1 + weight(value)).sum();
        1 + change + add + self.remove.len()
    }
}

/// Looks up members. A patch lists them in the order of the object, so the search continues at the last position. A
/// file with sorted members may restart it, a limited number of times.
#[derive(Default)]
struct Finder {
    next: usize,
    restarts: usize,
}

impl Finder {
    fn find(
        &mut self,
        pairs: &[(Key, Json)],
        key: &str,
        allowance: &mut Allowance,
    ) -> Result<usize, PatchError> {
        const MOST_RESTARTS: usize = 1000;
        let within = |from: usize, to: usize| {
            let nearby = pairs.get(from..to)?.iter();
            let found = nearby.into_iter().position(|(known, _)| known == key)?;
            Some(from + found)
        };
        let index = match within(self.next, pairs.len()) {
            None if self.restarts < MOST_RESTARTS => {
                self.restarts += 1;
                allowance.take_elements(pairs.len())?;
                within(0, self.next)
            }
            found => found,
        };
        let index = index.ok_or(misfit("object"))?;
        self.next = index + 1;
        Ok(index)
    }
}
