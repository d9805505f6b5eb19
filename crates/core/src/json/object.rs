//! Objects: pairs in insertion order, each key once.
//!
//! A plain vector, since the objects here are small (tool arguments, message infos, schemas): that beats a hash
//! map in time and in code size. To look up many keys in a large object, index it first, as
//! [`Object::from_pairs`] does.

use std::borrow::Cow;
use std::collections::BinaryHeap;

use super::Json;

/// A key: static for keys in the program's code, so that making such objects copies nothing.
pub type Key = Cow<'static, str>;

/// A JSON object in insertion order. Equality ignores the order, as in Python.
#[derive(Clone, Debug, Default)]
pub struct Object {
    pairs: Vec<(Key, Json)>,
}

impl Extend<(Key, Json)> for Object {
    /// An existing key keeps its position and gets the later value.
    fn extend<T: IntoIterator<Item = (Key, Json)>>(&mut self, pairs: T) {
        let known = std::mem::take(&mut self.pairs);
        *self = Object::from_pairs(known.into_iter().chain(pairs).collect());
    }
}

impl Object {
    /// The empty object.
    pub const fn new() -> Self {
        Object { pairs: Vec::new() }
    }

    /// Makes an object from pairs with distinct keys.
    pub fn from_distinct(pairs: Vec<(Key, Json)>) -> Self {
        Object { pairs }
    }

    /// Makes an object from pairs whose keys may repeat: the last value wins, at the position of the first.
    pub fn from_pairs(pairs: Vec<(Key, Json)>) -> Self {
        Object::from_repeated(pairs, true)
    }

    /// Makes an object from pairs whose keys may repeat, each at the position of the first, with the last or the first
    /// value.
    fn from_repeated(mut pairs: Vec<(Key, Json)>, last_wins: bool) -> Self {
        // Nearly all objects are small and have distinct keys.
        let repeats = |(index, (key, _)): (usize, &(Key, Json))| {
            pairs[..index].iter().any(|(earlier, _)| earlier == key)
        };
        if pairs.len() <= 16 && !pairs.iter().enumerate().any(repeats) {
            return Object { pairs };
        }
        // Groups equal keys, in the order of their positions. A heap, because sorting code is large, and nothing else
        // in the first load sorts.
        let indexed = pairs.iter().enumerate();
        let heap: BinaryHeap<(&str, usize)> = indexed.map(|(at, (key, _))| (&**key, at)).collect();
        let sorted = heap.into_sorted_vec().into_iter();
        let order: Vec<usize> = sorted.map(|(_, at)| at).collect();
        let repeated: Vec<&[usize]> = order
            .chunk_by(|one, other| pairs[*one].0 == pairs[*other].0)
            .filter(|equal| equal.len() > 1)
            .collect();
        if !repeated.is_empty() {
            let mut keep = vec![true; pairs.len()];
            for equal in repeated {
                if let [first, .., last] = *equal
                    && last_wins
                {
                    pairs[first].1 = std::mem::take(&mut pairs[last].1);
                }
                equal[1..].iter().for_each(|index| keep[*index] = false);
            }
            let mut keep = keep.into_iter();
            pairs.retain(|_| keep.next().unwrap_or(true));
        }
        Object { pairs }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether the object is empty.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.pairs
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    }

    /// A mutable reference to the value under a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.pairs
            .iter_mut()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    }

    /// Whether the key exists.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value under a key: an existing key keeps its position. Returns the previous value.
    pub fn insert(&mut self, key: impl Into<Key>, value: impl Into<Json>) -> Option<Json> {
        let key = key.into();
        let value = value.into();
        match self.get_mut(&key) {
            Some(slot) => Some(std::mem::replace(slot, value)),
            None => {
                self.pairs.push((key, value));
                None
            }
        }
    }

    /// Appends a key that does not exist yet, and returns a reference to its value.
    pub(super) fn push(&mut self, key: Key) -> &mut Json {
        debug_assert!(!self.contains_key(&key), "{key} is there");
        &mut self.pairs.push_mut((key, Json::Null)).1
    }

    /// Adds the members of another object whose keys are missing here.
    pub fn extend_missing(&mut self, other: Object) {
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.extend(other);
        *self = Object::from_repeated(pairs, false);
    }

    /// Removes a member; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let index = self.pairs.iter().position(|(known, _)| known == key)?;
        Some(self.pairs.remove(index).1)
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Json)> + DoubleEndedIterator {
        self.pairs.iter().map(|(key, value)| (key, value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.pairs.iter().map(|(key, _)| key)
    }

    /// The values in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Json> {
        self.pairs.iter().map(|(_, value)| value)
    }

    /// Mutable references to the values in order.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Json> {
        self.pairs.iter_mut().map(|(_, value)| value)
    }

    /// Keeps the members for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Key, &Json) -> bool) {
        self.pairs.retain(|(key, value)| keep(key, value));
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        // Equal order is the usual case and needs no look-ups.
        self.len() == other.len()
            && (self.pairs == other.pairs
                || self
                    .pairs
                    .iter()
                    .all(|(key, value)| other.get(key) == Some(value)))
    }
}

impl IntoIterator for Object {
    type Item = (Key, Json);
    type IntoIter = std::vec::IntoIter<(Key, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.into_iter()
    }
}

impl FromIterator<(Key, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (Key, Json)>>(pairs: I) -> Self {
        let mut object = Object::new();
        for (key, value) in pairs {
            object.insert(key, value);
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use crate::object;

    #[test]
    fn missing_members_are_added_after_the_own_ones() {
        let mut own = object!({"a": 1, "b": 2});
        own.extend_missing(object!({"c": 3, "b": 4}));
        let members: Vec<_> = own
            .iter()
            .map(|(key, value)| (&**key, value.as_i64()))
            .collect();
        assert_eq!(members, [("a", Some(1)), ("b", Some(2)), ("c", Some(3))]);
        // Many members take another way.
        let mut own: super::Object = (0..20)
            .map(|n| (format!("k{n}").into(), n.into()))
            .collect();
        let same = own.clone();
        own.extend_missing(same);
        assert_eq!(own.len(), 20);
    }
}
