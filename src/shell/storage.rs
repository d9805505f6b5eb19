//! What the browser keeps for the page. A browser may refuse both kinds; then nothing is kept.

use web_sys::Storage;

/// How long something is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until the tab is closed.
    Visit,
    /// Until the person clears it.
    Always,
}

/// Names begin so, because pages of one host share their storage.
const PREFIX: &str = "volary.";

/// The text under a name.
pub fn get(keep: Keep, name: &str) -> Option<String> {
    storage(keep)?.get_item(&key(name)).ok().flatten()
}

/// Keeps a text under a name; false where the browser refused (full, forbidden).
pub fn set(keep: Keep, name: &str, text: &str) -> bool {
    storage(keep).is_some_and(|storage| storage.set_item(&key(name), text).is_ok())
}

/// Forgets what stands under a name.
pub fn remove(keep: Keep, name: &str) {
    if let Some(storage) = storage(keep) {
        // Removing only fails where there is nothing to remove.
        let _ = storage.remove_item(&key(name));
    }
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

fn storage(keep: Keep) -> Option<Storage> {
    let window = web_sys::window()?;
    let found = match keep {
        Keep::Visit => window.session_storage(),
        Keep::Always => window.local_storage(),
    };
    found.ok().flatten()
}
