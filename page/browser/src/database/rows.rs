//! The store of rows. A record holds many of them, because a browser stores one record of 200 rows about ten times
//! faster than 200 records.
//!
//! A record is `{ keys: [id, …], texts: [row, …] }`, both of the same length, under a number that the browser assigns. A
//! unique index over `keys` finds the record of an id.
//!
//! Invariant: no id is in two records, or twice in one. The index rejects a second record, which aborts the whole
//! transaction.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use futures_util::FutureExt;
use idb::{IndexParams, KeyPath, KeyRange, ObjectStore, ObjectStoreParams, Transaction};
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::{Database, DatabaseChange, DatabaseError, KeptText, Store, pairs, run_transaction};

/// The field of the ids, and the name of its index.
const KEYS: &str = "keys";
const TEXTS: &str = "texts";
/// The maximum number of concurrent lookups of ids…
const MOST_LOOKUPS: usize = 200;
/// …and the number in the first round; each further round has four times as many, because all ids may be in one
/// record.
const FIRST_LOOKUPS: usize = 8;

/// A batch of rows: ids and texts. No id occurs twice.
#[derive(Clone, Debug, PartialEq)]
pub struct RowBatch<Text = KeptText>(Vec<(String, Text)>);

impl<Text> RowBatch<Text> {
    /// Creates a batch. Of rows with the same id, the last one counts.
    pub fn new(mut rows: Vec<(String, Text)>) -> RowBatch<Text> {
        let mut seen = HashSet::with_capacity(rows.len());
        let last = rows.iter().rev().map(|(id, _)| seen.insert(id.as_str()));
        let last: Vec<bool> = last.collect();
        let mut is_last = last.into_iter().rev();
        rows.retain(|_| is_last.next().unwrap_or_default());
        RowBatch(rows)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ids of the rows.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(id, _)| id.as_str())
    }

    /// The rows with their ids.
    pub fn rows(&self) -> &[(String, Text)] {
        &self.0
    }

    /// Makes changes, of which those that are made are removed from `known`: the new row of an id, `None` for a deleted one.
    fn change(self, known: &mut BTreeMap<&str, Option<&Text>>) -> RowBatch<Text>
    where
        Text: Clone,
    {
        let rows = self.0.into_iter().filter_map(|(id, row)| {
            let row = match known.remove(id.as_str()) {
                Some(changed) => changed.cloned()?,
                None => row,
            };
            Some((id, row))
        });
        RowBatch(rows.collect())
    }
}

impl RowBatch {
    fn to_js(&self) -> JsValue {
        let record = Object::new();
        let keys: Array = self.ids().map(JsValue::from).collect();
        let texts: Array = self.0.iter().map(|(_, text)| text.as_js()).collect();
        // A plain object accepts every field.
        let _ = Reflect::set(&record, &KEYS.into(), &keys);
        let _ = Reflect::set(&record, &TEXTS.into(), &texts);
        record.into()
    }

    fn from_js(value: &JsValue) -> Option<RowBatch> {
        let list = |field: &str| -> Option<Vec<JsValue>> {
            let list: Array = Reflect::get(value, &field.into()).ok()?.dyn_into().ok()?;
            Some(list.to_vec())
        };
        Some(RowBatch::new(pairs(list(KEYS)?, list(TEXTS)?)))
    }
}

/// Creates the store and its index.
pub(super) fn create(database: &idb::Database) -> Result<(), idb::Error> {
    let mut numbered = ObjectStoreParams::new();
    numbered.auto_increment(true);
    let store = database.create_object_store(Store::Rows.name(), numbered)?;
    let mut index = IndexParams::new();
    index.unique(true).multi_entry(true);
    store.create_index(KEYS, KeyPath::new_single(KEYS), Some(index))?;
    Ok(())
}

/// Makes the changes that concern rows.
pub(super) async fn make(
    transaction: &Transaction,
    changes: &[DatabaseChange],
) -> Result<(), DatabaseError> {
    // The new row of each id; `None` for a deleted one.
    let mut known: BTreeMap<&str, Option<&KeptText>> = BTreeMap::new();
    for change in changes {
        match change {
            DatabaseChange::AddRows(rows) => add(transaction, rows)?,
            DatabaseChange::PutRows(rows) => {
                known.extend(rows.0.iter().map(|(id, row)| (id.as_str(), Some(row))));
            }
            DatabaseChange::DeleteRows(ids) => {
                known.extend(ids.iter().map(|id| (id.as_str(), None)))
            }
            _ => {}
        }
    }
    let ids = known.keys().map(|id| (*id).to_owned()).collect();
    each_with(transaction, ids, |store, number, batch| {
        let rows = batch.change(&mut known);
        if rows.is_empty() {
            store.delete(number)?;
        } else {
            store.put(&rows.to_js(), Some(&number))?;
        }
        Ok(())
    })
    .await?;
    let new = known.into_iter();
    let new = new.filter_map(|(id, row)| Some((id.to_owned(), row?.clone())));
    add(transaction, &RowBatch(new.collect()))
}

fn add(transaction: &Transaction, rows: &RowBatch) -> Result<(), DatabaseError> {
    if !rows.is_empty() {
        let store = transaction.object_store(Store::Rows.name())?;
        store.add(&rows.to_js(), None)?;
    }
    Ok(())
}

/// Visits each record that has any of the ids, once.
async fn each_with(
    transaction: &Transaction,
    mut ids: BTreeSet<String>,
    mut visit: impl FnMut(&ObjectStore, JsValue, RowBatch) -> Result<(), idb::Error>,
) -> Result<(), DatabaseError> {
    if ids.is_empty() {
        return Ok(());
    }
    let store = transaction.object_store(Store::Rows.name())?;
    let index = store.index(KEYS)?;
    let mut most = FIRST_LOOKUPS;
    while !ids.is_empty() {
        let mut lookups = Vec::with_capacity(most);
        while lookups.len() < most
            && let Some(id) = ids.pop_first()
        {
            lookups.push(index.get_key(JsValue::from(id))?);
        }
        most = MOST_LOOKUPS.min(most * 4);
        let mut numbers = BTreeSet::new();
        for lookup in lookups {
            // Generated numbers start at 1.
            let number = lookup.await?.as_ref().and_then(JsValue::as_f64);
            numbers.extend(number.map(|number| number as u64));
        }
        for number in numbers {
            let number = JsValue::from(number as f64);
            let found = store.get(number.clone())?.await?;
            if let Some(batch) = found.as_ref().and_then(RowBatch::from_js) {
                batch.ids().for_each(|id| {
                    ids.remove(id);
                });
                visit(&store, number, batch)?;
            }
        }
    }
    Ok(())
}

/// Returns the rows with these ids; ids without a row are skipped.
pub async fn read_rows(
    database: &Database,
    ids: &[String],
) -> Result<BTreeMap<String, KeptText>, DatabaseError> {
    if database.is_gone(Store::Rows) || ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let names = [Store::Rows.name()];
    let transaction = database
        .inner
        .transaction(&names, idb::TransactionMode::ReadOnly)?;
    let ids: BTreeSet<String> = ids.iter().cloned().collect();
    // In a task of its own, because it takes several steps.
    run_transaction(transaction, &names, move |transaction| {
        async move {
            let mut found = BTreeMap::new();
            each_with(transaction, ids.clone(), |_, _, batch| {
                let rows = batch.0.into_iter();
                found.extend(rows.filter(|(id, _)| ids.contains(id)));
                Ok(())
            })
            .await?;
            Ok(found)
        }
        .boxed_local()
    })
    .await
}

/// Returns at most `most` records after a number, in order, each with its number; `None` for one that cannot be
/// read.
pub async fn read_row_batches(
    database: &Database,
    after: u64,
    most: u32,
) -> Result<Vec<(u64, Option<RowBatch>)>, DatabaseError> {
    if database.is_gone(Store::Rows) {
        return Ok(Vec::new());
    }
    let store = database.read(Store::Rows)?;
    let range = || KeyRange::lower_bound(&(after as f64).into(), Some(true));
    let numbers = store.get_all_keys(Some(range()?.into()), Some(most))?;
    let batches = store.get_all(Some(range()?.into()), Some(most))?;
    let numbers = numbers.await?.into_iter();
    let batches = numbers
        .zip(batches.await?)
        .filter_map(|(number, batch)| Some((number.as_f64()? as u64, RowBatch::from_js(&batch))));
    Ok(batches.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(rows: &[(&str, u8)]) -> RowBatch<u8> {
        let rows = rows.iter();
        RowBatch::new(rows.map(|(id, row)| ((*id).to_owned(), *row)).collect())
    }

    #[test]
    fn an_id_occurs_once_with_its_last_row() {
        let twice = batch(&[("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)]);
        assert_eq!(twice, batch(&[("a", 3), ("c", 4), ("b", 5)]));
        assert_eq!(twice.ids().collect::<Vec<_>>(), ["a", "c", "b"]);
        assert!(batch(&[]).is_empty());
    }

    #[test]
    fn a_record_keeps_the_rows_that_are_not_changed() {
        let mut known =
            BTreeMap::from([("a", Some(&7)), ("b", None), ("x", Some(&9)), ("y", None)]);
        let changed = batch(&[("a", 1), ("b", 2), ("c", 3)]).change(&mut known);
        assert_eq!(changed, batch(&[("a", 7), ("c", 3)]));
        // These are looked for in other records; a new row is then added.
        assert_eq!(known, BTreeMap::from([("x", Some(&9)), ("y", None)]));
    }

    #[test]
    fn a_row_that_was_given_twice_is_deleted() {
        let mut known = BTreeMap::from([("a", None)]);
        assert!(batch(&[("a", 1), ("a", 2)]).change(&mut known).is_empty());
    }
}
