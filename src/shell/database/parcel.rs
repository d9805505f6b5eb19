//! Many texts in one record, to be put into their places later: a browser takes one record of a thousand
//! texts ten times sooner than a thousand records.
//!
//! Whoever makes the texts packs them, a worker most often: as bytes they move from hand to hand, and nobody on the
//! way makes texts of them. A record is a list, three elements a pile: the name of the store, the keys with the
//! lengths of their texts (as JSON), the texts as UTF-8 one after the other, packed by LZ4 if
//! these bytes are fewer than the lengths say. (Or a key and a text, as it once was.)
//!
//! What always holds: a parcel is unpacked once, whichever tab does it; its record goes in the transaction that
//! puts its texts into their places.

use std::collections::BTreeMap;

use idb::TransactionMode;
use js_sys::{Array, JsString, Uint8Array};
use volary_core::json::Json;
use wasm_bindgen::{JsCast, JsValue};

use super::packed::{packed, unpacked};
use super::{Completion, Database, DatabaseError, KeptText, Store};

/// The store of a text, its key there, and the text.
pub type Put = (Store, String, KeptText);

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

    /// How many bytes its texts have, when they are in their places.
    pub fn length(&self) -> usize {
        let piles = self.piles().into_iter();
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
        let names = self.0.iter().step_by(3);
        names.filter_map(|name| store_of(&name)).collect()
    }

    /// The texts.
    pub fn puts(&self) -> Vec<Put> {
        let mut puts = Vec::new();
        for (store, keys, texts) in self.piles() {
            match texts.dyn_into::<Uint8Array>() {
                Ok(bytes) => {
                    puts.extend(pile(store, &keys, &bytes.to_vec()).into_iter().flatten());
                }
                Err(text) => puts.extend(KeptText::from_js(text).map(|text| (store, keys, text))),
            }
        }
        puts
    }

    /// The keys of the texts that belong into a store.
    pub fn keys(&self, store: Store) -> Vec<String> {
        let piles = self.piles().into_iter().filter(|(of, ..)| *of == store);
        let keys = piles.flat_map(|(_, keys, texts)| match texts.is_string() {
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

    fn piles(&self) -> Vec<(Store, String, JsValue)> {
        let parts: Vec<_> = self.0.iter().collect();
        let piles = parts
            .chunks_exact(3)
            .filter_map(|pile| Some((store_of(&pile[0])?, pile[1].as_string()?, pile[2].clone())));
        piles.collect()
    }
}

fn store_of(name: &JsValue) -> Option<Store> {
    let name = name.as_string()?;
    let mut stores = Store::ALL.iter().map(|(store, _)| *store);
    stores.find(|store| store.name() == name)
}

fn lengths(keys: &str) -> Option<Vec<(String, usize)>> {
    let keys = Json::parse(keys).ok()?;
    let pairs = keys.as_list()?.chunks_exact(2).map(|pair| {
        let length = usize::try_from(pair[1].as_i64()?).ok()?;
        Some((pair[0].as_text()?.to_string(), length))
    });
    pairs.collect()
}

fn pile(store: Store, keys: &str, bytes: &[u8]) -> Option<Vec<Put>> {
    let lengths = lengths(keys)?;
    let texts = unpacked(bytes, lengths.iter().map(|(_, length)| length).sum())?;
    let mut left = &*texts;
    let puts = lengths.into_iter().map(|(key, length)| {
        let (text, rest) = left.split_at_checked(length)?;
        left = rest;
        Some((store, key, std::str::from_utf8(text).ok()?.into()))
    });
    puts.collect()
}

impl Database {
    /// Keeps parcels under keys of the journal, all or none.
    pub async fn put_parcels(&self, parcels: &[(String, Parcel)]) -> Result<(), DatabaseError> {
        let names = [Store::Journal.name()];
        let transaction = self.0.transaction(&names, TransactionMode::ReadWrite)?;
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
        let found = self.read(Store::Journal)?.get(JsValue::from(key))?.await?;
        Ok(found.and_then(Parcel::from_js))
    }

    /// Puts the texts of a parcel into their places, unless that was done. It is read unless it is known.
    pub async fn unpack(&self, key: &str, known: Option<Parcel>) -> Result<(), DatabaseError> {
        let names = Store::ALL.map(|(store, _)| store.name());
        let transaction = self.0.transaction(&names, TransactionMode::ReadWrite)?;
        let done = Completion::of(transaction);
        if let Some(transaction) = &done.transaction {
            let journal = transaction.object_store(Store::Journal.name())?;
            // The transaction stays open while its own request is waited for.
            let found = match known {
                Some(parcel) => {
                    let count = journal.count(Some(JsValue::from(key).into()))?.await?;
                    (count > 0).then_some(parcel)
                }
                None => {
                    let found = journal.get(JsValue::from(key))?.await?;
                    found.and_then(Parcel::from_js)
                }
            };
            if let Some(parcel) = found {
                for (store, key, text) in parcel.puts() {
                    let store = transaction.object_store(store.name())?;
                    store.put(text.as_js(), Some(&key.into()))?;
                }
                journal.delete(JsValue::from(key))?;
            }
        }
        done.commit(&names);
        done.wait().await
    }
}
