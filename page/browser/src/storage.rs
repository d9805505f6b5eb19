//! Small values that the browser stores for the page. A browser may refuse both kinds of storage; then nothing is
//! stored.

use wasm_bindgen::prelude::*;
use web_sys::{Storage, StorageEvent};

/// The lifetime of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until the tab is closed.
    Tab,
    /// Until the user clears it.
    Always,
}

/// The prefix of names, because pages of one origin share their storage.
const PREFIX: &str = "volary.";

/// Returns the value under a name.
pub fn get(keep: Keep, name: &str) -> Option<String> {
    storage(keep)?.get_item(&key(name)).ok().flatten()
}

/// Stores a value. Returns false if the browser refuses (out of space, forbidden).
pub fn set(keep: Keep, name: &str, text: &str) -> bool {
    storage(keep).is_some_and(|storage| storage.set_item(&key(name), text).is_ok())
}

/// Removes the value under a name.
pub fn remove(keep: Keep, name: &str) {
    if let Some(storage) = storage(keep) {
        // Removing fails only if nothing is stored.
        let _ = storage.remove_item(&key(name));
    }
}

/// Calls `changed` whenever another tab changes a permanently stored value, with the new one; `None` if it was
/// removed. Listens for the lifetime of the page.
pub fn on_change_elsewhere(name: &str, changed: impl Fn(Option<String>) + 'static) {
    let Some(window) = web_sys::window() else {
        return;
    };
    let name = key(name);
    let listener = Closure::<dyn Fn(StorageEvent)>::new(move |event: StorageEvent| {
        let is_here = event.storage_area() == storage(Keep::Always);
        // An event without a key means that all of the storage was cleared.
        if is_here && event.key().is_none_or(|key| key == name) {
            changed(event.new_value());
        }
    });
    // Adding a listener to the window does not fail.
    let _ = window.add_event_listener_with_callback("storage", listener.as_ref().unchecked_ref());
    listener.forget();
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

fn storage(keep: Keep) -> Option<Storage> {
    let window = web_sys::window()?;
    let found = match keep {
        Keep::Tab => window.session_storage(),
        Keep::Always => window.local_storage(),
    };
    found.ok().flatten()
}
