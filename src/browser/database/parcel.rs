//! Many texts in one record, to be put into their places later: a browser takes one record of a thousand
//! texts ten times sooner than a thousand records.
//!
//! Whoever makes the texts packs them, a worker most often: as bytes they move from hand to hand, and nobody on the
//! way makes texts of them. A record is a list, three elements a pile: the name of the store, the keys with the
//! lengths of their texts (as JSON), the texts as UTF-8 one after the other, packed by LZ4 if
//! these bytes are fewer than the lengths say. (Or a key and a text, as it once was.) The last element is the number of
//! the format; records of former pages have none.
//!
//! Invariants: a parcel is unpacked once, whichever tab does it; its record is deleted in the transaction that stores its
//! texts. A record that cannot be decoded completely stays as it is ([`Damage`]).

use std::collections::BTreeMap;

use js_sys::{Array, JsString, Uint8Array};
use volary_core::json::Json;
use wasm_bindgen::{JsCast, JsValue};

use super::damage::Damage;
use super::packed::{packed, unpacked};
use super::{Completion, Database, DatabaseError, KeptText, Store};

/// The format of the records that this version writes. Earlier records have no number, and the same form.
const FORMAT: u32 = 1;

/// The store of a text, its key there, and the text.
pub type Put = (Store, String, KeptText);

/// What became of a record of the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Unpacked {
    /// Its texts are stored, now or since another tab did it.
    Stored,
    /// It could not be read, and was left as it is.
    Unreadable(Damage),
}

/// Texts on their way to their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Parcel(Array);

/// A parcel that is being packed.
#[derive(Default)]
pub struct Packing(BTreeMap<Store, Pile>);

#[derive(Default)]
struct Pile {
    /// Keys and lengths, in turn.
    keys: Vec<Json>,
    texts: String,
}

impl Packing {
    /// Adds a text under a key.
    pub fn put(&mut self, store: Store, key: String, write: impl FnOnce(&mut String)) {
        self.put_parts(store, usize::MAX, |_| key.clone(), write);
    }

    /// Adds a text of ASCII in parts of at most so many bytes, under the key of each number. Gives its length.
    pub fn put_parts(
        &mut self,
        store: Store,
        most: usize,
        key: impl Fn(usize) -> String,
        write: impl FnOnce(&mut String),
    ) -> usize {
        let pile = self.0.entry(store).or_default();
        let before = pile.texts.len();
        write(&mut pile.texts);
        let length = pile.texts.len() - before;
        for (number, start) in (0..length).step_by(most).enumerate() {
            pile.keys.push(key(number).into());
            pile.keys.push(((length - start).min(most) as i64).into());
        }
        length
    }

    /// How many bytes there are.
    pub fn length(&self) -> usize {
        self.0.values().map(|pile| pile.texts.len()).sum()
    }

    /// The parcel.
    pub fn finish(self) -> Parcel {
        let record = Array::new();
        for (store, pile) in self.0 {
            record.push(&store.name().into());
            record.push(&Json::List(pile.keys).to_python_text().into());
            record.push(&Uint8Array::from(&*packed(pile.texts.as_bytes())));
        }
        record.push(&FORMAT.into());
        Parcel(record)
    }
}

impl Parcel {
    /// The parcel, if the value is one.
    pub fn from_js(value: JsValue) -> Option<Parcel> {
        value.dyn_into().ok().map(Parcel)
    }

    /// The value.
    pub fn as_js(&self) -> &JsValue {
        &self.0
    }

    /// What can be handed to another thread without being copied.
    pub fn buffers(&self) -> Array {
        self.bytes().map(|bytes| bytes.buffer()).collect()
    }

    /// How many bytes its texts have, when they are in their places; 0 for a record that cannot be read.
    pub fn length(&self) -> usize {
        let piles = self.piles().unwrap_or_default().into_iter();
        let lengths = piles.map(|(_, keys, texts)| match texts.dyn_into::<JsString>() {
            Ok(text) => text.length() as usize,
            Err(_) => {
                let lengths = lengths(&keys).into_iter().flatten();
                lengths.map(|(_, length)| length).sum()
            }
        });
        lengths.sum()
    }

    /// The stores that the texts belong into.
    pub fn stores(&self) -> Vec<Store> {
        let piles = self.piles().unwrap_or_default().into_iter();
        piles.map(|(store, ..)| store).collect()
    }

    /// The texts: all of them, or why they cannot be read.
    pub fn puts(&self) -> Result<Vec<Put>, Damage> {
        let mut puts = Vec::new();
        for (store, keys, texts) in self.piles()? {
            match texts.dyn_into::<Uint8Array>() {
                Ok(bytes) => {
                    let texts = decode_pile(&keys, &bytes.to_vec())?.into_iter();
                    puts.extend(texts.map(|(key, text)| (store, key, text.into())));
                }
                Err(text) => {
                    let text = KeptText::from_js(text).ok_or(Damage::Texts)?;
                    puts.push((store, keys, text));
                }
            }
        }
        Ok(puts)
    }

    /// The keys of the texts that belong into a store.
    pub fn keys(&self, store: Store) -> Vec<String> {
        let piles = self.piles().unwrap_or_default().into_iter();
        let keys = piles
            .filter(|(of, ..)| *of == store)
            .flat_map(|(_, keys, texts)| match texts.is_string() {
                true => vec![keys],
                false => lengths(&keys)
                    .into_iter()
                    .flatten()
                    .map(|(key, _)| key)
                    .collect(),
            });
        keys.collect()
    }

    fn bytes(&self) -> impl Iterator<Item = Uint8Array> {
        self.0.iter().filter_map(|part| part.dyn_into().ok())
    }

    fn piles(&self) -> Result<Vec<(Store, String, JsValue)>, Damage> {
        let mut parts: Vec<_> = self.0.iter().collect();
        if parts.len() % 3 == 1 {
            let format = parts.pop().and_then(|format| format.as_f64());
            if format != Some(f64::from(FORMAT)) {
                return Err(Damage::Format(format.unwrap_or_default()));
            }
        }
        let (piles, rest) = parts.as_chunks::<3>();
        if piles.is_empty() || !rest.is_empty() {
            return Err(Damage::Shape);
        }
        let piles = piles.iter().map(|[name, keys, texts]| {
            let name = name.as_string().ok_or(Damage::Shape)?;
            let store = store_of(&name).ok_or(Damage::Store(name))?;
            let keys = keys.as_string().ok_or(Damage::Keys)?;
            Ok((store, keys, texts.clone()))
        });
        piles.collect()
    }
}

fn store_of(name: &str) -> Option<Store> {
    let mut stores = Store::ALL.iter().map(|(store, _)| *store);
    stores.find(|store| store.name() == name)
}

fn lengths(keys: &str) -> Option<Vec<(String, usize)>> {
    let keys = Json::parse(keys).ok()?;
    let (pairs, rest) = keys.as_list()?.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let pairs = pairs.iter().map(|[key, length]| {
        let length = usize::try_from(length.as_i64()?).ok()?;
        Some((key.as_text()?.to_string(), length))
    });
    pairs.collect()
}

/// The keys and texts of a pile. Every byte must belong to a text.
fn decode_pile(keys: &str, bytes: &[u8]) -> Result<Vec<(String, String)>, Damage> {
    let lengths = lengths(keys).ok_or(Damage::Keys)?;
    let mut sum = 0_usize;
    for (_, length) in &lengths {
        sum = sum.checked_add(*length).ok_or(Damage::Keys)?;
    }
    let texts = unpacked(bytes, sum).ok_or(Damage::Texts)?;
    if texts.len() != sum {
        return Err(Damage::Texts);
    }
    let mut left = &*texts;
    let texts = lengths.into_iter().map(|(key, length)| {
        let (text, rest) = left.split_at_checked(length).ok_or(Damage::Texts)?;
        left = rest;
        let text = std::str::from_utf8(text).map_err(|_| Damage::Texts)?;
        Ok((key, text.to_owned()))
    });
    texts.collect()
}

impl Database {
    /// Keeps parcels under keys of the journal, all or none.
    pub async fn put_parcels(&self, parcels: &[(String, Parcel)]) -> Result<(), DatabaseError> {
        let names = [Store::Journal.name()];
        let transaction = self.begin(&names)?;
        let done = Completion::of(transaction);
        if let Some(transaction) = &done.transaction {
            let journal = transaction.object_store(Store::Journal.name())?;
            for (key, parcel) in parcels {
                journal.put(parcel.as_js(), Some(&key.into()))?;
            }
        }
        done.commit(&names);
        done.wait().await
    }

    /// A parcel; `None` if it was unpacked.
    pub async fn parcel(&self, key: &str) -> Result<Option<Parcel>, DatabaseError> {
        if self.is_gone(Store::Journal) {
            return Ok(None);
        }
        let found = self.read(Store::Journal)?.get(JsValue::from(key))?.await?;
        Ok(found.and_then(Parcel::from_js))
    }

    /// Stores the texts of a parcel and deletes its record, unless that was done. It is read unless it is known.
    pub async fn unpack(
        &self,
        key: &str,
        known: Option<Parcel>,
    ) -> Result<Unpacked, DatabaseError> {
        let names = Store::ALL.map(|(store, _)| store.name());
        let transaction = self.begin(&names)?;
        let done = Completion::of(transaction);
        let mut unpacked = Unpacked::Stored;
        if let Some(transaction) = &done.transaction {
            let journal = transaction.object_store(Store::Journal.name())?;
            // The transaction stays open while its own request is waited for.
            let found = match known {
                Some(parcel) => {
                    let count = journal.count(Some(JsValue::from(key).into()))?.await?;
                    (count > 0).then_some(parcel.puts())
                }
                None => journal
                    .get(JsValue::from(key))?
                    .await?
                    .map(|value| Parcel::from_js(value).ok_or(Damage::Shape)?.puts()),
            };
            match found {
                None => {}
                Some(Ok(puts)) => {
                    for (store, key, text) in puts {
                        let store = transaction.object_store(store.name())?;
                        store.put(text.as_js(), Some(&key.into()))?;
                    }
                    journal.delete(JsValue::from(key))?;
                }
                Some(Err(damage)) => unpacked = Unpacked::Unreadable(damage),
            }
        }
        done.commit(&names);
        done.wait().await?;
        Ok(unpacked)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pile(texts: &[(String, String)]) -> (String, Vec<u8>) {
        let keys = texts
            .iter()
            .flat_map(|(key, text)| [Json::from(key.clone()), Json::from(text.len() as i64)]);
        let keys = Json::List(keys.collect()).to_python_text();
        let bytes: String = texts.iter().map(|(_, text)| text.as_str()).collect();
        (keys, packed(bytes.as_bytes()).into_owned())
    }

    #[test]
    fn a_pile_that_is_damaged_is_refused_as_a_whole() {
        let texts = [
            ("a".to_owned(), "one".to_owned()),
            ("b".to_owned(), "two".to_owned()),
        ];
        let (keys, bytes) = pile(&texts);
        assert_eq!(decode_pile(&keys, &bytes), Ok(texts.to_vec()));
        for (keys, bytes, damage) in [
            ("", &b"onetwo"[..], Damage::Keys),
            ("{}", b"onetwo", Damage::Keys),
            (r#"["a", 3, "b"]"#, b"onetwo", Damage::Keys),
            (r#"["a", 3, "b", -3]"#, b"onetwo", Damage::Keys),
            (
                r#"["a", 3, "b", 9223372036854775807]"#,
                b"onetwo",
                Damage::Texts,
            ),
            (r#"["a", 3, "b", 4]"#, b"onetwo", Damage::Texts),
            (r#"["a", 3, "b", 2]"#, b"onetwo", Damage::Texts),
            (r#"["a", 3, "b", 3]"#, b"one\xfftw", Damage::Texts),
        ] {
            assert_eq!(decode_pile(keys, bytes), Err(damage), "{keys}");
        }
    }

    proptest! {
        #[test]
        fn piles_come_back(texts in proptest::collection::vec((".{0,9}", ".{0,40}"), 0..9)) {
            let (keys, bytes) = pile(&texts);
            prop_assert_eq!(decode_pile(&keys, &bytes), Ok(texts));
        }

        #[test]
        fn damaged_piles_never_panic(keys in ".{0,60}", bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_pile(&keys, &bytes);
        }
    }
}
