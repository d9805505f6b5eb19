//! Values that all tabs of the page share: each is kept in the browser's storage under a name, and stands in the memory
//! of each tab.
//!
//! What always holds: a change is made to what is stored, not to what this tab remembers, so that tabs do not undo each
//! other's changes; and a tab hears of the changes of the others. Where the browser keeps nothing, a value lasts as long
//! as the page.

use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::*;

use crate::browser::storage::{self, Keep};

/// A value that all tabs share. It lives as long as the page, whatever part of it asked first.
pub struct Shared<T: 'static> {
    name: &'static str,
    /// `None` if the text is none of this value.
    read: fn(&str) -> Option<T>,
    to_text: fn(&T) -> String,
    state: ArcRwSignal<T>,
    /// Whether the browser refused the last change, so that memory alone holds it.
    is_unsaved: Rc<Cell<bool>>,
}

impl<T: Clone + Default + PartialEq + Send + Sync + 'static> Shared<T> {
    /// The value under a name; its default if nothing, or nothing that can be read, is stored. `arrived` is called with
    /// each value that comes out of the storage: at first, and when another tab changed it.
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
                // Taken away on purpose: the table of prices goes back to the built-in one so.
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

    /// Changes the value, here, in the storage and in all other tabs.
    pub fn change(&self, act: impl FnOnce(&mut T)) {
        let stored = match self.is_unsaved.get() {
            true => None,
            // The event of another tab's change may be under way still.
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

    /// Goes back to the default, in all tabs.
    pub fn reset(&self) {
        storage::remove(Keep::Always, self.name);
        self.is_unsaved.set(false);
        self.state.set(T::default());
    }
}
