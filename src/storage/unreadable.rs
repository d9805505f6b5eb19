//! Stored records that cannot be read: another version wrote them, or they are damaged.
//!
//! Invariants: reading never deletes such a record. Whoever meets one notes it here; Settings lists what was noted,
//! exports the raw records, and deletes them only when asked to.

use std::cell::RefCell;
use std::collections::BTreeMap;

use volary_core::json;

use super::{database, write};
use crate::browser::database::{Change, DatabaseError, Store};

thread_local! {
    /// Why each of them cannot be read.
    static NOTED: RefCell<BTreeMap<(Store, String), String>> = const { RefCell::new(BTreeMap::new()) };
}

/// A stored record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where it is stored.
    pub store: Store,
    /// Under which key.
    pub key: String,
    /// Why it cannot be read, as the end of a sentence.
    pub why: String,
}

/// Notes a record.
pub(super) fn note(store: Store, key: &str, why: String) {
    NOTED.with_borrow_mut(|noted| noted.insert((store, key.to_owned()), why));
}

/// Forgets what was noted of a store, before all of it is read again.
pub(super) fn clear(store: Store) {
    NOTED.with_borrow_mut(|noted| noted.retain(|(of, _), _| *of != store));
}

/// The records that could not be read so far.
pub fn all() -> Vec<Unreadable> {
    NOTED.with_borrow(|noted| {
        let noted = noted.iter();
        let records = noted.map(|((store, key), why)| Unreadable {
            store: *store,
            key: key.clone(),
            why: why.clone(),
        });
        records.collect()
    })
}

/// The raw records, one line of JSON each: store, key, why it cannot be read, and the value as it is stored.
pub async fn export() -> Result<String, DatabaseError> {
    let database = database().await?;
    let mut lines = String::new();
    for Unreadable { store, key, why } in all() {
        let value = database.raw(store, &key).await?;
        let line = json!({
            "store": (store.name()),
            "key": (key),
            "why": (why),
            "value": (value)
        });
        lines.push_str(&line.to_python_text());
        lines.push('\n');
    }
    Ok(lines)
}

/// Deletes the records.
pub async fn delete() -> Result<(), DatabaseError> {
    let all = all().into_iter();
    let changes = all.map(|Unreadable { store, key, .. }| Change::Forget(store, key));
    write(changes.collect()).await?;
    NOTED.with_borrow_mut(BTreeMap::clear);
    Ok(())
}
