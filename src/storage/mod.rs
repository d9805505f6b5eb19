//! What is kept between visits: episodes, and evaluations with their results.
//!
//! - [`episodes`]: the episodes of a person, and the list of them. [`sources`]: large files in which they stand.
//!   [`evaluations`]: plans, results, drafts. [`change_feed`]: what one tab changed, for the others. [`journal`]: what is kept
//!   and not in its place yet. [`origin`]: how episodes came here. [`unreadable`]: records that cannot be read, which nothing deletes by itself.
//!
//! What always holds: what the browser refuses to keep is kept in memory as long as the page lives, reads find
//! it there, and [`trouble`] says so; so nothing that is finished is lost without a word.

pub mod change_feed;
pub mod episodes;
pub mod evaluations;
pub mod origin;
pub mod sources;
pub mod unreadable;
pub mod write_ahead_log;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use leptos::prelude::*;

use crate::browser::database::{Access, Change, Database, DatabaseError, KeptText, Sheet, Store};
use crate::projection::recovery::Recovery;

enum Link {
    Unopened,
    Open(Rc<Database>),
    /// It could not be opened; nobody tries again before the page is loaded again.
    Refused(DatabaseError),
}

/// What the browser did not keep: `None` where something was forgotten.
type Unkept = BTreeMap<(Store, String), Option<KeptText>>;

thread_local! {
    static LINK: RefCell<Link> = const { RefCell::new(Link::Unopened) };
    static UNKEPT: RefCell<Unkept> = const { RefCell::new(BTreeMap::new()) };
    static RECOVERY: ArcRwSignal<Option<Recovery>> = ArcRwSignal::new(None);
    static TROUBLE: ArcRwSignal<Option<DatabaseError>> = ArcRwSignal::new(None);
}

/// Why the browser does not keep what is in memory alone; `None` while it keeps all. Tracks changes.
pub fn trouble() -> Option<DatabaseError> {
    TROUBLE.with(ArcRwSignal::clone).get()
}

/// How far the recovery is of what a former visit stored and had no time to put into its place; `None` while there is
/// none. Tracks changes.
pub fn recovery() -> Option<Recovery> {
    RECOVERY.with(ArcRwSignal::clone).get()
}

fn tell_recovery(recovery: Option<Recovery>) {
    RECOVERY.with(ArcRwSignal::clone).set(recovery);
}

/// Whether the database can only be read, because a newer version of this page upgraded it. Known once something was
/// read.
pub fn is_read_only() -> bool {
    LINK.with_borrow(
        |link| matches!(link, Link::Open(database) if database.access() == Access::ReadOnly),
    )
}

/// Makes the changes, all or none; on an error they are made in memory. If something that was to be new is there
/// already ([`DatabaseError::Taken`]), they are not made at all.
pub async fn write(changes: Vec<Change>) -> Result<(), DatabaseError> {
    if write_ahead_log::concerns(&changes) {
        write_ahead_log::settle().await;
    }
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

/// Tries to keep what is in memory alone.
pub async fn keep_all() -> Result<(), DatabaseError> {
    let changes = UNKEPT.with_borrow(|unkept| {
        let changes = unkept.iter().map(|((store, key), text)| match text {
            Some(text) => Change::Put(*store, key.clone(), text.clone()),
            None => Change::Forget(*store, key.clone()),
        });
        changes.collect()
    });
    write(changes).await
}

/// Forgets everything, in the browser and in memory.
pub async fn forget_all() -> Result<(), DatabaseError> {
    let stores = Store::ALL.into_iter();
    let changes = stores.map(|(store, _)| Change::ForgetAll(store, String::new()));
    write(changes.collect()).await
}

/// The text under a key.
pub async fn get(store: Store, key: &str) -> Result<Option<KeptText>, DatabaseError> {
    let place = (store, key.to_owned());
    if let Some(unkept) = UNKEPT.with_borrow(|unkept| unkept.get(&place).cloned()) {
        return Ok(unkept);
    }
    if let Some(waiting) = write_ahead_log::waiting(store, key) {
        return Ok(Some(waiting));
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
    found.extend(write_ahead_log::all_waiting(store, prefix));
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

/// At most so many keys that come after one, in order, and their texts: only what the browser keeps.
async fn some(
    store: Store,
    after: &str,
    most: u32,
) -> Result<Vec<(String, KeptText)>, DatabaseError> {
    match database().await {
        Ok(database) => database.some(store, after, most).await,
        Err(error) => unless_in_memory(error, Vec::new()),
    }
}

/// The texts of [`Store::Summaries`] under these keys, as far as there are any.
async fn summaries(keys: &[String]) -> Result<BTreeMap<String, KeptText>, DatabaseError> {
    let mut found = match database().await {
        Ok(database) => database.summaries(keys).await?,
        Err(error) => unless_in_memory(error, BTreeMap::new())?,
    };
    for key in keys {
        let place = (Store::Summaries, key.clone());
        let unkept = UNKEPT.with_borrow(|unkept| unkept.get(&place).cloned());
        match unkept.or_else(|| write_ahead_log::waiting(Store::Summaries, key).map(Some)) {
            Some(Some(text)) => {
                found.insert(key.clone(), text);
            }
            Some(None) => {
                found.remove(key);
            }
            None => {}
        }
    }
    Ok(found)
}

/// At most so many sheets that come after one, in order: only what the browser keeps.
async fn sheets(after: u64, most: u32) -> Result<Vec<(u64, Sheet)>, DatabaseError> {
    match database().await {
        Ok(database) => database.sheets(after, most).await,
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
    let known = LINK.with_borrow(|link| match link {
        Link::Unopened => None,
        // A newer page closed it; it can be opened again, for reading.
        Link::Open(database) if database.is_closed() => None,
        Link::Open(database) => Some(Ok(Rc::clone(database))),
        Link::Refused(error) => Some(Err(error.clone())),
    });
    if let Some(known) = known {
        return known;
    }
    let opened = Database::open().await.map(Rc::new);
    if let Ok(database) = &opened
        && database.access() == Access::ReadWrite
    {
        // What a former visit had no time for.
        write_ahead_log::settle_in(database).await;
    }
    LINK.set(match &opened {
        Ok(database) => Link::Open(Rc::clone(database)),
        Err(error) => Link::Refused(error.clone()),
    });
    opened
}

fn apply(unkept: &mut Unkept, change: Change) {
    match change {
        Change::Put(store, key, text) | Change::Add(store, key, text) => {
            unkept.insert((store, key), Some(text));
        }
        Change::AddSheet(sheet) => {
            let texts = sheet.texts().iter().cloned();
            unkept.extend(texts.map(|(key, text)| ((Store::Summaries, key), Some(text))));
        }
        Change::Forget(store, key) => {
            unkept.insert((store, key), None);
        }
        Change::TakeOut(keys) => {
            let keys = keys.into_iter();
            unkept.extend(keys.map(|key| ((Store::Summaries, key), None)));
        }
        Change::ForgetAll(store, prefix) => {
            unkept.retain(|(of, key), _| *of != store || !key.starts_with(&prefix));
        }
    }
}

fn forget(unkept: &mut Unkept, change: &Change) {
    match change {
        Change::Put(store, key, _) | Change::Add(store, key, _) | Change::Forget(store, key) => {
            unkept.remove(&(*store, key.clone()));
        }
        Change::AddSheet(sheet) => {
            for key in sheet.keys() {
                unkept.remove(&(Store::Summaries, key.to_owned()));
            }
        }
        Change::TakeOut(keys) => {
            for key in keys {
                unkept.remove(&(Store::Summaries, key.clone()));
            }
        }
        Change::ForgetAll(store, prefix) => {
            unkept.retain(|(of, key), _| of != store || !key.starts_with(prefix));
        }
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
