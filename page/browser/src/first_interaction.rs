//! The first interaction of the user: a pointer, a key, a touch, or the focus.

use std::cell::Cell;

use wasm_bindgen::prelude::*;
use web_sys::Event;

const SIGNS: [&str; 6] = [
    "pointermove",
    "pointerdown",
    "keydown",
    "touchstart",
    "focusin",
    "dragenter",
];

/// Calls back at the first interaction, once.
pub fn on_first_interaction(act: impl FnOnce() + 'static) {
    let act = Cell::new(Some(act));
    let listener = Closure::<dyn Fn(Event)>::new(move |_: Event| {
        if let Some(act) = act.take() {
            act();
        }
    });
    if let Some(window) = web_sys::window() {
        for sign in SIGNS {
            // Cannot fail: the names of the events are constants.
            let _ =
                window.add_event_listener_with_callback(sign, listener.as_ref().unchecked_ref());
        }
    }
    listener.forget();
}
