//! Key presses anywhere on the page.

use wasm_bindgen::prelude::*;
use web_sys::{Element, KeyboardEvent};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPress {
    /// The value of `KeyboardEvent.key`: `?`, `j`, `Enter`.
    pub key: String,
    /// Whether Control or Command is held.
    pub command: bool,
    /// Whether the focus is in a field, so that letters are not shortcuts.
    pub typing: bool,
}

/// Calls back on each key press; `pressed` returns whether it handled the key.
pub fn on_press(pressed: impl Fn(KeyPress) -> bool + 'static) {
    let listener = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        if event.default_prevented() || event.is_composing() || event.alt_key() {
            return;
        }
        let press = KeyPress {
            key: event.key(),
            command: event.ctrl_key() || event.meta_key(),
            typing: is_typing(&event),
        };
        if pressed(press) {
            event.prevent_default();
        }
    });
    if let Some(window) = web_sys::window() {
        // Cannot fail: the name of the event is a constant.
        let _ =
            window.add_event_listener_with_callback("keydown", listener.as_ref().unchecked_ref());
    }
    listener.forget();
}

/// The key of a press in an element with keys of its own; `None` with Control, Command or Alt, which are shortcuts of the
/// browser.
pub fn plain_key(event: &KeyboardEvent) -> Option<String> {
    let has_modifier = event.ctrl_key() || event.meta_key() || event.alt_key();
    (!has_modifier).then(|| event.key())
}

fn is_typing(event: &KeyboardEvent) -> bool {
    event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok())
        .is_some_and(|element| {
            // The selector is a constant, so matching cannot fail. A dialog that was closed just now keeps the focus until the
            // next frame.
            element
                .closest("input, textarea, select, dialog[open], [role=tree], [contenteditable]")
                .is_ok_and(|found| found.is_some())
        })
}
