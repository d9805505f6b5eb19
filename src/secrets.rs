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

mod origin;
mod ring;

use leptos::prelude::*;
use volary_agent::model::ApiKey;

use crate::browser::storage::{self, Keep};
pub use origin::KeyOrigin;
use ring::Ring;

/// The place where keys are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// Only in the memory of the page.
    #[default]
    Page,
    /// In the storage of the tab, which survives a reload.
    Tab,
    /// On the device, until they are deleted.
    Device,
}

impl Keeping {
    /// All places, the safest first.
    pub const ALL: [Keeping; 3] = [Keeping::Page, Keeping::Tab, Keeping::Device];

    fn storage(self) -> Option<Keep> {
        match self {
            Keeping::Page => None,
            Keeping::Tab => Some(Keep::Visit),
            Keeping::Device => Some(Keep::Always),
        }
    }
}

/// The browser refused to store keys (out of space, or forbidden): they are only in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotKept;

/// The name of the stored value.
const NAME: &str = "keys";

#[derive(Clone)]
struct KeyState {
    keeping: Keeping,
    ring: Ring,
}

impl KeyState {
    /// Whether another tab deleted all keys of the device. They are then deleted here, too.
    fn is_forgotten(&self) -> bool {
        self.keeping == Keeping::Device && storage::get(Keep::Always, NAME).is_none()
    }
}

thread_local! {
    // Global, so that it lives as long as the page, whichever part uses it first.
    static STATE: ArcRwSignal<KeyState> = {
        let state = ArcRwSignal::new(found());
        let heard = state.clone();
        storage::on_change_elsewhere(NAME, move |text| {
            if heard.with_untracked(|state| state.keeping == Keeping::Device) {
                let ring = text.as_deref().map(Ring::read).unwrap_or_default();
                heard.update(|state| state.ring = ring);
            }
        });
        state
    };
}

/// Reads the keys that earlier visits stored. If there are any, their place is the current one.
fn found() -> KeyState {
    let kept = |keeping: &Keeping| {
        let text = storage::get(keeping.storage()?, NAME)?;
        Some((*keeping, Ring::read(&text)))
    };
    let found = [Keeping::Device, Keeping::Tab].iter().find_map(kept);
    let (keeping, ring) = found.unwrap_or_default();
    KeyState { keeping, ring }
}

fn state() -> ArcRwSignal<KeyState> {
    STATE.with(ArcRwSignal::clone)
}

/// The owner's key for requests to an origin; empty if there is none. Tracks changes.
pub fn key(owner: &str, to: &KeyOrigin) -> ApiKey {
    state().with(|state| match state.is_forgotten() {
        true => ApiKey::default(),
        false => state.ring.key(owner, to),
    })
}

/// Whether the owner has a key for an origin. Tracks changes.
pub fn has(owner: &str, to: &KeyOrigin) -> bool {
    state().with(|state| !state.is_forgotten() && state.ring.has(owner, to))
}

/// The origins for which the owner has keys. Tracks changes.
pub fn origins(owner: &str) -> Vec<KeyOrigin> {
    state().with(|state| match state.is_forgotten() {
        true => Vec::new(),
        false => state.ring.origins(owner).cloned().collect(),
    })
}

/// The number of keys. Tracks changes.
pub fn count() -> usize {
    state().with(|state| state.ring.len())
}

/// The place where keys are stored. Tracks changes.
pub fn keeping() -> Keeping {
    state().with(|state| state.keeping)
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
    if state().with_untracked(|state| state.ring.owners().any(is_orphan)) {
        // If this cannot be stored, the keys are deleted both from memory and from the store.
        let _ = change(|ring| ring.retain(|owner| !is_orphan(owner)));
    }
}

/// Deletes all keys, in memory and in the store.
pub fn forget_all() {
    forget_stored();
    state().set(KeyState {
        keeping: Keeping::Page,
        ring: Ring::default(),
    });
}

/// Stores the keys in another place from now on, and deletes them from all others.
pub fn keep(keeping: Keeping) -> Result<(), NotKept> {
    for keep in [Keep::Visit, Keep::Always] {
        if keeping.storage() != Some(keep) {
            storage::remove(keep, NAME);
        }
    }
    let state = state();
    let ring = state.with_untracked(|state| state.ring.clone());
    let stored = store(keeping, &ring);
    let keeping = if stored.is_ok() {
        keeping
    } else {
        Keeping::Page
    };
    state.set(KeyState { keeping, ring });
    stored
}

fn change(act: impl FnOnce(&mut Ring)) -> Result<(), NotKept> {
    let state = state();
    let mut changed = state.get_untracked();
    // Another tab may have stored keys meanwhile.
    let kept = changed.keeping.storage();
    if let Some(text) = kept.and_then(|keep| storage::get(keep, NAME)) {
        changed.ring = Ring::read(&text);
    }
    if changed.is_forgotten() {
        changed.ring = Ring::default();
    }
    act(&mut changed.ring);
    let stored = store(changed.keeping, &changed.ring);
    if stored.is_err() {
        // Keys in two places would be hard to delete.
        forget_stored();
        changed.keeping = Keeping::Page;
    }
    state.set(changed);
    stored
}

fn forget_stored() {
    for keep in [Keep::Visit, Keep::Always] {
        storage::remove(keep, NAME);
    }
}

fn store(keeping: Keeping, ring: &Ring) -> Result<(), NotKept> {
    match keeping.storage() {
        Some(keep) if !storage::set(keep, NAME, &ring.to_text()) => Err(NotKept),
        _ => Ok(()),
    }
}
