//! The storage of the page: episodes, evaluations with their results, and answers of models, in the browser's database.
//!
//! - [`episodes`]: the texts of episodes, and the rows that lists show. [`sources`]: the large files that hold
//!   episodes. [`evaluations`]: plans, results, drafts. [`answers`]: questions to models, and the answers. [`checkout`]: the user's copy of tau-bench. [`change_feed`]: notifies other tabs and workers of changes.
//! - `record`: the texts of records, with the number of their format. `migration`: migrates the records of earlier
//!   versions. [`unreadable`]: records that cannot be read, which are never deleted automatically. `unstored`: changes
//!   that are only in memory.
//!
//! Invariant: data that the browser refuses to store stay in memory until the page is left. Reads find them there,
//! and [`problem`] returns the reason, so no finished work is lost silently.

pub mod answers;
pub mod change_feed;
pub mod checkout;
pub mod episodes;
pub mod evaluations;
mod migration;
mod record;
pub mod sources;
pub mod unreadable;
mod unstored;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, Shared};
use leptos::prelude::*;
pub use volary_app::library::origin;
use volary_view::recovery::Recovery;

use self::unstored::Unstored;
use volary_browser::database::{
    Access, Database, DatabaseChange, DatabaseError, KeptText, RowBatch, Store, read_row_batches,
    read_rows,
};

/// The database, opened once for all callers. An error other than a full disk persists until the page is reloaded.
type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Database>, DatabaseError>>>;

thread_local! {
    static OPENING: RefCell<Option<Opening>> = const { RefCell::new(None) };
    /// The changes of each [`PendingWrite`], in order.
    static PENDING: RefCell<Vec<Rc<[DatabaseChange]>>> = const { RefCell::new(Vec::new()) };
    static UNSTORED: RefCell<Unstored> = const { RefCell::new(Unstored::new()) };
    static RECOVERY: ArcRwSignal<Option<Recovery>> = ArcRwSignal::new(None);
    static PROBLEM: ArcRwSignal<Option<DatabaseError>> = ArcRwSignal::new(None);
    static REFUSED: ArcTrigger = ArcTrigger::new();
}

/// Why some records are only in memory; `None` while the browser stores everything. Tracks changes.
pub fn problem() -> Option<DatabaseError> {
    PROBLEM.with(ArcRwSignal::clone).get()
}

/// Tracks changes that the browser refuses to store.
pub fn track_refusals() {
    REFUSED.with(ArcTrigger::track);
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
    let kept = try_to_write(changes).await;
    if !matches!(kept, Ok(()) | Err(DatabaseError::Taken)) {
        REFUSED.with(ArcTrigger::notify);
    }
    kept
}

async fn try_to_write(changes: Vec<DatabaseChange>) -> Result<(), DatabaseError> {
    let changes: Rc<[DatabaseChange]> = changes.into();
    let pending = PendingWrite::of(&changes);
    let kept = match database().await {
        Ok(database) => database.write(Rc::clone(&changes)).await,
        Err(error) => Err(error),
    };
    drop(pending);
    if kept == Err(DatabaseError::Taken) {
        return kept;
    }
    change_feed::notify(&changes);
    UNSTORED.with_borrow_mut(|unstored| match &kept {
        Ok(()) => changes.iter().for_each(|change| unstored.settle(change)),
        Err(_) => changes.iter().for_each(|change| unstored.apply(change)),
    });
    set_problem(kept.as_ref().err());
    kept
}

/// A write whose outcome is not known yet.
struct PendingWrite(Rc<[DatabaseChange]>);

impl PendingWrite {
    fn of(changes: &Rc<[DatabaseChange]>) -> PendingWrite {
        PENDING.with_borrow_mut(|pending| pending.push(Rc::clone(changes)));
        PendingWrite(Rc::clone(changes))
    }
}

impl Drop for PendingWrite {
    fn drop(&mut self) {
        PENDING.with_borrow_mut(|pending| pending.retain(|other| !Rc::ptr_eq(other, &self.0)));
    }
}

/// Retries storing the records that are only in memory.
pub async fn keep_all() -> Result<(), DatabaseError> {
    // The database makes changes in the order of the calls, so a record that is being written would be replaced by an
    // earlier state.
    let pending = PENDING.with_borrow(Clone::clone);
    let later = UNSTORED.with_borrow(|unstored| {
        unstored.changes_after(pending.iter().flat_map(|changes| &**changes))
    });
    try_to_write(later).await
}

/// Forgets records that are only in memory as if the browser had made these changes.
fn forget_unstored(changes: &[DatabaseChange]) {
    UNSTORED.with_borrow_mut(|unstored| changes.iter().for_each(|change| unstored.settle(change)));
    set_problem(None);
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
    if let Some(unstored) = UNSTORED.with_borrow(|unstored| unstored.get(store, key)) {
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
    Ok(UNSTORED.with_borrow(|unstored| unstored.over_records(store, prefix, kept)))
}

/// Returns the keys of a store in an inclusive range.
async fn keys_between(
    store: Store,
    first: &str,
    last: &str,
) -> Result<BTreeSet<String>, DatabaseError> {
    let kept = match database().await {
        Ok(database) => database.keys_between(store, first, last).await?,
        Err(error) => unless_in_memory(error, Vec::new())?,
    };
    Ok(UNSTORED.with_borrow(|unstored| unstored.over_keys(store, first, last, kept)))
}

/// Returns the rows with these ids; ids without a row are skipped.
async fn rows(ids: &[String]) -> Result<BTreeMap<String, KeptText>, DatabaseError> {
    let found = match database().await {
        Ok(database) => read_rows(&database, ids).await?,
        Err(error) => unless_in_memory(error, BTreeMap::new())?,
    };
    Ok(UNSTORED.with_borrow(|unstored| unstored.over_rows(ids, found)))
}

/// Returns at most `most` records of rows after a number, in order, only from the browser's database.
async fn row_batches(after: u64, most: u32) -> Result<Vec<(u64, Option<RowBatch>)>, DatabaseError> {
    match database().await {
        Ok(database) => read_row_batches(&database, after, most).await,
        Err(error) => unless_in_memory(error, Vec::new()),
    }
}

/// Returns the records that the browser did not store, under keys with a prefix.
fn unstored(store: Store, prefix: &str) -> Vec<(String, KeptText)> {
    UNSTORED.with_borrow(|unstored| unstored.records(store, prefix))
}

/// Whether a record is deleted only in memory.
fn is_deleted(store: Store, key: &str) -> bool {
    UNSTORED.with_borrow(|unstored| unstored.is_deleted(store, key))
}

/// Without a database, everything stored in this visit is in memory, and an empty list is then correct.
fn unless_in_memory<T>(error: DatabaseError, otherwise: T) -> Result<T, DatabaseError> {
    if UNSTORED.with_borrow(Unstored::is_empty) {
        Err(error)
    } else {
        Ok(otherwise)
    }
}

async fn database() -> Result<Rc<Database>, DatabaseError> {
    let opening = OPENING.with_borrow_mut(|opening| {
        let is_outdated = match opening.as_ref().and_then(Shared::peek) {
            // If a newer page closed the database, it can be reopened for reading.
            Some(Ok(database)) => database.is_closed(),
            // There may be space again.
            Some(Err(error)) => *error == DatabaseError::Full,
            None => false,
        };
        if is_outdated {
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
    UNSTORED.with_borrow_mut(|unstored| left.iter().for_each(|change| unstored.apply(change)));
    // The newer version migrates a read-only database.
    if let Err(error) = moved
        && error != DatabaseError::Newer
    {
        set_problem(Some(&error));
    }
    Ok(Rc::new(database))
}

fn set_problem(error: Option<&DatabaseError>) {
    let problem = match error {
        Some(error) => Some(error.clone()),
        // Records of earlier failures may still be only in memory.
        None if UNSTORED.with_borrow(Unstored::is_empty) => None,
        None => return,
    };
    let signal = PROBLEM.with(ArcRwSignal::clone);
    if signal.with_untracked(|known| *known != problem) {
        signal.set(problem);
    }
}
