//! IndexedDB: texts under keys, in a few stores. `volary_storage` defines the contents of the texts.
//!
//! Invariants: a list of changes is atomic, and is handed to the operating system once [`Database::write`] resolves.
//! A browser may refuse all storage (private windows, policies) or be out of space; [`DatabaseError`] tells them
//! apart.

mod change;
mod completion;
mod damage;
mod error;
mod legacy_parcel;
mod migration;
mod raw;
mod rows;

use std::cell::Cell;
use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use idb::{DatabaseEvent, Factory, KeyRange, ObjectStoreParams, Transaction, TransactionMode};
use wasm_bindgen::prelude::*;

use completion::Completion;

pub use super::kept_text::KeptText;
pub use change::{DatabaseChange, Store};
pub use damage::Damage;
pub use error::DatabaseError;
pub use migration::{Moved, move_journal_record, move_next_rows, read_journal_record, row_changes};
pub use raw::raw_value;
pub use rows::{RowBatch, read_row_batches, read_rows};

use super::files::GivenFile;

/// The name of the database. Other pages of the origin may have databases too.
const NAME: &str = "volary";

/// Incremented when stores are added. Tabs with an earlier version close the database, and reopen it for
/// reading.
const VERSION: u32 = 6;

/// An open database.
pub struct Database {
    inner: idb::Database,
    access: Access,
    is_closed: Rc<Cell<bool>>,
}

/// The access that a database allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It has the version of this page.
    ReadWrite,
    /// A newer version of the page upgraded it. The records that this page understands can be read; a change could
    /// destroy the others.
    ReadOnly,
}

impl Database {
    /// Opens the database, and creates it the first time. A database that a newer version of the page upgraded is
    /// opened for reading.
    pub async fn open() -> Result<Database, DatabaseError> {
        match Database::open_version(Some(VERSION)).await {
            Err(DatabaseError::Newer) => Database::open_version(None).await,
            opened => opened,
        }
    }

    /// Opens this version; with `None` the current one, for reading.
    async fn open_version(version: Option<u32>) -> Result<Database, DatabaseError> {
        let factory = Factory::new().map_err(|_| DatabaseError::Absent)?;
        let mut request = factory.open(NAME, version)?;
        request.on_upgrade_needed(|event| {
            let Ok(database) = event.database() else {
                return;
            };
            let there = database.store_names();
            for store in Store::ALL {
                if there.iter().any(|name| name == store.name()) {
                    continue;
                }
                // If creating one fails, the first transaction that uses it reports that.
                let _ = match store {
                    Store::Rows => rows::create(&database),
                    _ => database
                        .create_object_store(store.name(), ObjectStoreParams::new())
                        .map(drop),
                };
            }
        });
        let mut inner = request.await?;
        let is_closed = Rc::new(Cell::new(false));
        let closed = Rc::clone(&is_closed);
        // A newer page in another tab must not wait for this one.
        inner.on_version_change(move |event| {
            closed.set(true);
            if let Ok(database) = event.database() {
                database.close();
            }
        });
        // The browser closes it when the user deletes the data of the site.
        let closed = Rc::clone(&is_closed);
        inner.on_close(move |_| closed.set(true));
        Ok(Database {
            inner,
            access: match version {
                Some(_) => Access::ReadWrite,
                None => Access::ReadOnly,
            },
            is_closed,
        })
    }

    /// Returns the access that it allows.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Whether the database was closed, by the browser or because a newer version of the page opened it. It must
    /// then be reopened.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Begins a read-write transaction.
    fn begin(&self, names: &[&str]) -> Result<Transaction, DatabaseError> {
        match self.access {
            Access::ReadOnly => Err(DatabaseError::Newer),
            Access::ReadWrite => Ok(self.inner.transaction(names, TransactionMode::ReadWrite)?),
        }
    }

    /// Whether a newer version of the page removed a store.
    fn is_gone(&self, store: Store) -> bool {
        let is_there = |name: &String| name == store.name();
        self.access == Access::ReadOnly && !self.inner.store_names().iter().any(is_there)
    }

    /// Makes the changes atomically, even if the future is dropped.
    pub async fn write(&self, changes: Rc<[DatabaseChange]>) -> Result<(), DatabaseError> {
        let mut names: Vec<&str> = changes.iter().map(|change| change.store().name()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Ok(());
        }
        let transaction = self.begin(&names)?;
        run_transaction(transaction, &names, move |transaction| {
            async move { make_all(transaction, &changes).await }.boxed_local()
        })
        .await
    }

    /// Makes the changes that `find` returns, in the same transaction, atomically. Returns what else `find` found.
    async fn transact<Found: 'static>(
        &self,
        names: &[&'static str],
        find: impl for<'a> FnOnce(
            &'a Transaction,
        ) -> LocalBoxFuture<
            'a,
            Result<(Vec<DatabaseChange>, Found), DatabaseError>,
        > + 'static,
    ) -> Result<Found, DatabaseError> {
        let transaction = self.begin(names)?;
        run_transaction(transaction, names, move |transaction| {
            async move {
                let (changes, found) = find(transaction).await?;
                make_all(transaction, &changes).await?;
                Ok(found)
            }
            .boxed_local()
        })
        .await
    }

    /// Returns the text under a key.
    pub async fn get(&self, store: Store, key: &str) -> Result<Option<KeptText>, DatabaseError> {
        if self.is_gone(store) {
            return Ok(None);
        }
        let found = self.read(store)?.get(JsValue::from(key))?.await?;
        Ok(found.and_then(KeptText::from_js))
    }

    /// Stores a file. The browser copies it without passing it through wasm memory. Dropping the future aborts the
    /// copy.
    pub async fn put_file(
        &self,
        store: Store,
        key: &str,
        file: &GivenFile,
    ) -> Result<(), DatabaseError> {
        let names = [store.name()];
        let transaction = self.begin(&names)?;
        let mut done = Completion::of(transaction);
        if let Some(transaction) = &done.transaction {
            let store = transaction.object_store(store.name())?;
            store.put(file.as_js(), Some(&key.into()))?;
            done.break_off_unless_wanted(store.transaction());
        }
        done.wait().await
    }

    /// Returns the file under a key, with this name.
    pub async fn get_file(
        &self,
        store: Store,
        key: &str,
        name: &str,
    ) -> Result<Option<GivenFile>, DatabaseError> {
        if self.is_gone(store) {
            return Ok(None);
        }
        let found = self.read(store)?.get(JsValue::from(key))?.await?;
        Ok(found.and_then(|file| GivenFile::of(name, file)))
    }

    /// Returns at most `most` records after a key, in order.
    pub async fn some(
        &self,
        store: Store,
        after: &str,
        most: u32,
    ) -> Result<Vec<(String, KeptText)>, DatabaseError> {
        if self.is_gone(store) {
            return Ok(Vec::new());
        }
        let store = self.read(store)?;
        let keys = store.get_all_keys(after_query(after)?, Some(most))?;
        let texts = store.get_all(after_query(after)?, Some(most))?;
        Ok(pairs(keys.await?, texts.await?))
    }

    /// Returns the records whose keys have a prefix, in order.
    pub async fn all(
        &self,
        store: Store,
        prefix: &str,
    ) -> Result<Vec<(String, KeptText)>, DatabaseError> {
        if self.is_gone(store) {
            return Ok(Vec::new());
        }
        let store = self.read(store)?;
        // Both requests are made at once, so that no change can happen between them.
        let keys = store.get_all_keys(query(prefix)?, None)?;
        let texts = store.get_all(query(prefix)?, None)?;
        Ok(pairs(keys.await?, texts.await?))
    }

    /// Returns the keys with a prefix, in order.
    pub async fn keys(&self, store: Store, prefix: &str) -> Result<Vec<String>, DatabaseError> {
        if self.is_gone(store) {
            return Ok(Vec::new());
        }
        let keys = self
            .read(store)?
            .get_all_keys(query(prefix)?, None)?
            .await?;
        Ok(keys.into_iter().filter_map(|key| key.as_string()).collect())
    }

    /// Returns the keys in an inclusive range, in order.
    pub async fn keys_between(
        &self,
        store: Store,
        first: &str,
        last: &str,
    ) -> Result<Vec<String>, DatabaseError> {
        if self.is_gone(store) {
            return Ok(Vec::new());
        }
        let range = KeyRange::bound(&first.into(), &last.into(), None, None)?;
        let keys = self.read(store)?.get_all_keys(Some(range.into()), None)?;
        let keys = keys.await?.into_iter();
        Ok(keys.filter_map(|key| key.as_string()).collect())
    }

    fn read(&self, store: Store) -> Result<idb::ObjectStore, DatabaseError> {
        let transaction = self
            .inner
            .transaction(&[store.name()], TransactionMode::ReadOnly)?;
        Ok(transaction.object_store(store.name())?)
    }
}

fn pairs(keys: Vec<JsValue>, texts: Vec<JsValue>) -> Vec<(String, KeptText)> {
    let pairs = keys.into_iter().zip(texts);
    pairs
        .filter_map(|(key, text)| Some((key.as_string()?, KeptText::from_js(text)?)))
        .collect()
}

/// The keys after this one; all for the empty key.
fn after_query(key: &str) -> Result<Option<idb::Query>, DatabaseError> {
    match key {
        "" => Ok(None),
        _ => Ok(Some(KeyRange::lower_bound(&key.into(), Some(true))?.into())),
    }
}

fn query(prefix: &str) -> Result<Option<idb::Query>, DatabaseError> {
    match prefix {
        "" => Ok(None),
        _ => Ok(Some(range(prefix)?.into())),
    }
}

/// The keys with a prefix.
fn range(prefix: &str) -> Result<KeyRange, DatabaseError> {
    let end = after_all(prefix);
    Ok(KeyRange::bound(&prefix.into(), &end.into(), None, None)?)
}

/// The upper bound of the keys with a prefix: no key contains a larger character.
pub fn after_all(prefix: &str) -> String {
    format!("{prefix}\u{ffff}")
}

/// Runs the steps of a transaction in a task of its own: a transaction ends when a request has completed and no
/// further one is made at once, and the caller may not be polled at that moment.
async fn run_transaction<Found: 'static>(
    transaction: Transaction,
    names: &[&'static str],
    steps: impl for<'a> FnOnce(&'a Transaction) -> LocalBoxFuture<'a, Result<Found, DatabaseError>>
    + 'static,
) -> Result<Found, DatabaseError> {
    let (send, receive) = oneshot::channel();
    let names = names.to_vec();
    crate::spawn(async move {
        let done = Completion::of(transaction);
        let made = match &done.transaction {
            Some(transaction) => steps(transaction).await,
            None => Err(DatabaseError::Failed {
                reason: "a transaction was broken off".to_owned(),
            }),
        };
        match made {
            Ok(_) => done.commit(&names),
            Err(_) => done.abort(&names),
        }
        // The handle must live until the transaction has ended.
        let ended = done.wait().await;
        let result = match (made, ended) {
            (Ok(found), Ok(())) => Ok(found),
            (Err(error), Ok(()) | Err(DatabaseError::Failed { .. })) => Err(error),
            // Out of space, or a row exists. A step only sees that the transaction was aborted.
            (_, Err(error)) => Err(error),
        };
        // The receiver may have been dropped.
        let _ = send.send(result);
    });
    receive.await.unwrap_or_else(|_| {
        Err(DatabaseError::Failed {
            reason: "a transaction was broken off".to_owned(),
        })
    })
}

async fn make_all(
    transaction: &Transaction,
    changes: &[DatabaseChange],
) -> Result<(), DatabaseError> {
    changes
        .iter()
        .try_for_each(|change| make(transaction, change))?;
    rows::make(transaction, changes).await
}

/// Requests a change. The result of the transaction tells whether it succeeded.
fn make(transaction: &Transaction, change: &DatabaseChange) -> Result<(), DatabaseError> {
    let store = transaction.object_store(change.store().name())?;
    match change {
        // `rows::make` makes these together, after all others.
        DatabaseChange::AddRows(_) | DatabaseChange::PutRows(_) | DatabaseChange::DeleteRows(_) => {
        }
        DatabaseChange::DeleteRowBatch(number) => {
            store.delete(JsValue::from(*number as f64))?;
        }
        DatabaseChange::Put(_, key, text) => {
            store.put(text.as_js(), Some(&key.into()))?;
        }
        DatabaseChange::Delete(_, key) => {
            store.delete(JsValue::from(key))?;
        }
        DatabaseChange::DeletePrefix(_, prefix) if prefix.is_empty() => {
            store.clear()?;
        }
        DatabaseChange::DeletePrefix(_, prefix) => {
            store.delete(range(prefix)?)?;
        }
    }
    Ok(())
}

/// The smallest and the largest of some keys in IndexedDB's order, which compares UTF-16 units.
pub fn bounds<'a, Key: AsRef<str>>(
    keys: impl IntoIterator<Item = &'a Key>,
) -> Option<(&'a Key, &'a Key)> {
    let mut keys = keys.into_iter();
    let first = keys.next()?;
    let is_before = |one: &Key, other: &Key| {
        let (one, other) = (one.as_ref(), other.as_ref());
        one.encode_utf16().lt(other.encode_utf16())
    };
    Some(keys.fold((first, first), |(first, last), key| {
        let first = if is_before(key, first) { key } else { first };
        let last = if is_before(last, key) { key } else { last };
        (first, last)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_in_the_order_of_browsers() {
        assert_eq!(bounds(&Vec::<String>::new()), None);
        assert_eq!(bounds(&["b", "a", "c"]), Some((&"a", &"c")));
        // UTF-8 orders them the other way round.
        assert_eq!(
            bounds(&["\u{ff01}", "\u{1f600}"]),
            Some((&"\u{1f600}", &"\u{ff01}"))
        );
    }
}
