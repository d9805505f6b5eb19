//! The store of API keys for models and servers. Keys exist nowhere else.
//!
//! Invariants:
//! - A key stays in the memory of the page and is lost with it, unless the user chose otherwise.
//! - A key is sent only to the origin that it was entered for. It is stored under its owner and that [`KeyOrigin`], and
//!   a lookup names the origin of the request: after a change of the address no key is found, and for the previous
//!   address it is found again.
//! - Keys are in no address, export, log or episode. Callers of models and servers remove the key from the data that
//!   they receive ([`ApiKey::redact`]).
//!
//! The owner of a key has a name such as `model.<id>` or `server.<id>`.

mod key_state;
mod origin;
mod ring;

use leptos::prelude::*;
use volary_agent::model::ApiKey;

pub use key_state::{Keeping, NotKept};
use key_state::{KeyState, KeyStore};
pub use origin::KeyOrigin;
use ring::Ring;
use volary_browser::crash_recovery;
use volary_browser::storage::{self, Keep};

/// The storage of the browser.
struct BrowserKeys;

/// The name of the stored value.
const NAME: &str = "keys";

impl KeyStore for BrowserKeys {
    fn get(&self, keep: Keep) -> Option<String> {
        storage::get(keep, NAME)
    }

    fn set(&self, keep: Keep, text: &str) -> bool {
        storage::set(keep, NAME, text)
    }

    fn remove(&self, keep: Keep) {
        storage::remove(keep, NAME);
    }
}

thread_local! {
    // Global, so that it lives as long as the page, whichever part uses it first.
    static STATE: ArcRwSignal<KeyState> = {
        // From now on a panic may quote a key.
        crash_recovery::redact_with(redacted);
        let state = ArcRwSignal::new(KeyState::found(&BrowserKeys));
        let heard = state.clone();
        storage::on_change_elsewhere(NAME, move |text| {
            if heard.with_untracked(KeyState::is_shared) {
                heard.update(|state| state.changed_elsewhere(text.as_deref()));
            }
        });
        state
    };
}

fn state() -> ArcRwSignal<KeyState> {
    STATE.with(ArcRwSignal::clone)
}

/// The owner's key for requests to an origin; empty if there is none. Tracks changes.
pub fn key(owner: &str, to: &KeyOrigin) -> ApiKey {
    state().with(|state| state.ring(&BrowserKeys).key(owner, to))
}

/// Whether the owner has a key for an origin. Tracks changes.
pub fn has(owner: &str, to: &KeyOrigin) -> bool {
    state().with(|state| state.ring(&BrowserKeys).has(owner, to))
}

/// The origins for which the owner has keys. Tracks changes.
pub fn origins(owner: &str) -> Vec<KeyOrigin> {
    state().with(|state| state.ring(&BrowserKeys).origins(owner).cloned().collect())
}

/// The number of keys. Tracks changes.
pub fn count() -> usize {
    state().with(|state| state.ring(&BrowserKeys).len())
}

/// Whether stored keys cannot be read in full, because another version of this page stored them. Tracks changes.
pub fn has_unreadable() -> bool {
    state().with(|_| KeyState::has_unreadable(&BrowserKeys))
}

/// The place where keys are stored. Tracks changes.
pub fn keeping() -> Keeping {
    state().with(KeyState::keeping)
}

/// Sets the owner's key for an origin; an empty one deletes it. Keys for other origins stay.
pub fn put(owner: &str, to: &KeyOrigin, key: &ApiKey) -> Result<(), NotKept> {
    change(|ring| ring.put(owner, to, key))
}

/// Deletes all keys of an owner.
pub fn remove(owner: &str) -> Result<(), NotKept> {
    change(|ring| ring.remove(owner))
}

/// Copies the keys of an owner to another.
pub fn copy(from: &str, to: &str) -> Result<(), NotKept> {
    change(|ring| ring.copy(from, to))
}

/// Deletes the keys of owners that no longer exist: their names begin with `prefix`, and `is_there` returns false
/// for the rest of the name.
pub fn keep_owners(prefix: &str, is_there: impl Fn(&str) -> bool) {
    let is_orphan = |owner: &str| owner.strip_prefix(prefix).is_some_and(|id| !is_there(id));
    if state().with_untracked(|state| state.ring(&BrowserKeys).owners().any(is_orphan)) {
        // If this cannot be stored, the keys are deleted both from memory and from the store.
        let _ = change(|ring| ring.retain(|owner| !is_orphan(owner)));
    }
}

/// Deletes all keys, in memory and in the store.
pub fn forget_all() {
    state().update(|state| state.forget_all(&BrowserKeys));
}

/// Stores the keys in another place from now on, and deletes them from all others.
pub fn keep(keeping: Keeping) -> Result<(), NotKept> {
    changed(|state| state.keep(&BrowserKeys, keeping))
}

/// The text of a crash without any key. It does not panic when the crash interrupted a change of the keys; the text is
/// then left out.
pub fn redacted(text: &str) -> String {
    let state = STATE.try_with(ArcRwSignal::clone).ok();
    let state = state.and_then(|state| state.try_get_untracked());
    state.map_or_else(
        || "The reason is not shown, since it may contain a key.".to_owned(),
        |state| state.ring(&BrowserKeys).redact(text),
    )
}

fn change(act: impl FnOnce(&mut Ring)) -> Result<(), NotKept> {
    changed(|state| state.change(&BrowserKeys, act))
}

/// Changes a copy of the state: the signal must not be locked while the browser stores it.
fn changed(act: impl FnOnce(&mut KeyState) -> Result<(), NotKept>) -> Result<(), NotKept> {
    let mut after = state().get_untracked();
    let stored = act(&mut after);
    state().set(after);
    stored
}
