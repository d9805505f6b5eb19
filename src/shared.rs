//! Values shared by all tabs of the page: each is stored in the browser's storage under a name, with a copy in the
//! memory of each tab.
//!
//! Invariants: a change is applied to the stored value, not to this tab's copy, so that tabs do not undo each other's
//! changes; each tab is notified of the changes of the others. If the browser stores nothing, a value lasts as long as
//! the page.

use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::*;

use crate::browser::storage::{self, Keep};

/// A value shared by all tabs. It lives as long as the page, whatever component accessed it first.
pub struct Shared<T: 'static> {
    name: &'static str,
    /// Parses the stored text. Returns `None` if it is invalid.
    read: fn(&str) -> Option<T>,
    to_text: fn(&T) -> String,
    state: ArcRwSignal<T>,
    /// Whether the browser refused the last write, so that only memory holds the value.
    is_unsaved: Rc<Cell<bool>>,
}

impl<T: Clone + Default + PartialEq + Send + Sync + 'static> Shared<T> {
    /// Loads the value stored under a name; its default if nothing valid is stored. `arrived` is called with each value
    /// that is read from the storage: initially, and when another tab changed it.
    pub fn new(
        name: &'static str,
        read: fn(&str) -> Option<T>,
        to_text: fn(&T) -> String,
        arrived: fn(&T),
    ) -> Self {
        let stored = storage::get(Keep::Always, name).and_then(|text| read(&text));
        if let Some(value) = &stored {
            arrived(value);
        }
        let state = ArcRwSignal::new(stored.unwrap_or_default());
        let is_unsaved = Rc::new(Cell::new(false));
        let (heard, refused) = (state.clone(), Rc::clone(&is_unsaved));
        storage::on_change_elsewhere(name, move |text| {
            let value = match text {
                // Another tab removed it on purpose: that is how the table of prices is reset to the built-in one.
                None => Some(T::default()),
                Some(text) => read(&text),
            };
            if let Some(value) = value.filter(|_| !refused.get()) {
                arrived(&value);
                heard.set(value);
            }
        });
        Shared {
            name,
            read,
            to_text,
            state,
            is_unsaved,
        }
    }

    /// The value as a signal.
    pub fn signal(&self) -> ArcRwSignal<T> {
        self.state.clone()
    }

    /// Changes the value in this tab, in the storage and in all other tabs.
    pub fn change(&self, act: impl FnOnce(&mut T)) {
        let stored = match self.is_unsaved.get() {
            true => None,
            // The event of another tab's change may still be in flight.
            false => storage::get(Keep::Always, self.name).and_then(|text| (self.read)(&text)),
        };
        let mut value = stored.unwrap_or_else(|| self.state.get_untracked());
        act(&mut value);
        let is_stored = storage::set(Keep::Always, self.name, &(self.to_text)(&value));
        self.is_unsaved.set(!is_stored);
        if self.state.with_untracked(|known| *known != value) {
            self.state.set(value);
        }
    }

    /// Resets the value to the default in all tabs.
    pub fn reset(&self) {
        storage::remove(Keep::Always, self.name);
        self.is_unsaved.set(false);
        self.state.set(T::default());
    }
}
