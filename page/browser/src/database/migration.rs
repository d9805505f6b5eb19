//! Migrates the records of earlier versions to the stores of this version, when the database is opened.
//!
//! Invariant: a record is deleted only in the transaction that stores all of its contents. An unreadable record stays
//! as it is.

use futures_util::FutureExt;
use wasm_bindgen::JsValue;

use super::{
    Damage, Database, DatabaseChange, DatabaseError, KeptText, RowBatch, Store, after_query,
    legacy_parcel, pairs,
};

/// How many rows are moved in one transaction.
const ROWS: u32 = 500;

/// The changes that store the contents of an old record and delete it.
pub type Moved = Result<Vec<DatabaseChange>, Damage>;

/// Migrates one record of the journal. The inner error says why it cannot be read.
pub async fn move_journal_record(
    database: &Database,
    key: &str,
) -> Result<Result<(), Damage>, DatabaseError> {
    let names = Store::ALL.map(Store::name);
    let key = key.to_owned();
    database
        .transact(&names, move |transaction| {
            async move {
                let journal = transaction.object_store(Store::LegacyJournal.name())?;
                let Some(record) = journal.get(JsValue::from(&key))?.await? else {
                    // Another tab migrated it.
                    return Ok((Vec::new(), Ok(())));
                };
                Ok(match journal_changes(&key, &record) {
                    Ok(changes) => (changes, Ok(())),
                    Err(damage) => (Vec::new(), Err(damage)),
                })
            }
            .boxed_local()
        })
        .await
}

/// Decodes a record of the journal; `None` if it does not exist.
pub async fn read_journal_record(
    database: &Database,
    key: &str,
) -> Result<Option<Moved>, DatabaseError> {
    let found = database
        .read(Store::LegacyJournal)?
        .get(JsValue::from(key))?;
    Ok(found.await?.map(|record| journal_changes(key, &record)))
}

/// Migrates the rows that have a record of their own and whose keys come after `after`. Returns the last key that
/// it visited; `None` if there was none.
pub async fn move_next_rows(
    database: &Database,
    after: &str,
) -> Result<Option<String>, DatabaseError> {
    let names = [Store::LegacyRows, Store::Rows].map(Store::name);
    let after = after.to_owned();
    database
        .transact(&names, move |transaction| {
            async move {
                let store = transaction.object_store(Store::LegacyRows.name())?;
                let keys = store.get_all_keys(after_query(&after)?, Some(ROWS))?;
                let texts = store.get_all(after_query(&after)?, Some(ROWS))?;
                let keys = keys.await?;
                let last = keys.last().and_then(JsValue::as_string);
                Ok((row_changes(pairs(keys, texts.await?)), last))
            }
            .boxed_local()
        })
        .await
}

fn journal_changes(key: &str, record: &JsValue) -> Moved {
    let (mut changes, mut rows) = (Vec::new(), Vec::new());
    for (store, key, text) in legacy_parcel::decode(record)? {
        match store {
            Store::LegacyRows => rows.push((key, text)),
            _ => changes.push(DatabaseChange::Put(store, key, text)),
        }
    }
    changes.push(DatabaseChange::PutRows(RowBatch::new(rows)));
    changes.push(DatabaseChange::Delete(Store::LegacyJournal, key.to_owned()));
    Ok(changes)
}

/// The changes that migrate rows that have a record of their own.
pub fn row_changes(rows: Vec<(String, KeptText)>) -> Vec<DatabaseChange> {
    let records = rows.iter().map(|(key, _)| key.clone());
    let mut changes: Vec<_> = records
        .map(|key| DatabaseChange::Delete(Store::LegacyRows, key))
        .collect();
    changes.push(DatabaseChange::PutRows(RowBatch::new(rows)));
    changes
}
