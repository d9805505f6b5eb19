//! Incremental parser of a long element: the items of its long lists are parsed one by one as bytes arrive, so that its
//! text is never in memory, and its beginning can be shown.
//!
//! Invariants: for any chunking, the object equals that of a parser of the complete text, except that an invalid item
//! is lost alone.

use volary_core::json::read::{SharedTexts, read_sharing};
use volary_core::json::{Json, Object};

use super::elements::Elements;
use crate::import::document;
use crate::import::json_repair::repair;
use crate::import::reader::Document;

/// The lists that make samples of logs long.
const LISTS: &[&str] = &["messages", "events"];
/// The typical length of an element: shared texts are searched within this many bytes.
const LENGTH: usize = 64 << 20;

/// A long element.
pub(super) struct Growing {
    /// The offset of the element in the file.
    start: u64,
    walk: Elements,
    /// The bytes of the unfinished item.
    held: Vec<u8>,
    seen: usize,
    /// The parsed items of each list.
    lists: Vec<Vec<Json>>,
    texts: SharedTexts,
    losses: Vec<String>,
}

impl Growing {
    /// Starts an element at an offset.
    pub fn new(start: u64) -> Growing {
        Growing {
            start,
            walk: Elements::new(LISTS),
            held: Vec::new(),
            seen: 0,
            lists: vec![Vec::new(); LISTS.len()],
            texts: SharedTexts::new(LENGTH),
            losses: Vec::new(),
        }
    }

    /// The offset of the element in the file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(bytes);
        let mut done = 0;
        while let Some(range) = self.walk.next(&held, &mut self.seen) {
            done = range.end;
            self.item(&held[range]);
        }
        let free = self.walk.release(done, self.seen);
        held.drain(..free);
        self.held = held;
        self.seen -= free;
    }

    /// Parses an item of the current list.
    fn item(&mut self, bytes: &[u8]) {
        let key = self.walk.key();
        let list = LISTS.iter().position(|list| Some(*list) == key);
        let item = self.read(bytes);
        if let Some(list) = list.and_then(|list| self.lists.get_mut(list)) {
            list.extend(item);
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Option<Json> {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(item) = read_sharing(&text, &mut self.texts) {
            return Some(item);
        }
        match document::read(&text) {
            Ok(read) => {
                self.losses.extend(read.losses);
                match read.document {
                    Document::Value(item) => Some(item),
                    Document::Lines(_) => None,
                }
            }
            Err(error) => {
                self.losses
                    .push(format!("A part of a sample is not valid JSON: {error}."));
                None
            }
        }
    }

    /// The complete part of the result.
    pub fn so_far(&self) -> Option<Object> {
        let around = String::from_utf8_lossy(self.walk.around());
        let around = repair(&around).ok()?.value;
        Some(whole(around.as_object()?.clone(), self.lists.clone()))
    }

    /// The complete object, and the parts that were lost. `Err` if it is not an object.
    pub fn end(mut self) -> (Result<Object, String>, Vec<String>) {
        let held = std::mem::take(&mut self.held);
        if let Some((rest, _)) = self.walk.rest(&held) {
            self.item(rest);
        }
        let around = String::from_utf8_lossy(self.walk.around());
        let object = match document::read(&around) {
            Ok(read) => {
                self.losses.extend(read.losses);
                match read.document {
                    Document::Value(Json::Object(around)) => Ok(whole(around, self.lists)),
                    _ => Err("A sample is not an object.".to_owned()),
                }
            }
            Err(error) => Err(format!("A sample is not valid JSON: {error}.")),
        };
        (object, self.losses)
    }
}

/// The object with its lists put back.
fn whole(mut around: Object, lists: Vec<Vec<Json>>) -> Object {
    for (key, list) in LISTS.iter().zip(lists) {
        if !list.is_empty() {
            around.insert(*key, list);
        }
    }
    around
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::*;

    fn fed(text: &str, chunk: usize) -> Growing {
        let mut growing = Growing::new(0);
        for part in text.as_bytes().chunks(chunk) {
            growing.feed(part);
            growing.so_far();
        }
        growing
    }

    fn object_of(members: BTreeMap<String, Json>) -> Object {
        let pairs = members.into_iter();
        pairs.map(|(key, value)| (key.into(), value)).collect()
    }

    /// A value of a sample: a list of values, or a scalar.
    fn value() -> impl Strategy<Value = Json> {
        let bare = prop_oneof![
            any::<i32>().prop_map(Json::from),
            r#"[a-z\[\]{}",:\\é]{0,9}"#.prop_map(Json::from),
            Just(Json::Null),
        ];
        bare.prop_recursive(3, 24, 4, |inner| {
            let object = btree_map("[a-z\"]{1,3}", inner.clone(), 0..4);
            prop_oneof![
                vec(inner, 0..4).prop_map(Json::from),
                object.prop_map(|members| object_of(members).into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn however_the_bytes_come_it_is_the_same_object(
            members in btree_map("messages|events|id|x\"", value(), 0..4),
            chunk in 1..40_usize,
        ) {
            let object = object_of(members);
            let text = Json::from(object.clone()).to_compact_text();
            let (read, losses) = fed(&text, chunk).end();
            prop_assert_eq!(read, Ok(object));
            prop_assert!(losses.is_empty());
        }

        #[test]
        fn broken_input_gives_the_same_error_in_any_chunks(text in r#"\{?("messages|"events)?":? ?[\[\]{}",:\\ a1-]{0,60}"#, chunk in 1..40_usize) {
            prop_assert_eq!(fed(&text, chunk).end(), fed(&text, text.len().max(1)).end());
        }
    }
}
