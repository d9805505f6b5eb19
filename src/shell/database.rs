//! The browser's database: texts under keys, in a few stores. What the texts mean is for
//! [`crate::records`] to say.
//!
//! What always holds: a list of changes happens as a whole or not at all, and is on its way to the
//! disk once [`Database::write`] resolves. A browser may refuse all of it (private windows, policies),
//! or take no more (a full disk); [`DatabaseError`] tells which.

mod error;
mod kept_text;
mod packed;
mod parcel;

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use idb::{DatabaseEvent, Factory, KeyRange, ObjectStoreParams, Transaction, TransactionMode};
use wasm_bindgen::prelude::*;

pub use error::DatabaseError;
pub use kept_text::KeptText;
pub use parcel::{Packing, Parcel};

use super::files::GivenFile;

/// The name among the databases of the host, which other pages may share.
const NAME: &str = "volary";

/// Counts up when stores are added, or hold what former pages would not understand (4: packed parcels, plans that
/// say once what many tasks share). Tabs with such a page let go of the database, and say why.
const VERSION: u32 = 4;

/// A store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Store {
    /// What lists show of an episode, by its id.
    Summaries,
    /// The whole texts of episodes, in parts, by id and number of the part.
    Episodes,
    /// What evaluations were asked to do, by their ids.
    Evaluations,
    /// What came of each cell of an evaluation, by its id and the number of the cell.
    Results,
    /// The actions so far of episodes that are under way, by the same keys.
    Drafts,
    /// What is known of the files in which episodes stand, by their ids.
    Sources,
    /// Those files themselves, by the same keys.
    Files,
    /// Parcels of changes that are to be made, by the order in which they came.
    Journal,
}

impl Store {
    /// All of them, each with the version that it came with.
    pub const ALL: [(Store, u32); 8] = [
        (Store::Summaries, 1),
        (Store::Episodes, 1),
        (Store::Evaluations, 1),
        (Store::Results, 1),
        (Store::Drafts, 1),
        (Store::Sources, 2),
        (Store::Files, 2),
        (Store::Journal, 3),
    ];

    const fn name(self) -> &'static str {
        match self {
            Store::Summaries => "summaries",
            Store::Episodes => "episodes",
            Store::Evaluations => "evaluations",
            Store::Results => "results",
            Store::Drafts => "drafts",
            Store::Sources => "sources",
            Store::Files => "files",
            Store::Journal => "journal",
        }
    }
}

/// A change.
#[derive(Clone, Debug)]
pub enum Change {
    /// A text is kept under a key, in the place of what was there.
    Put(Store, String, KeptText),
    /// A text is kept under a key. If there is one, no change of the list is made ([`DatabaseError::Taken`]).
    Add(Store, String, KeptText),
    /// What stands under a key is forgotten.
    Forget(Store, String),
    /// What stands under all keys that begin so is forgotten; all of the store for the empty text.
    ForgetAll(Store, String),
}

/// An open database.
pub struct Database(idb::Database);

impl Database {
    /// Opens it, and makes it the first time.
    pub async fn open() -> Result<Database, DatabaseError> {
        let factory = Factory::new().map_err(|_| DatabaseError::Absent)?;
        let mut request = factory.open(NAME, Some(VERSION))?;
        request.on_upgrade_needed(|event| {
            let Ok(database) = event.database() else {
                return;
            };
            let there = database.store_names();
            for (store, _) in Store::ALL {
                if !there.iter().any(|name| name == store.name()) {
                    // What is missing afterwards is said by the first transaction that wants it.
                    let _ = database.create_object_store(store.name(), ObjectStoreParams::new());
                }
            }
        });
        let mut database = request.await?;
        // A newer page in another tab must not wait for this one.
        database.on_version_change(|event| {
            if let Ok(database) = event.database() {
                database.close();
            }
        });
        Ok(Database(database))
    }

    /// Makes the changes, all or none.
    pub async fn write(&self, changes: &[Change]) -> Result<(), DatabaseError> {
        let mut names: Vec<&str> = changes.iter().map(|change| change.store().name()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Ok(());
        }
        let transaction = self.0.transaction(&names, TransactionMode::ReadWrite)?;
        let mut done = Completion::of(transaction);
        if let Err(error) = done.transaction.as_ref().map_or(Ok(()), |transaction| {
            changes
                .iter()
                .try_for_each(|change| make(transaction, change))
        }) {
            // All or none; and nothing may be let go before the browser is done with it.
            done.abort();
            let _ = done.wait().await;
            return Err(error);
        }
        done.commit(&names);
        done.wait().await
    }

    /// The text under a key.
    pub async fn get(&self, store: Store, key: &str) -> Result<Option<KeptText>, DatabaseError> {
        let found = self.read(store)?.get(JsValue::from(key))?.await?;
        Ok(found.and_then(KeptText::from_js))
    }

    /// Keeps a file. The browser copies it by itself: it does not pass through our memory. It is copied no further once
    /// nobody waits for that.
    pub async fn put_file(
        &self,
        store: Store,
        key: &str,
        file: &GivenFile,
    ) -> Result<(), DatabaseError> {
        let names = [store.name()];
        let transaction = self.0.transaction(&names, TransactionMode::ReadWrite)?;
        let mut done = Completion::of(transaction);
        if let Some(transaction) = &done.transaction {
            let store = transaction.object_store(store.name())?;
            store.put(file.as_js(), Some(&key.into()))?;
            done.breaks_off = Some(store.transaction());
        }
        done.wait().await
    }

    /// The file under a key, under this name.
    pub async fn get_file(
        &self,
        store: Store,
        key: &str,
        name: &str,
    ) -> Result<Option<GivenFile>, DatabaseError> {
        let found = self.read(store)?.get(JsValue::from(key))?.await?;
        Ok(found.and_then(|file| GivenFile::of(name, file)))
    }

    /// At most so many keys that begin so and come after one, in order, and their texts.
    pub async fn some(
        &self,
        store: Store,
        after: &str,
        most: u32,
    ) -> Result<Vec<(String, KeptText)>, DatabaseError> {
        let store = self.read(store)?;
        let range = || -> Result<Option<idb::Query>, DatabaseError> {
            match after {
                "" => Ok(None),
                _ => Ok(Some(
                    KeyRange::lower_bound(&after.into(), Some(true))?.into(),
                )),
            }
        };
        let keys = store.get_all_keys(range()?, Some(most))?;
        let texts = store.get_all(range()?, Some(most))?;
        pairs(keys.await?, texts.await?)
    }

    /// All keys that begin so, in order, and their texts.
    pub async fn all(
        &self,
        store: Store,
        prefix: &str,
    ) -> Result<Vec<(String, KeptText)>, DatabaseError> {
        let store = self.read(store)?;
        // Asked for at once, so that nothing can come between.
        let keys = store.get_all_keys(query(prefix)?, None)?;
        let texts = store.get_all(query(prefix)?, None)?;
        pairs(keys.await?, texts.await?)
    }

    /// All keys that begin so, in order.
    pub async fn keys(&self, store: Store, prefix: &str) -> Result<Vec<String>, DatabaseError> {
        let keys = self
            .read(store)?
            .get_all_keys(query(prefix)?, None)?
            .await?;
        Ok(keys.into_iter().filter_map(|key| key.as_string()).collect())
    }

    fn read(&self, store: Store) -> Result<idb::ObjectStore, DatabaseError> {
        let transaction = self
            .0
            .transaction(&[store.name()], TransactionMode::ReadOnly)?;
        Ok(transaction.object_store(store.name())?)
    }
}

impl Change {
    /// The store that it concerns.
    pub fn store(&self) -> Store {
        match self {
            Change::Put(store, ..)
            | Change::Add(store, ..)
            | Change::Forget(store, _)
            | Change::ForgetAll(store, _) => *store,
        }
    }
}

fn pairs(
    keys: Vec<JsValue>,
    texts: Vec<JsValue>,
) -> Result<Vec<(String, KeptText)>, DatabaseError> {
    let pairs = keys.into_iter().zip(texts);
    Ok(pairs
        .filter_map(|(key, text)| Some((key.as_string()?, KeptText::from_js(text)?)))
        .collect())
}

fn query(prefix: &str) -> Result<Option<idb::Query>, DatabaseError> {
    match prefix {
        "" => Ok(None),
        _ => Ok(Some(range(prefix)?.into())),
    }
}

/// The keys that begin so: no key of ours holds a letter beyond the last one of the range.
fn range(prefix: &str) -> Result<KeyRange, DatabaseError> {
    let end = format!("{prefix}\u{ffff}");
    Ok(KeyRange::bound(&prefix.into(), &end.into(), None, None)?)
}

/// Asks for a change. What becomes of it, the whole transaction says.
fn make(transaction: &Transaction, change: &Change) -> Result<(), DatabaseError> {
    let store = transaction.object_store(change.store().name())?;
    match change {
        Change::Put(_, key, text) => {
            store.put(text.as_js(), Some(&key.into()))?;
        }
        Change::Add(_, key, text) => {
            store.add(text.as_js(), Some(&key.into()))?;
        }
        Change::Forget(_, key) => {
            store.delete(JsValue::from(key))?;
        }
        Change::ForgetAll(_, prefix) if prefix.is_empty() => {
            store.clear()?;
        }
        Change::ForgetAll(_, prefix) => {
            store.delete(range(prefix)?)?;
        }
    }
    Ok(())
}

/// Waits for a transaction. (The crate's own future does not tell why one was broken off.)
struct Completion {
    /// Only `None` if it could not even be aborted.
    transaction: Option<Transaction>,
    end: Rc<RefCell<End>>,
    /// The same transaction once more, if it ends when nobody waits for it any more.
    breaks_off: Option<Transaction>,
}

enum End {
    Open(Option<Waker>),
    Done(Result<(), DatabaseError>),
}

impl Drop for Completion {
    /// Whoever waited may be gone; the browser still calls when it is done.
    fn drop(&mut self) {
        if matches!(&*self.end.borrow(), End::Open(_)) {
            // One that can't be broken off is over, but for the call.
            let _ = self.breaks_off.take().map(Transaction::abort);
            std::mem::forget(self.transaction.take());
        }
    }
}

impl Completion {
    fn of(mut transaction: Transaction) -> Self {
        let end = Rc::new(RefCell::new(End::Open(None)));
        let finish = {
            let end = Rc::clone(&end);
            move |result| {
                if let End::Open(Some(waker)) = end.replace(End::Done(result)) {
                    waker.wake();
                }
            }
        };
        let broken = finish.clone();
        transaction.on_complete(move |_| finish(Ok(())));
        transaction.on_abort(move |event| broken(Err(DatabaseError::of_event(&event))));
        Completion {
            transaction: Some(transaction),
            end,
            breaks_off: None,
        }
    }

    /// All is asked for: it ends by itself, and not when the page, which may be busy, has heard of every request. (The
    /// handle of a store is another one of the transaction: nothing is lost where a browser knows no such end.)
    fn commit(&self, names: &[&str]) {
        let store = names.first().zip(self.transaction.as_ref());
        let store = store.and_then(|(name, transaction)| transaction.object_store(name).ok());
        let _ = store.map(|store| store.transaction().commit());
    }

    fn abort(&mut self) {
        let aborted = self.transaction.take().map(Transaction::abort);
        match aborted {
            Some(Ok(transaction)) => self.transaction = Some(transaction),
            // It was over already; nothing more will be heard of it.
            _ => {
                self.end.replace(End::Done(Ok(())));
            }
        }
    }

    async fn wait(self) -> Result<(), DatabaseError> {
        poll_fn(|context| match &mut *self.end.borrow_mut() {
            End::Done(result) => Poll::Ready(result.clone()),
            End::Open(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        })
        .await
    }
}
