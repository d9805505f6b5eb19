//! Episodes, and evaluations with their results, in the browser's database.
//!
//! - [`episodes`]: the texts of episodes, and the rows that lists show. [`sources`]: the large files that hold episodes.
//!   [`evaluations`]: plans, results, drafts. [`origin`]: how episodes came here. [`change_feed`]: tells other tabs and
//!   workers what changed.
//! - `record`: the texts of records, with the number of their format. `migration`: moves what earlier versions stored.
//!   [`unreadable`]: records that cannot be read, which nothing deletes by itself.
//!
//! Invariant: what the browser refuses to store stays in memory until the page is left. Reads find it there, and
//! [`trouble`] says why, so nothing that is finished is lost without a word.

pub mod change_feed;
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
    Access, Change, Database, DatabaseError, KeptText, RowBatch, Store,
};
use crate::projection::recovery::Recovery;

/// The database, which is opened once for all who ask. An error stays until the page is loaded again.
type Opening = Shared<LocalBoxFuture<'static, Result<Rc<Database>, DatabaseError>>>;

/// What the browser did not keep: `None` where something was forgotten.
type Unkept = BTreeMap<(Store, String), Option<KeptText>>;

thread_local! {
    static OPENING: RefCell<Option<Opening>> = const { RefCell::new(None) };
    static UNKEPT: RefCell<Unkept> = const { RefCell::new(BTreeMap::new()) };
    static RECOVERY: ArcRwSignal<Option<Recovery>> = ArcRwSignal::new(None);
    static TROUBLE: ArcRwSignal<Option<DatabaseError>> = ArcRwSignal::new(None);
}

/// Why the browser does not keep what is in memory alone; `None` while it keeps all. Tracks changes.
pub fn trouble() -> Option<DatabaseError> {
    TROUBLE.with(ArcRwSignal::clone).get()
}

/// How far the migration is of what an earlier version of the page stored; `None` while there is none. Tracks changes.
pub fn recovery() -> Option<Recovery> {
    RECOVERY.with(ArcRwSignal::clone).get()
}

fn tell_recovery(recovery: Option<Recovery>) {
    RECOVERY.with(ArcRwSignal::clone).set(recovery);
}

/// Whether the database can only be read, because a newer version of this page upgraded it. Known once something was
/// read.
pub fn is_read_only() -> bool {
    OPENING.with_borrow(|opening| match opening.as_ref().and_then(Shared::peek) {
        Some(Ok(database)) => database.access() == Access::ReadOnly,
        _ => false,
    })
}

/// Makes the changes, all or none; on an error they are made in memory. If something that was to be new is there
/// already ([`DatabaseError::Taken`]), they are not made at all.
pub async fn write(changes: Vec<Change>) -> Result<(), DatabaseError> {
    let changes: Rc<[Change]> = changes.into();
    let kept = match database().await {
        Ok(database) => database.write(Rc::clone(&changes)).await,
        Err(error) => Err(error),
    };
    if kept == Err(DatabaseError::Taken) {
        return kept;
    }
    change_feed::tell(&changes);
    UNKEPT.with_borrow_mut(|unkept| match &kept {
        Ok(()) => changes.iter().for_each(|change| forget(unkept, change)),
        Err(_) => changes
            .iter()
            .for_each(|change| apply(unkept, change.clone())),
    });
    tell(kept.as_ref().err());
    kept
}

/// Tries to store what is in memory alone.
pub async fn keep_all() -> Result<(), DatabaseError> {
    let (mut changes, mut rows) = (Vec::new(), Vec::new());
    UNKEPT.with_borrow(|unkept| {
        for ((store, key), text) in unkept {
            let (store, key) = (*store, key.clone());
            match (store, text) {
                (Store::Rows, Some(text)) => rows.push((key, text.clone())),
                (Store::Rows, None) => changes.push(Change::ForgetRows(vec![key])),
                (_, Some(text)) => changes.push(Change::Put(store, key, text.clone())),
                (_, None) => changes.push(Change::Forget(store, key)),
            }
        }
    });
    changes.push(Change::PutRows(RowBatch::new(rows)));
    write(changes).await
}

/// Forgets everything, in the browser and in memory.
pub async fn forget_all() -> Result<(), DatabaseError> {
    let stores = Store::ALL.into_iter();
    let changes = stores.map(|store| Change::ForgetAll(store, String::new()));
    write(changes.collect()).await?;
    unreadable::clear_all();
    Ok(())
}

/// The text under a key.
pub async fn get(store: Store, key: &str) -> Result<Option<KeptText>, DatabaseError> {
    let place = (store, key.to_owned());
    if let Some(unkept) = UNKEPT.with_borrow(|unkept| unkept.get(&place).cloned()) {
        return Ok(unkept);
    }
    match database().await {
        Ok(database) => database.get(store, key).await,
        Err(error) => unless_in_memory(error, None),
    }
}

/// All keys that begin so, in order, and their texts.
pub async fn all(store: Store, prefix: &str) -> Result<Vec<(String, KeptText)>, DatabaseError> {
    let kept = match database().await {
        Ok(database) => database.all(store, prefix).await?,
        Err(error) => unless_in_memory(error, Vec::new())?,
    };
    let mut found: BTreeMap<String, KeptText> = kept.into_iter().collect();
    for (key, text) in unkept(store, prefix) {
        match text {
            Some(text) => found.insert(key, text),
            None => found.remove(&key),
        };
    }
    Ok(found.into_iter().collect())
}

/// The keys of a store from one to another.
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
    let unkept = unkept(store, "").into_iter();
    keys.extend(unkept.filter_map(|(key, text)| text.map(|_| key)));
    Ok(keys)
}

/// The rows with these ids, as far as there are any.
async fn rows(ids: &[String]) -> Result<BTreeMap<String, KeptText>, DatabaseError> {
    let mut found = match database().await {
        Ok(database) => database.rows(ids).await?,
        Err(error) => unless_in_memory(error, BTreeMap::new())?,
    };
    for id in ids {
        let place = (Store::Rows, id.clone());
        match UNKEPT.with_borrow(|unkept| unkept.get(&place).cloned()) {
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

/// At most so many records of rows after a number, in order: only what the browser stores.
async fn row_batches(after: u64, most: u32) -> Result<Vec<(u64, Option<RowBatch>)>, DatabaseError> {
    match database().await {
        Ok(database) => database.row_batches(after, most).await,
        Err(error) => unless_in_memory(error, Vec::new()),
    }
}

/// What the browser did not keep of a store, under keys that begin so; `None` where something was forgotten.
fn unkept(store: Store, prefix: &str) -> Vec<(String, Option<KeptText>)> {
    UNKEPT.with_borrow(|unkept| {
        let after = unkept.range((store, prefix.to_owned())..);
        after
            .take_while(|((of, key), _)| *of == store && key.starts_with(prefix))
            .map(|((_, key), text)| (key.clone(), text.clone()))
            .collect()
    })
}

/// The browser keeps nothing; what was made since is in memory, and an empty list is the truth then.
fn unless_in_memory<T>(error: DatabaseError, otherwise: T) -> Result<T, DatabaseError> {
    match UNKEPT.with_borrow(BTreeMap::is_empty) {
        true => Err(error),
        false => Ok(otherwise),
    }
}

async fn database() -> Result<Rc<Database>, DatabaseError> {
    let opening = OPENING.with_borrow_mut(|opening| {
        // A newer page closed it; it can be opened again, for reading.
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

/// Opens the database, and moves what earlier versions stored.
async fn open() -> Result<Rc<Database>, DatabaseError> {
    let database = Database::open().await?;
    let mut left = Vec::new();
    let moved = migration::run(&database, &mut left).await;
    UNKEPT.with_borrow_mut(|unkept| left.into_iter().for_each(|change| apply(unkept, change)));
    // A newer version moves what this one may not.
    if let Err(error) = moved
        && error != DatabaseError::Newer
    {
        tell(Some(&error));
    }
    Ok(Rc::new(database))
}

fn apply(unkept: &mut Unkept, change: Change) {
    match change {
        Change::Put(store, key, text) => {
            unkept.insert((store, key), Some(text));
        }
        Change::Forget(store, key) => {
            unkept.insert((store, key), None);
        }
        Change::ForgetAll(store, prefix) => {
            unkept.retain(|(of, key), _| *of != store || !key.starts_with(&prefix));
        }
        Change::AddRows(rows) | Change::PutRows(rows) => {
            let rows = rows.rows().iter().cloned();
            unkept.extend(rows.map(|(id, row)| ((Store::Rows, id), Some(row))));
        }
        Change::ForgetRows(ids) => {
            unkept.extend(ids.into_iter().map(|id| ((Store::Rows, id), None)));
        }
        // Nothing of it is shown.
        Change::ForgetRowBatch(_) => {}
    }
}

fn forget(unkept: &mut Unkept, change: &Change) {
    match change {
        Change::Put(store, key, _) | Change::Forget(store, key) => {
            unkept.remove(&(*store, key.clone()));
        }
        Change::ForgetAll(store, prefix) => {
            unkept.retain(|(of, key), _| of != store || !key.starts_with(prefix));
        }
        Change::AddRows(rows) | Change::PutRows(rows) => {
            for id in rows.ids() {
                unkept.remove(&(Store::Rows, id.to_owned()));
            }
        }
        Change::ForgetRows(ids) => {
            for id in ids {
                unkept.remove(&(Store::Rows, id.clone()));
            }
        }
        Change::ForgetRowBatch(_) => {}
    }
}

fn tell(error: Option<&DatabaseError>) {
    let trouble = match error {
        Some(error) => Some(error.clone()),
        // What failed before may still be in memory alone.
        None if UNKEPT.with_borrow(BTreeMap::is_empty) => None,
        None => return,
    };
    let signal = TROUBLE.with(ArcRwSignal::clone);
    if signal.with_untracked(|known| *known != trouble) {
        signal.set(trouble);
    }
}
