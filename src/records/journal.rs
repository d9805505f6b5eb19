//! What is kept at once, and put into its place when there is time: an evaluation of a thousand episodes is kept in a
//! few records, while thousands would be the longest part of it.
//!
//! What always holds: a text is on the disk once [`write`] resolves; until it is in its place, reads of this tab find
//! it in memory, and other tabs, or the next visit, put it there before they read. What changes such texts otherwise
//! waits until they are in their places.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::{database, news};
use crate::shell::database::{Change, Database, DatabaseError, KeptText, Store};
use crate::shell::{self, timers};

/// Texts wait for their places while others come, so long after the last one…
const QUIET: Duration = Duration::from_millis(400);
/// …but so many parcels at most.
const MOST_PARCELS: usize = 50;

/// Fewer texts than this go to their places at once.
const FEW: usize = 24;

/// What is not in its place yet.
type Waiting = BTreeMap<(Store, String), KeptText>;

/// A parcel of this tab.
struct Parcel {
    key: String,
    places: Vec<(Store, String)>,
}

thread_local! {
    static WAITING: RefCell<Waiting> = const { RefCell::new(BTreeMap::new()) };
    static PARCELS: RefCell<VecDeque<Parcel>> = const { RefCell::new(VecDeque::new()) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static IS_UNPACKING: Cell<bool> = const { Cell::new(false) };
}

/// Makes changes, all or none. Many texts under keys that are new go into a parcel.
pub async fn write(changes: Vec<Change>) -> Result<(), DatabaseError> {
    let are_few = changes.len() < FEW;
    let are_puts = changes
        .iter()
        .all(|change| matches!(change, Change::Put(..)));
    if are_few || !are_puts {
        return super::write(changes).await;
    }
    let kept = async {
        let key = next_key();
        database().await?.put_parcel(&key, &changes).await?;
        Ok::<_, DatabaseError>(key)
    };
    let Ok(key) = kept.await else {
        // What becomes of them is said there.
        return super::write(changes).await;
    };
    let mut places = Vec::with_capacity(changes.len());
    WAITING.with_borrow_mut(|waiting| {
        for change in changes {
            if let Change::Put(store, key, text) = change {
                places.push((store, key.clone()));
                waiting.insert((store, key), text);
            }
        }
    });
    PARCELS.with_borrow_mut(|parcels| parcels.push_back(Parcel { key, places }));
    unpack_soon();
    Ok(())
}

/// Keys are in the order of time, and no two tabs make the same.
fn next_key() -> String {
    let count = COUNT.get().wrapping_add(1);
    COUNT.set(count);
    let milliseconds = timers::wall_clock() * 1000.0;
    let random = shell::random_number();
    format!("{milliseconds:015.0}-{count:010}-{random:013x}")
}

/// What waits for its place under a key.
pub(super) fn waiting(store: Store, key: &str) -> Option<KeptText> {
    let place = (store, key.to_owned());
    WAITING.with_borrow(|waiting| waiting.get(&place).cloned())
}

/// What waits for its place in a store, under keys that begin so.
pub(super) fn all_waiting(store: Store, prefix: &str) -> Vec<(String, KeptText)> {
    WAITING.with_borrow(|waiting| {
        let after = waiting.range((store, prefix.to_owned())..);
        let found = after.take_while(|((of, key), _)| *of == store && key.starts_with(prefix));
        found
            .map(|((_, key), text)| (key.clone(), text.clone()))
            .collect()
    })
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
    let keys = database.keys(Store::Journal, "").await;
    for key in keys.unwrap_or_default() {
        settle_one(database, key).await;
    }
}

/// Whether changes may be of texts of this tab that wait for their places.
pub(super) fn concerns(changes: &[Change]) -> bool {
    WAITING.with_borrow(|waiting| {
        let is_waiting = |store: Store| {
            let mut after = waiting.range((store, String::new())..);
            after.next().is_some_and(|((of, _), _)| *of == store)
        };
        changes.iter().any(|change| is_waiting(change.store()))
    })
}

async fn settle_one(database: &Database, key: String) {
    let unpacked = database.unpack(&key).await;
    let ours = PARCELS.with_borrow_mut(|parcels| {
        let place = parcels.iter().position(|parcel| parcel.key == key)?;
        unpacked.is_ok().then(|| parcels.remove(place))?
    });
    if let Some(parcel) = ours {
        WAITING.with_borrow_mut(|waiting| {
            for place in &parcel.places {
                waiting.remove(place);
            }
        });
        news::tell_kept(&parcel.places);
    } else if unpacked.is_err() {
        // No room for it twice: it is read from here as long as the page lives.
        let puts = database.parcel(&key).await.unwrap_or_default();
        WAITING.with_borrow_mut(|waiting| {
            for (store, key, text) in puts {
                waiting.insert((store, key), text);
            }
        });
    }
}

fn unpack_soon() {
    if IS_UNPACKING.replace(true) {
        return;
    }
    shell::spawn(async move {
        loop {
            let count = COUNT.get();
            timers::sleep(QUIET).await;
            let many = PARCELS.with_borrow(|parcels| parcels.len() > MOST_PARCELS);
            if COUNT.get() != count && !many {
                continue;
            }
            let next = PARCELS.with_borrow(|parcels| Some(parcels.front()?.key.clone()));
            let Some(key) = next else { break };
            let Ok(database) = database().await else {
                break;
            };
            let before = PARCELS.with_borrow(VecDeque::len);
            settle_one(&database, key).await;
            if PARCELS.with_borrow(VecDeque::len) == before {
                // It can't be unpacked now; the next visit tries again.
                break;
            }
        }
        IS_UNPACKING.set(false);
    });
}
