//! The storage of the page: episodes, and evaluations with their results, in the browser's database.
//!
//! - [`episodes`]: the texts of episodes, and the rows that lists show. [`sources`]: the large files that hold
//!   episodes. [`evaluations`]: plans, results, drafts. [`checkout`]: the user's copy of tau-bench. [`origin`]: how
//!   episodes entered the library. [`change_feed`]: notifies other tabs and workers of changes.
//! - `record`: the texts of records, with the number of their format. `migration`: migrates the records of earlier
//!   versions. [`unreadable`]: records that cannot be read, which are never deleted automatically.
//!
//! Invariant: data that the browser refuses to store stay in memory until the page is left. Reads find them there,
//! and [`problem`] returns the reason, so no finished work is lost silently.

pub mod change_feed;
pub mod checkout;
pub mod episodes;
pub mod evaluations;
mod migration;
pub mod origin;
mod record;
pub mod sources;
pub mod unreadable;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, Shared};
use leptos::prelude::*;

use crate::browser::database::{
    Access, Database, DatabaseChange, DatabaseError, KeptText, RowBatch, Store, read_row_batches,
    read_rows,
};
use crate::projection::recovery::Recovery;

/// The database, opened once for all callers. An error persists until the page is reloaded.
type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Database>, DatabaseError>>>;

/// The records that the browser did not store; `None` for a deleted one.
type Unstored = BTreeMap<(Store, String), Option<KeptText>>;

thread_local! {
    static OPENING: RefCell<Option<Opening>> = const { RefCell::new(None) };
    static UNSTORED: RefCell<Unstored> = const { RefCell::new(BTreeMap::new()) };
    static RECOVERY: ArcRwSignal<Option<Recovery>> = ArcRwSignal::new(None);
    static PROBLEM: ArcRwSignal<Option<DatabaseError>> = ArcRwSignal::new(None);
}

/// Why some records are only in memory; `None` while the browser stores everything. Tracks changes.
pub fn problem() -> Option<DatabaseError> {
    PROBLEM.with(ArcRwSignal::clone).get()
}

/// The progress of the migration from an earlier version; `None` while there is none. Tracks changes.
pub fn recovery() -> Option<Recovery> {
    RECOVERY.with(ArcRwSignal::clone).get()
}

fn set_recovery(recovery: Option<Recovery>) {
    RECOVERY.with(ArcRwSignal::clone).set(recovery);
}

/// Whether the database is read-only, because a newer version of this page upgraded it. Known after the first
/// read.
pub fn is_read_only() -> bool {
    OPENING.with_borrow(|opening| match opening.as_ref().and_then(Shared::peek) {
        Some(Ok(database)) => database.access() == Access::ReadOnly,
        _ => false,
    })
}

/// Makes the changes atomically; after an error they are made in memory. If a new record exists already
/// ([`DatabaseError::Taken`]), none is made at all.
pub async fn write(changes: Vec<DatabaseChange>) -> Result<(), DatabaseError> {
    let changes: Rc<[DatabaseChange]> = changes.into();
    let kept = match database().await {
        Ok(database) => database.write(Rc::clone(&changes)).await,
        Err(error) => Err(error),
    };
    if kept == Err(DatabaseError::Taken) {
        return kept;
    }
    change_feed::notify(&changes);
    UNSTORED.with_borrow_mut(|unstored| match &kept {
        Ok(()) => changes.iter().for_each(|change| forget(unstored, change)),
        Err(_) => changes
            .iter()
            .for_each(|change| apply(unstored, change.clone())),
    });
    set_problem(kept.as_ref().err());
    kept
}

/// Retries storing the records that are only in memory.
pub async fn keep_all() -> Result<(), DatabaseError> {
    let (mut changes, mut rows) = (Vec::new(), Vec::new());
    UNSTORED.with_borrow(|unstored| {
        for ((store, key), text) in unstored {
            let (store, key) = (*store, key.clone());
            match (store, text) {
                (Store::Rows, Some(text)) => rows.push((key, text.clone())),
                (Store::Rows, None) => changes.push(DatabaseChange::DeleteRows(vec![key])),
                (_, Some(text)) => changes.push(DatabaseChange::Put(store, key, text.clone())),
                (_, None) => changes.push(DatabaseChange::Delete(store, key)),
            }
        }
    });
    changes.push(DatabaseChange::PutRows(RowBatch::new(rows)));
    write(changes).await
}

/// Deletes everything, in the browser and in memory.
pub async fn forget_all() -> Result<(), DatabaseError> {
    let stores = Store::ALL.into_iter();
    let changes = stores.map(|store| DatabaseChange::DeletePrefix(store, String::new()));
    write(changes.collect()).await?;
    unreadable::clear_all();
    Ok(())
}

/// Returns the text under a key.
pub async fn get(store: Store, key: &str) -> Result<Option<KeptText>, DatabaseError> {
    let place = (store, key.to_owned());
    if let Some(unstored) = UNSTORED.with_borrow(|unstored| unstored.get(&place).cloned()) {
        return Ok(unstored);
    }
    match database().await {
        Ok(database) => database.get(store, key).await,
        Err(error) => unless_in_memory(error, None),
    }
}

/// Returns the records whose keys have a prefix, in order.
pub async fn all(store: Store, prefix: &str) -> Result<Vec<(String, KeptText)>, DatabaseError> {
    let kept = match database().await {
        Ok(database) => database.all(store, prefix).await?,
        Err(error) => unless_in_memory(error, Vec::new())?,
    };
    let mut found: BTreeMap<String, KeptText> = kept.into_iter().collect();
    for (key, text) in unstored(store, prefix) {
        match text {
            Some(text) => found.insert(key, text),
            None => found.remove(&key),
        };
    }
    Ok(found.into_iter().collect())
}

/// Returns the keys of a store in an inclusive range.
async fn keys_between(
    store: Store,
    first: &str,
    last: &str,
) -> Result<BTreeSet<String>, DatabaseError> {
    let mut keys: BTreeSet<String> = match database().await {
        Ok(database) => database.keys_between(store, first, last).await?,
        Err(error) => unless_in_memory(error, Vec::new())?,
    }
    .into_iter()
    .collect();
    let unstored = unstored(store, "").into_iter();
    keys.extend(unstored.filter_map(|(key, text)| text.map(|_| key)));
    Ok(keys)
}

/// Returns the rows with these ids; ids without a row are skipped.
async fn rows(ids: &[String]) -> Result<BTreeMap<String, KeptText>, DatabaseError> {
    let mut found = match database().await {
        Ok(database) => read_rows(&database, ids).await?,
        Err(error) => unless_in_memory(error, BTreeMap::new())?,
    };
    for id in ids {
        let place = (Store::Rows, id.clone());
        match UNSTORED.with_borrow(|unstored| unstored.get(&place).cloned()) {
            Some(Some(row)) => {
                found.insert(id.clone(), row);
            }
            Some(None) => {
                found.remove(id);
            }
            None => {}
        }
    }
    Ok(found)
}

/// Returns at most `most` records of rows after a number, in order, only from the browser's database.
async fn row_batches(after: u64, most: u32) -> Result<Vec<(u64, Option<RowBatch>)>, DatabaseError> {
    match database().await {
        Ok(database) => read_row_batches(&database, after, most).await,
        Err(error) => unless_in_memory(error, Vec::new()),
    }
}

/// Returns the records that the browser did not store, under keys with a prefix; `None` for a deleted record.
fn unstored(store: Store, prefix: &str) -> Vec<(String, Option<KeptText>)> {
    UNSTORED.with_borrow(|unstored| {
        let after = unstored.range((store, prefix.to_owned())..);
        after
            .take_while(|((of, key), _)| *of == store && key.starts_with(prefix))
            .map(|((_, key), text)| (key.clone(), text.clone()))
            .collect()
    })
}

/// Without a database, everything stored in this visit is in memory, and an empty list is then correct.
fn unless_in_memory<T>(error: DatabaseError, otherwise: T) -> Result<T, DatabaseError> {
    match UNSTORED.with_borrow(BTreeMap::is_empty) {
        true => Err(error),
        false => Ok(otherwise),
    }
}

async fn database() -> Result<Rc<Database>, DatabaseError> {
    let opening = OPENING.with_borrow_mut(|opening| {
        // If a newer page closed the database, it can be reopened for reading.
        if let Some(Ok(database)) = opening.as_ref().and_then(Shared::peek)
            && database.is_closed()
        {
            *opening = None;
        }
        let opening = opening.get_or_insert_with(|| open().boxed_local().shared());
        opening.clone()
    });
    opening.await
}

/// Opens the database and migrates the records of earlier versions.
async fn open() -> Result<Rc<Database>, DatabaseError> {
    let database = Database::open().await?;
    let mut left = Vec::new();
    let moved = migration::run(&database, &mut left).await;
    UNSTORED
        .with_borrow_mut(|unstored| left.into_iter().for_each(|change| apply(unstored, change)));
    // The newer version migrates a read-only database.
    if let Err(error) = moved
        && error != DatabaseError::Newer
    {
        set_problem(Some(&error));
    }
    Ok(Rc::new(database))
}

fn apply(unstored: &mut Unstored, change: DatabaseChange) {
    match change {
        DatabaseChange::Put(store, key, text) => {
            unstored.insert((store, key), Some(text));
        }
        DatabaseChange::Delete(store, key) => {
            unstored.insert((store, key), None);
        }
        DatabaseChange::DeletePrefix(store, prefix) => {
            unstored.retain(|(of, key), _| *of != store || !key.starts_with(&prefix));
        }
        DatabaseChange::AddRows(rows) | DatabaseChange::PutRows(rows) => {
            let rows = rows.rows().iter().cloned();
            unstored.extend(rows.map(|(id, row)| ((Store::Rows, id), Some(row))));
        }
        DatabaseChange::DeleteRows(ids) => {
            unstored.extend(ids.into_iter().map(|id| ((Store::Rows, id), None)));
        }
        // The batch is unreadable, so none of its rows is displayed.
        DatabaseChange::DeleteRowBatch(_) => {}
    }
}

fn forget(unstored: &mut Unstored, change: &DatabaseChange) {
    match change {
        DatabaseChange::Put(store, key, _) | DatabaseChange::Delete(store, key) => {
            unstored.remove(&(*store, key.clone()));
        }
        DatabaseChange::DeletePrefix(store, prefix) => {
            unstored.retain(|(of, key), _| of != store || !key.starts_with(prefix));
        }
        DatabaseChange::AddRows(rows) | DatabaseChange::PutRows(rows) => {
            for id in rows.ids() {
                unstored.remove(&(Store::Rows, id.to_owned()));
            }
        }
        DatabaseChange::DeleteRows(ids) => {
            for id in ids {
                unstored.remove(&(Store::Rows, id.clone()));
            }
        }
        DatabaseChange::DeleteRowBatch(_) => {}
    }
}

fn set_problem(error: Option<&DatabaseError>) {
    let problem = match error {
        Some(error) => Some(error.clone()),
        // Records of earlier failures may still be only in memory.
        None if UNSTORED.with_borrow(BTreeMap::is_empty) => None,
        None => return,
    };
    let signal = PROBLEM.with(ArcRwSignal::clone);
    if signal.with_untracked(|known| *known != problem) {
        signal.set(problem);
    }
}
