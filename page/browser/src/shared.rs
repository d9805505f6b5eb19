//! Values shared by all tabs of the page: each is stored in the browser's storage under a name, with a copy in the
//! memory of each tab.
//!
//! Invariants:
//! - A change is applied to the stored value, not to this tab's copy, so that tabs do not undo each other's changes;
//!   each tab is notified of the changes of the others.
//! - A stored text that this version cannot read in full is never overwritten, except on request: a newer version may
//!   have written it. The part that can be read is shown.
//! - If a value is not stored, for that reason or because the browser refuses, it lasts as long as the page, and
//!   [`Shared::unsaved`] says so.

use leptos::prelude::*;
use volary_core::json::{self, Json};

use crate::storage::{self, Keep};

/// A value shared by all tabs. It lives as long as the page, whatever component accessed it first.
#[derive(Clone)]
pub struct Shared<T: 'static> {
    name: &'static str,
    /// Parses the stored text. Returns `None` if it is invalid.
    read: fn(&str) -> Option<T>,
    to_text: fn(&T) -> String,
    arrived: fn(&T),
    state: ArcRwSignal<T>,
    unsaved: ArcRwSignal<Option<UnsavedCause>>,
}

/// Why changes of a value are only in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsavedCause {
    /// The browser refused to store it.
    Refused,
    /// The stored text has contents that this version does not know, which storing a change would delete.
    Unreadable,
}

/// Whether changes of a value are only in memory, and the way to store them after all.
#[derive(Clone)]
pub struct Unsaved {
    /// `None` while everything is stored.
    pub cause: ArcRwSignal<Option<UnsavedCause>>,
    /// Stores the value of this tab in place of whatever is stored.
    pub store: Callback<()>,
}

impl<T: Clone + Default + PartialEq + Send + Sync + 'static> Shared<T> {
    /// Loads the value stored under a name; its default if nothing valid is stored. `arrived` is called with each value
    /// that was read in full: initially, and when another tab changed it.
    pub fn new(
        name: &'static str,
        read: fn(&str) -> Option<T>,
        to_text: fn(&T) -> String,
        arrived: fn(&T),
    ) -> Self {
        let shared = Shared {
            name,
            read,
            to_text,
            arrived,
            state: ArcRwSignal::default(),
            unsaved: ArcRwSignal::default(),
        };
        if let Some(text) = storage::get(Keep::Always, name) {
            shared.take(&text);
        }
        let heard = shared.clone();
        storage::on_change_elsewhere(name, move |text| {
            if heard.unsaved.get_untracked() == Some(UnsavedCause::Refused) {
                return;
            }
            match text {
                // Another tab removed it on purpose: that is how the table of prices is reset to the built-in one.
                None => heard.set(T::default()),
                Some(text) => heard.take(&text),
            }
        });
        shared
    }

    /// The value as a signal.
    pub fn signal(&self) -> ArcRwSignal<T> {
        self.state.clone()
    }

    /// Whether changes are only in memory.
    pub fn unsaved(&self) -> Unsaved {
        let shared = self.clone();
        Unsaved {
            cause: self.unsaved.clone(),
            store: Callback::new(move |()| {
                shared.write(&shared.state.get_untracked());
            }),
        }
    }

    /// Changes the value in this tab, in the storage and in all other tabs. Returns whether it is stored.
    pub fn change(&self, act: impl FnOnce(&mut T)) -> bool {
        let text = storage::get(Keep::Always, self.name);
        let stored = text.as_deref().map(|text| self.parse(text));
        let is_unreadable = stored.as_ref().is_some_and(|stored| !stored.is_complete);
        let stored = match self.unsaved.get_untracked() {
            // This tab has changes that are not stored.
            Some(_) => None,
            // The event of another tab's change may still be in flight.
            None => stored.and_then(|stored| stored.value),
        };
        let mut value = stored.unwrap_or_else(|| self.state.get_untracked());
        act(&mut value);
        let is_stored = if is_unreadable {
            self.set_unsaved(Some(UnsavedCause::Unreadable));
            false
        } else {
            self.write(&value)
        };
        if self.state.with_untracked(|known| *known != value) {
            self.state.set(value);
        }
        is_stored
    }

    /// Resets the value to the default in all tabs.
    pub fn reset(&self) {
        if self.unsaved.get_untracked() == Some(UnsavedCause::Unreadable) {
            self.state.set(T::default());
            return;
        }
        storage::remove(Keep::Always, self.name);
        self.set(T::default());
    }

    /// Takes over a stored text.
    fn take(&self, text: &str) {
        let Stored { value, is_complete } = self.parse(text);
        if let Some(value) = value {
            // A value in part does not say what no longer exists, such as the owners of keys.
            if is_complete {
                (self.arrived)(&value);
            }
            self.state.set(value);
        }
        self.set_unsaved((!is_complete).then_some(UnsavedCause::Unreadable));
    }

    /// Takes over a value that is stored.
    fn set(&self, value: T) {
        (self.arrived)(&value);
        self.state.set(value);
        self.set_unsaved(None);
    }

    fn write(&self, value: &T) -> bool {
        let is_stored = storage::set(Keep::Always, self.name, &(self.to_text)(value));
        self.set_unsaved((!is_stored).then_some(UnsavedCause::Refused));
        is_stored
    }

    fn set_unsaved(&self, cause: Option<UnsavedCause>) {
        if self.unsaved.get_untracked() != cause {
            self.unsaved.set(cause);
        }
    }

    fn parse(&self, text: &str) -> Stored<T> {
        let value = (self.read)(text);
        let written = value.as_ref().map(self.to_text);
        Stored {
            value,
            is_complete: written.is_some_and(|written| is_preserved(text, &written)),
        }
    }
}

/// A stored text as this version reads it.
struct Stored<T> {
    /// The part that it knows, if any.
    value: Option<T>,
    is_complete: bool,
}

/// Whether all that a stored text contains is also in the text that this version would write instead: each member and
/// each element of the JSON in each line. Values may differ, because readers limit them.
pub fn is_preserved(stored: &str, written: &str) -> bool {
    if stored == written {
        return true;
    }
    let mut written = written.lines();
    stored.lines().all(|stored| {
        let stored = json::read(stored).ok();
        let written = written.next().and_then(|line| json::read(line).ok());
        let both = stored.zip(written);
        both.is_some_and(|(stored, written)| has_all(&stored, &written))
    })
}

fn has_all(stored: &Json, written: &Json) -> bool {
    match (stored, written) {
        (Json::Object(stored), Json::Object(written)) => stored.iter().all(|(key, value)| {
            let written = written.get(key);
            written.is_some_and(|written| has_all(value, written))
        }),
        (Json::List(stored), Json::List(written)) => {
            let both = stored.iter().zip(written);
            stored.len() <= written.len()
                && both.into_iter().all(|(one, other)| has_all(one, other))
        }
        (Json::Object(_) | Json::List(_), _) | (_, Json::Object(_) | Json::List(_)) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_this_version_or_an_earlier_one_is_preserved() {
        for (stored, written) in [
            ("", ""),
            (r#"{"a": 1}"#, r#"{"a":1}"#),
            // A value out of bounds, and a member that this version adds.
            (r#"{"a": 99}"#, r#"{"a": 10, "b": null}"#),
            (r#"[{"a": "x"}]"#, r#"[{"a": "x", "b": []}]"#),
            ("{\"a\": 1}\n{\"b\": 2}", "{\"a\": 1}\n{\"b\": 2, \"c\": 3}"),
        ] {
            assert!(is_preserved(stored, written), "{stored}");
        }
    }

    #[test]
    fn a_text_that_would_lose_something_is_not_preserved() {
        for (stored, written) in [
            (r#"{"a": 1, "b": 2}"#, r#"{"a": 1}"#),
            (r#"{"a": {"b": 2}}"#, r#"{"a": {}}"#),
            (r#"{"a": {"b": 2}}"#, r#"{"a": 2}"#),
            (r#"{"a": "b"}"#, r#"{"a": ["b"]}"#),
            ("[1, 2]", "[1]"),
            (r#"[{"a": 1}]"#, "[]"),
            ("{\"a\": 1}\n{\"b\": 2}", r#"{"a": 1}"#),
            ("{", "{}"),
            ("words", ""),
        ] {
            assert!(!is_preserved(stored, written), "{stored}");
        }
    }
}
