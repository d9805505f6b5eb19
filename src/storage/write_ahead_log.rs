//! What is kept at once, and put into its place when there is time: an evaluation of a thousand episodes is kept in a
//! few records, while thousands would be the longest part of it.
//!
//! What always holds: a text is on the disk once [`keep`] resolves; until it is in its place, reads of this tab find
//! it in memory, and other tabs, or the next visit, put it there before they read. What changes such texts otherwise
//! waits until they are in their places.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::{change_feed, database, unreadable};
use crate::browser::database::{
    Change, Database, DatabaseError, KeptText, Parcel, Store, Unpacked,
};
use crate::browser::{self, timers};
use crate::projection::recovery::Recovery;

/// Texts wait for their places while others come, so long after the last one…
const QUIET: Duration = Duration::from_millis(400);
/// …and a moment after each parcel, in which the page does other things…
const BREATH: Duration = Duration::from_millis(50);
/// …but so many parcels at most.
const MOST_PARCELS: usize = 50;

/// Fewer bytes go to their places at once.
const SMALL: usize = 50_000;

/// What belongs into which places.
type Puts = BTreeMap<(Store, String), KeptText>;

/// A parcel whose texts are not in their places yet.
struct Waiting {
    key: String,
    parcel: Parcel,
    /// Its texts, if somebody asked for one of them.
    opened: OnceCell<Puts>,
}

thread_local! {
    static WAITING: RefCell<VecDeque<Waiting>> = const { RefCell::new(VecDeque::new()) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static IS_UNPACKING: Cell<bool> = const { Cell::new(false) };
}

impl Waiting {
    fn new(key: String, parcel: Parcel) -> Self {
        let opened = OnceCell::new();
        Waiting {
            key,
            parcel,
            opened,
        }
    }

    fn puts(&self) -> &Puts {
        self.opened.get_or_init(|| {
            // One that cannot be read is noted before it gets here.
            let puts = self.parcel.puts().unwrap_or_default().into_iter();
            puts.map(|(store, key, text)| ((store, key), text))
                .collect()
        })
    }
}

/// Keeps the texts of parcels, all or none.
pub async fn keep(parcels: Vec<Parcel>) -> Result<(), DatabaseError> {
    let mut length = 0;
    let is_small = parcels.iter().all(|parcel| {
        length += parcel.length();
        length < SMALL
    });
    // Unless it had to wait until all others are in their places.
    if is_small && WAITING.with_borrow(VecDeque::is_empty) {
        return super::write(changes(&parcels)?).await;
    }
    let keyed: Vec<_> = parcels
        .iter()
        .map(|parcel| (next_key(), parcel.clone()))
        .collect();
    let kept = async { database().await?.put_parcels(&keyed).await };
    if kept.await.is_err() {
        // What becomes of them is said there.
        return super::write(changes(&parcels)?).await;
    }
    let kept = keyed
        .into_iter()
        .map(|(key, parcel)| Waiting::new(key, parcel));
    WAITING.with_borrow_mut(|waiting| waiting.extend(kept));
    unpack_soon();
    Ok(())
}

/// More will have to be kept soon: what waits goes on waiting.
pub fn expect_more() {
    COUNT.set(COUNT.get().wrapping_add(1));
}

/// What puts the texts of parcels into their places at once.
pub fn changes(parcels: &[Parcel]) -> Result<Vec<Change>, DatabaseError> {
    let mut changes = Vec::new();
    for parcel in parcels {
        let puts = parcel.puts().map_err(|damage| DatabaseError::Failed {
            reason: damage.to_string(),
        })?;
        let puts = puts.into_iter();
        changes.extend(puts.map(|(store, key, text)| Change::Put(store, key, text)));
    }
    Ok(changes)
}

/// Keys are in the order of time, and no two tabs make the same.
fn next_key() -> String {
    let count = COUNT.get().wrapping_add(1);
    COUNT.set(count);
    let milliseconds = timers::wall_clock() * 1000.0;
    let random = browser::random_number();
    format!("{milliseconds:015.0}-{count:010}-{random:013x}")
}

/// What waits for its place under a key.
pub(super) fn waiting(store: Store, key: &str) -> Option<KeptText> {
    let place = (store, key.to_owned());
    // The latest parcel is right.
    WAITING.with_borrow(|waiting| {
        let mut latest = waiting.iter().rev();
        latest.find_map(|waiting| waiting.puts().get(&place).cloned())
    })
}

/// What waits for its place in a store, under keys that begin so.
pub(super) fn all_waiting(store: Store, prefix: &str) -> BTreeMap<String, KeptText> {
    let mut all = BTreeMap::new();
    WAITING.with_borrow(|waiting| {
        for puts in waiting.iter().map(Waiting::puts) {
            let after = puts.range((store, prefix.to_owned())..);
            let found = after.take_while(|((of, key), _)| *of == store && key.starts_with(prefix));
            all.extend(found.map(|((_, key), text)| (key.clone(), text.clone())));
        }
    });
    all
}

/// Puts what waits into its place, also what other tabs or visits left. What can't be put there waits on.
pub(super) async fn settle() {
    // A refused database is told by whoever reads or writes next.
    if let Ok(database) = database().await {
        settle_in(&database).await;
    }
}

/// The same, in a database that was just opened.
pub(super) async fn settle_in(database: &Database) {
    unreadable::clear(Store::Journal);
    let keys = database.keys(Store::Journal, "").await.unwrap_or_default();
    let total = keys.len();
    let is_ours = |key: &String| {
        WAITING.with_borrow(|waiting| waiting.iter().any(|waiting| waiting.key == *key))
    };
    // What this tab has just stored is no recovery.
    let is_recovery = !keys.iter().all(is_ours);
    for (done, key) in keys.into_iter().enumerate() {
        if is_recovery {
            super::tell_recovery(Some(Recovery { done, total }));
        }
        settle_one(database, key).await;
    }
    if is_recovery {
        super::tell_recovery(None);
    }
}

/// Whether changes may be of texts of this tab that wait for their places.
pub(super) fn concerns(changes: &[Change]) -> bool {
    WAITING.with_borrow(|waiting| {
        waiting.iter().any(|waiting| {
            let stores = waiting.parcel.stores();
            changes
                .iter()
                .any(|change| stores.contains(&change.store()))
        })
    })
}

async fn settle_one(database: &Database, key: String) {
    let known = WAITING.with_borrow(|waiting| {
        let known = waiting.iter().find(|waiting| waiting.key == key);
        known.map(|known| known.parcel.clone())
    });
    let unpacked = database.unpack(&key, known).await;
    if let Ok(Unpacked::Unreadable(damage)) = unpacked {
        // It stays in the database, and in no list of ours.
        WAITING.with_borrow_mut(|waiting| waiting.retain(|waiting| waiting.key != key));
        return unreadable::note(Store::Journal, &key, damage.to_string());
    }
    let place =
        || WAITING.with_borrow(|waiting| waiting.iter().position(|waiting| waiting.key == key));
    if unpacked.is_ok() {
        let ours =
            place().and_then(|place| WAITING.with_borrow_mut(|waiting| waiting.remove(place)));
        if let Some(ours) = ours {
            change_feed::tell_kept(ours.parcel.keys(Store::Summaries));
        }
        return;
    }
    if place().is_none()
        && let Ok(Some(parcel)) = database.parcel(&key).await
    {
        if let Err(damage) = parcel.puts() {
            return unreadable::note(Store::Journal, &key, damage.to_string());
        }
        // No room for it twice: it is read from here as long as the page lives.
        WAITING.with_borrow_mut(|waiting| waiting.push_front(Waiting::new(key, parcel)));
    }
}

fn unpack_soon() {
    if IS_UNPACKING.replace(true) {
        return;
    }
    browser::spawn(async move {
        let mut rest = QUIET;
        loop {
            let count = COUNT.get();
            timers::sleep(rest).await;
            let many = WAITING.with_borrow(|waiting| waiting.len() > MOST_PARCELS);
            if COUNT.get() != count && !many {
                rest = QUIET;
                continue;
            }
            let next = WAITING.with_borrow(|waiting| Some(waiting.front()?.key.clone()));
            let Some(key) = next else { break };
            let Ok(database) = database().await else {
                break;
            };
            let before = WAITING.with_borrow(VecDeque::len);
            settle_one(&database, key).await;
            if WAITING.with_borrow(VecDeque::len) == before {
                // It can't be unpacked now; the next visit tries again.
                break;
            }
            rest = BREATH;
        }
        IS_UNPACKING.set(false);
    });
}
