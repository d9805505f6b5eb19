//! The keys of a tab and the place where it stores them, as a value over a store. Pure.
//!
//! Invariants:
//! - Keys are stored in one place at most. If the browser refuses it, they are in memory only.
//! - Stored keys that this version cannot read in full are never overwritten: a newer version may have stored them. They
//!   are deleted on request only.
//! - The keys on the device belong to all tabs that store theirs there: no tab overwrites a key of another one, or
//!   brings back those that another one deleted.

use super::ring::Ring;
use volary_browser::shared::is_preserved;
use volary_browser::storage::Keep;

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
            Keeping::Tab => Some(Keep::Tab),
            Keeping::Device => Some(Keep::Always),
        }
    }
}

/// The keys are only in memory: the browser refused to store them (out of space, or forbidden), or stored keys of
/// another version would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotKept;

/// What the browser stores of the keys: a text in the tab, and one on the device.
pub(super) trait KeyStore {
    fn get(&self, keep: Keep) -> Option<String>;
    /// Returns false if the browser refuses.
    fn set(&self, keep: Keep, text: &str) -> bool;
    fn remove(&self, keep: Keep);
}

/// No `Debug`, because the contents must never be printed.
#[derive(Clone)]
pub(super) struct KeyState {
    keeping: Keeping,
    ring: Ring,
}

/// What a tab sees once another one deleted its keys.
static NO_KEYS: Ring = Ring::new();

impl KeyState {
    /// Reads the keys that earlier visits stored. If there are any, their place is the current one: that which was
    /// chosen in this tab comes before that which another one chose.
    pub(super) fn found(store: &impl KeyStore) -> KeyState {
        let places = [Keeping::Tab, Keeping::Device].into_iter();
        let mut found = places.filter_map(|keeping| Some((keeping, stored(store, keeping)?)));
        let (keeping, ring) = found.next().unwrap_or_default();
        KeyState { keeping, ring }
    }

    /// The keys; none if another tab deleted them.
    pub(super) fn ring(&self, store: &impl KeyStore) -> &Ring {
        if self.is_forgotten(store) {
            &NO_KEYS
        } else {
            &self.ring
        }
    }

    /// Whether stored keys cannot be read in full.
    pub(super) fn has_unreadable(store: &impl KeyStore) -> bool {
        let mut places = Keeping::ALL.into_iter();
        places.any(|keeping| is_unreadable(store, keeping))
    }

    pub(super) fn keeping(&self) -> Keeping {
        self.keeping
    }

    /// Whether other tabs may change the keys.
    pub(super) fn is_shared(&self) -> bool {
        self.keeping == Keeping::Device
    }

    /// Handles that another tab changed the keys on the device.
    pub(super) fn changed_elsewhere(&mut self, text: Option<&str>) {
        if self.is_shared() {
            self.ring = text.map(Ring::read).unwrap_or_default();
        }
    }

    /// Changes the keys, and stores them.
    pub(super) fn change(
        &mut self,
        store: &impl KeyStore,
        act: impl FnOnce(&mut Ring),
    ) -> Result<(), NotKept> {
        self.refresh(store);
        act(&mut self.ring);
        if is_unreadable(store, self.keeping) {
            self.keeping = Keeping::Page;
            return Err(NotKept);
        }
        let kept = self.store(store);
        if kept.is_err() {
            // Keys in two places would be hard to delete.
            forget_stored(store, None);
        }
        kept
    }

    /// Stores the keys in another place from now on, and deletes them from all others.
    pub(super) fn keep(&mut self, store: &impl KeyStore, keeping: Keeping) -> Result<(), NotKept> {
        if is_unreadable(store, keeping) {
            return Err(NotKept);
        }
        self.refresh(store);
        // Another tab may have stored keys there.
        if let Some(others) = stored(store, keeping) {
            self.ring.add_missing(others);
        }
        forget_stored(store, keeping.storage());
        self.keeping = keeping;
        self.store(store)
    }

    /// Deletes all keys, in memory and in the store.
    pub(super) fn forget_all(&mut self, store: &impl KeyStore) {
        forget_stored(store, None);
        self.keeping = Keeping::Page;
        self.ring = Ring::default();
    }

    /// Reads what is stored: another tab may have changed it, and this tab not heard of it yet.
    fn refresh(&mut self, store: &impl KeyStore) {
        if let Some(ring) = stored(store, self.keeping) {
            self.ring = ring;
        } else if self.is_forgotten(store) {
            self.ring = Ring::default();
        }
    }

    /// Stores the keys; if the browser refuses, they are in memory from now on.
    fn store(&mut self, store: &impl KeyStore) -> Result<(), NotKept> {
        match self.keeping.storage() {
            Some(keep) if !store.set(keep, &self.ring.to_text()) => {
                self.keeping = Keeping::Page;
                Err(NotKept)
            }
            _ => Ok(()),
        }
    }

    /// Whether another tab deleted all keys of the device. They are then deleted here, too.
    fn is_forgotten(&self, store: &impl KeyStore) -> bool {
        self.is_shared() && store.get(Keep::Always).is_none()
    }
}

fn stored(store: &impl KeyStore, keeping: Keeping) -> Option<Ring> {
    let text = store.get(keeping.storage()?)?;
    Some(Ring::read(&text))
}

/// Whether a place has keys that this version would lose by storing its own.
fn is_unreadable(store: &impl KeyStore, keeping: Keeping) -> bool {
    let text = keeping.storage().and_then(|keep| store.get(keep));
    text.is_some_and(|text| !is_preserved(&text, &Ring::read(&text).to_text()))
}

/// Deletes what is stored, except in one place.
fn forget_stored(store: &impl KeyStore, except: Option<Keep>) {
    for keep in [Keep::Tab, Keep::Always] {
        if except != Some(keep) {
            store.remove(keep);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use proptest::prelude::*;
    use volary_agent::model::ApiKey;

    use super::super::KeyOrigin;
    use super::*;

    /// The storage of a tab, over that of its device.
    #[derive(Default)]
    struct TabStore {
        visit: RefCell<Option<String>>,
        device: Rc<RefCell<Option<String>>>,
        refuses: Cell<bool>,
    }

    impl TabStore {
        fn another_tab(&self) -> TabStore {
            TabStore {
                device: Rc::clone(&self.device),
                ..TabStore::default()
            }
        }

        fn cell(&self, keep: Keep) -> &RefCell<Option<String>> {
            match keep {
                Keep::Tab => &self.visit,
                Keep::Always => &self.device,
            }
        }

        /// Where something is stored.
        fn places(&self) -> Vec<Keep> {
            let mut places = vec![Keep::Tab, Keep::Always];
            places.retain(|keep| self.get(*keep).is_some());
            places
        }
    }

    impl KeyStore for TabStore {
        fn get(&self, keep: Keep) -> Option<String> {
            self.cell(keep).borrow().clone()
        }

        fn set(&self, keep: Keep, text: &str) -> bool {
            if !self.refuses.get() {
                self.cell(keep).replace(Some(text.to_owned()));
            }
            !self.refuses.get()
        }

        fn remove(&self, keep: Keep) {
            self.cell(keep).take();
        }
    }

    fn origin() -> KeyOrigin {
        KeyOrigin::of("https://models.example")
    }

    fn put(state: &mut KeyState, store: &TabStore, owner: &str, key: &str) -> Result<(), NotKept> {
        state.change(store, |ring| ring.put(owner, &origin(), &ApiKey::new(key)))
    }

    fn key(state: &KeyState, store: &TabStore, owner: &str) -> String {
        let key = state.ring(store).key(owner, &origin());
        key.expose().to_owned()
    }

    /// A tab whose keys are in a place.
    fn tab(store: &TabStore, keeping: Keeping, keys: &[(&str, &str)]) -> KeyState {
        let mut state = KeyState::found(store);
        assert_eq!(state.keep(store, keeping), Ok(()));
        for (owner, key) in keys {
            assert_eq!(put(&mut state, store, owner, key), Ok(()));
        }
        state
    }

    #[test]
    fn keys_are_stored_only_where_the_user_chose() {
        let store = TabStore::default();
        let mut state = KeyState::found(&store);
        assert_eq!(state.keeping(), Keeping::Page);
        assert_eq!(put(&mut state, &store, "model.1", "one"), Ok(()));
        assert_eq!(store.places(), []);
        assert_eq!(key(&state, &store, "model.1"), "one");
        for (keeping, places) in [
            (Keeping::Tab, vec![Keep::Tab]),
            (Keeping::Device, vec![Keep::Always]),
            (Keeping::Tab, vec![Keep::Tab]),
            (Keeping::Page, vec![]),
        ] {
            assert_eq!(state.keep(&store, keeping), Ok(()));
            assert_eq!(store.places(), places, "{keeping:?}");
            assert_eq!(key(&state, &store, "model.1"), "one");
        }
    }

    #[test]
    fn a_reload_finds_the_keys_that_were_stored() {
        for (keeping, found) in [
            (Keeping::Page, ""),
            (Keeping::Tab, "one"),
            (Keeping::Device, "one"),
        ] {
            let store = TabStore::default();
            tab(&store, keeping, &[("model.1", "one")]);
            let reloaded = KeyState::found(&store);
            assert_eq!(reloaded.keeping(), keeping);
            assert_eq!(key(&reloaded, &store, "model.1"), found, "{keeping:?}");
        }
    }

    #[test]
    fn a_reload_finds_the_keys_of_this_tab_before_those_of_the_device() {
        let store = TabStore::default();
        let other_store = store.another_tab();
        let mut other = tab(&other_store, Keeping::Device, &[("model.1", "other")]);
        tab(&store, Keeping::Tab, &[("model.1", "own")]);
        // The other tab has not heard that its keys were deleted, and stores a new one.
        assert_eq!(put(&mut other, &other_store, "model.2", "two"), Ok(()));
        let reloaded = KeyState::found(&store);
        assert_eq!(key(&reloaded, &store, "model.1"), "own");
        assert_eq!(reloaded.keeping(), Keeping::Tab);
    }

    #[test]
    fn a_browser_that_refuses_leaves_the_keys_in_memory_and_nowhere_else() {
        for keeping in [Keeping::Tab, Keeping::Device] {
            let store = TabStore::default();
            let mut state = tab(&store, keeping, &[("model.1", "one")]);
            store.refuses.set(true);
            assert_eq!(put(&mut state, &store, "model.2", "two"), Err(NotKept));
            assert_eq!(state.keeping(), Keeping::Page);
            assert_eq!(store.places(), []);
            assert_eq!(key(&state, &store, "model.1"), "one");
            assert_eq!(key(&state, &store, "model.2"), "two");
            assert_eq!(state.keep(&store, keeping), Err(NotKept));
            assert_eq!(state.keeping(), Keeping::Page);
            assert_eq!(key(&state, &store, "model.1"), "one");
            // The user makes space, and chooses again.
            store.refuses.set(false);
            assert_eq!(state.keep(&store, keeping), Ok(()));
            assert_eq!(state.keeping(), keeping);
        }
    }

    #[test]
    fn stored_keys_of_another_version_are_read_in_part_and_never_overwritten() {
        let known = r#"{"owner":"model.1","origin":"https://models.example","key":"one"}"#;
        for text in [
            format!(r#"[{known},{{"owner":"model.2","secret":"two"}}]"#),
            format!(r#"[{}]"#, known.replace("}", r#","expires":1}"#)),
            format!(r#"{{"version":2,"keys":[{known}]}}"#),
            "not JSON".to_owned(),
        ] {
            let store = TabStore::default();
            store.set(Keep::Always, &text);
            let mut state = KeyState::found(&store);
            let found = if text.starts_with('[') { "one" } else { "" };
            assert_eq!(key(&state, &store, "model.1"), found, "{text}");
            assert_eq!(put(&mut state, &store, "model.3", "three"), Err(NotKept));
            assert_eq!(state.keep(&store, Keeping::Device), Err(NotKept));
            assert_eq!(store.get(Keep::Always).as_ref(), Some(&text));
            assert!(KeyState::has_unreadable(&store));
            // This page works with the keys that it knows.
            assert_eq!(state.keeping(), Keeping::Page);
            assert_eq!(key(&state, &store, "model.1"), found);
            assert_eq!(key(&state, &store, "model.3"), "three");
            state.forget_all(&store);
            assert!(!KeyState::has_unreadable(&store));
            assert_eq!(state.keep(&store, Keeping::Device), Ok(()));
        }
    }

    #[test]
    fn choosing_the_device_keeps_the_keys_that_another_tab_stored_there() {
        let store = TabStore::default();
        let mut one = tab(
            &store,
            Keeping::Page,
            &[("model.1", "own"), ("model.2", "own")],
        );
        let other_store = store.another_tab();
        let other_keys = [("model.2", "other"), ("model.3", "other")];
        tab(&other_store, Keeping::Device, &other_keys);
        assert_eq!(one.keep(&store, Keeping::Device), Ok(()));
        let reloaded = KeyState::found(&store);
        for (owner, known) in [("model.1", "own"), ("model.2", "own"), ("model.3", "other")] {
            assert_eq!(key(&reloaded, &store, owner), known);
        }
    }

    #[test]
    fn a_change_keeps_what_another_tab_stored_before_this_one_heard_of_it() {
        let store = TabStore::default();
        let mut one = tab(&store, Keeping::Device, &[("model.1", "one")]);
        let other_store = store.another_tab();
        let mut other = KeyState::found(&other_store);
        assert_eq!(put(&mut other, &other_store, "model.2", "two"), Ok(()));
        assert_eq!(
            other.change(&other_store, |ring| ring.remove("model.1")),
            Ok(())
        );
        assert_eq!(put(&mut one, &store, "model.3", "three"), Ok(()));
        for (owner, known) in [("model.1", ""), ("model.2", "two"), ("model.3", "three")] {
            assert_eq!(key(&one, &store, owner), known);
        }
    }

    #[test]
    fn keys_that_another_tab_deleted_do_not_come_back() {
        let ways: [fn(&mut KeyState, &TabStore); 4] = [
            |state, store| assert_eq!(put(state, store, "model.2", "two"), Ok(())),
            |state, store| assert_eq!(state.keep(store, Keeping::Device), Ok(())),
            |state, store| assert_eq!(state.keep(store, Keeping::Tab), Ok(())),
            |state, store| assert_eq!(state.keep(store, Keeping::Page), Ok(())),
        ];
        for act in ways {
            let store = TabStore::default();
            let mut one = tab(&store, Keeping::Device, &[("model.1", "one")]);
            let other_store = store.another_tab();
            KeyState::found(&other_store).forget_all(&other_store);
            // The news of it is still on the way.
            assert_eq!(one.ring(&store).len(), 0);
            act(&mut one, &store);
            assert_eq!(key(&one, &store, "model.1"), "");
            let text = store.get(Keep::Always).or(store.get(Keep::Tab));
            assert!(!text.unwrap_or_default().contains("model.1"));
        }
    }

    #[test]
    fn only_a_tab_that_uses_the_device_hears_of_changes_there() {
        let other = tab(&TabStore::default(), Keeping::Page, &[("model.1", "other")]);
        let text = other.ring.to_text();
        for (keeping, heard) in [
            (Keeping::Page, "own"),
            (Keeping::Tab, "own"),
            (Keeping::Device, "other"),
        ] {
            let store = TabStore::default();
            let mut state = tab(&store, keeping, &[("model.1", "own")]);
            state.changed_elsewhere(Some(&text));
            assert_eq!(key(&state, &store, "model.1"), heard, "{keeping:?}");
            state.changed_elsewhere(None);
            assert_eq!(key(&state, &store, "model.1").is_empty(), heard == "other");
        }
    }

    /// What the user does in one of two tabs.
    #[derive(Clone, Debug)]
    enum Act {
        Put {
            owner: usize,
            key: u8,
        },
        Remove {
            owner: usize,
        },
        Keep(Keeping),
        ForgetAll,
        Reload,
        /// The news of the last change elsewhere arrives.
        Hear,
    }

    const OWNERS: [&str; 3] = ["model.1", "model.2", "server.1"];

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            4 => (0..OWNERS.len(), 0u8..100).prop_map(|(owner, key)| Act::Put { owner, key }),
            1 => (0..OWNERS.len()).prop_map(|owner| Act::Remove { owner }),
            2 => prop::sample::select(&Keeping::ALL[..]).prop_map(Act::Keep),
            1 => Just(Act::ForgetAll),
            1 => Just(Act::Reload),
            2 => Just(Act::Hear),
        ]
    }

    proptest! {
        #[test]
        fn two_tabs_never_lose_or_leak_a_key(
            acts in prop::collection::vec((0usize..2, act()), 0..30),
        ) {
            let store = TabStore::default();
            let stores = [store.another_tab(), store];
            let mut tabs = [0, 1].map(|tab| KeyState::found(&stores[tab]));
            // The keys that each tab has for itself, and those on the device.
            let mut own = [BTreeMap::new(), BTreeMap::new()];
            let mut device = BTreeMap::new();
            for (tab, act) in acts {
                let (state, store) = (&mut tabs[tab], &stores[tab]);
                let known = if state.is_shared() {
                    &mut device
                } else {
                    &mut own[tab]
                };
                match act {
                    Act::Put { owner, key } => {
                        let key = format!("k{key}");
                        prop_assert_eq!(put(state, store, OWNERS[owner], &key), Ok(()));
                        known.insert(owner, key);
                    }
                    Act::Remove { owner } => {
                        let removed = state.change(store, |ring| ring.remove(OWNERS[owner]));
                        prop_assert_eq!(removed, Ok(()));
                        known.remove(&owner);
                    }
                    Act::Keep(keeping) => {
                        let moved = known.clone();
                        prop_assert_eq!(state.keep(store, keeping), Ok(()));
                        if keeping == Keeping::Device {
                            // Of two keys, that of this tab stays.
                            device.extend(moved);
                            own[tab].clear();
                        } else {
                            own[tab] = moved;
                            device.clear();
                        }
                    }
                    Act::ForgetAll => {
                        state.forget_all(store);
                        own[tab].clear();
                        device.clear();
                    }
                    Act::Reload => {
                        if state.keeping() == Keeping::Page {
                            own[tab].clear();
                        }
                        *state = KeyState::found(store);
                    }
                    Act::Hear => state.changed_elsewhere(store.get(Keep::Always).as_deref()),
                }
                // Once all news have arrived, each tab has the keys that it should have, and no others.
                for (tab, store) in stores.iter().enumerate() {
                    let mut state = tabs[tab].clone();
                    state.changed_elsewhere(store.get(Keep::Always).as_deref());
                    let known = if state.is_shared() {
                        &device
                    } else {
                        &own[tab]
                    };
                    for (owner, name) in OWNERS.iter().enumerate() {
                        let expected = known.get(&owner).cloned().unwrap_or_default();
                        prop_assert_eq!(key(&state, store, name), expected);
                    }
                    let is_in_tab = store.get(Keep::Tab).is_some();
                    prop_assert_eq!(is_in_tab, state.keeping() == Keeping::Tab);
                }
            }
        }
    }
}
