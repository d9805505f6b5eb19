//! Many texts in one record, to be put into their places later: a browser takes one record of a thousand
//! texts ten times sooner than a thousand records.
//!
//! What always holds: a parcel is unpacked once, whichever tab does it; its record goes in the transaction that
//! puts its texts into their places.

use idb::TransactionMode;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use super::{Change, Completion, Database, DatabaseError, KeptText, Store};

/// The store of a text, its key there, and the text.
type Put = (Store, String, KeptText);

impl Database {
    /// Keeps what is put by these changes as a parcel under a key of the journal.
    pub async fn put_parcel(&self, key: &str, changes: &[Change]) -> Result<(), DatabaseError> {
        let record = Array::new();
        for change in changes {
            if let Change::Put(store, key, text) = change {
                record.push(&store.name().into());
                record.push(&key.into());
                record.push(text.as_js());
            }
        }
        let names = [Store::Journal.name()];
        let transaction = self.0.transaction(&names, TransactionMode::ReadWrite)?;
        let done = Completion::of(transaction);
        if let Some(transaction) = &done.transaction {
            let journal = transaction.object_store(Store::Journal.name())?;
            journal.put(&record, Some(&key.into()))?;
        }
        done.wait().await
    }

    /// The texts of a parcel; none if it was unpacked.
    pub async fn parcel(&self, key: &str) -> Result<Vec<Put>, DatabaseError> {
        let found = self.read(Store::Journal)?.get(JsValue::from(key))?.await?;
        let record = found.and_then(|record| record.dyn_into::<Array>().ok());
        Ok(record.as_ref().map(puts_of).unwrap_or_default())
    }

    /// Puts the texts of a parcel into their places, unless that was done.
    pub async fn unpack(&self, key: &str) -> Result<(), DatabaseError> {
        let names = Store::ALL.map(|(store, _)| store.name());
        let transaction = self.0.transaction(&names, TransactionMode::ReadWrite)?;
        let done = Completion::of(transaction);
        if let Some(transaction) = &done.transaction {
            let journal = transaction.object_store(Store::Journal.name())?;
            // The transaction stays open while its own request is waited for.
            let found = journal.get(JsValue::from(key))?.await?;
            if let Some(record) = found.and_then(|record| record.dyn_into::<Array>().ok()) {
                for (store, key, text) in puts_of(&record) {
                    let store = transaction.object_store(store.name())?;
                    store.put(text.as_js(), Some(&key.into()))?;
                }
                journal.delete(JsValue::from(key))?;
            }
        }
        done.wait().await
    }
}

fn puts_of(record: &Array) -> Vec<Put> {
    let parts: Vec<_> = record.iter().collect();
    let puts = parts.chunks_exact(3).filter_map(|put| {
        let name = put[0].as_string()?;
        let mut stores = Store::ALL.iter().map(|(store, _)| *store);
        let store = stores.find(|store| store.name() == name)?;
        Some((
            store,
            put[1].as_string()?,
            KeptText::from_js(put[2].clone())?,
        ))
    });
    puts.collect()
}
