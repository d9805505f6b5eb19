//! Recovery from a panic of the page: saves the displayed episode and reveals a message in `index.html` that says how
//! to get it back.
//!
//! After a panic no state of the page can be trusted, so this uses as little of it as possible.

use std::cell::{Cell, RefCell};

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::isolation;
use super::storage::{self, Keep};

const KEPT: &str = "rescued";

/// Returns the text of the displayed episode, if there is one to save.
type Save = Box<dyn Fn() -> Option<String>>;

/// Returns a text without the secrets that it may quote.
type Redact = fn(&str) -> String;

thread_local! {
    static SAVE: RefCell<Option<Save>> = const { RefCell::new(None) };
    static REDACT: Cell<Option<Redact>> = const { Cell::new(None) };
}

/// Installs the panic hook.
pub fn watch() {
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        if !isolation::takes(&message) {
            show(&message);
        }
    }));
}

/// Moves the message to the end of the page.
pub fn step_back() {
    let document = web_sys::window().and_then(|window| window.document());
    let body = document.as_ref().and_then(web_sys::Document::body);
    let broken = document.and_then(|document| document.get_element_by_id("broken"));
    if let (Some(body), Some(broken)) = (body, broken) {
        // Both are in the document, so one can be moved within the other.
        let _ = body.append_child(&broken);
    }
}

/// Sets the function that returns the episode to save.
pub fn save_with(save: impl Fn() -> Option<String> + 'static) {
    SAVE.set(Some(Box::new(save)));
}

/// Sets the function that removes secrets from the message. A message of `std` quotes the text that the code worked on.
pub fn redact_with(redact: Redact) {
    REDACT.set(Some(redact));
}

/// Returns whether an episode was saved.
pub fn is_kept() -> bool {
    storage::get(Keep::Tab, KEPT).is_some()
}

/// Returns the episode that was saved when the page crashed, once.
pub fn rescued() -> Option<String> {
    let text = storage::get(Keep::Tab, KEPT)?;
    storage::remove(Keep::Tab, KEPT);
    Some(text)
}

fn show(message: &str) {
    let Some(document) = web_sys::window().and_then(|window| window.document()) else {
        return;
    };
    let element = |id: &str| {
        document
            .get_element_by_id(id)
            .and_then(|element| element.dyn_into::<HtmlElement>().ok())
    };
    if let Some(broken) = element("broken") {
        // What follows from the first panic explains nothing, and a panic while saving must not recurse.
        if !broken.hidden() {
            return;
        }
        broken.set_hidden(false);
    }
    if let Some(reason) = element("broken-reason") {
        let redact = REDACT.get();
        let redacted = redact.map(|redact| redact(message));
        reason.set_text_content(Some(redacted.as_deref().unwrap_or(message)));
    }
    let save = SAVE.try_with(|save| save.try_borrow_mut().ok()?.take());
    let kept = save
        .ok()
        .flatten()
        .and_then(|save| save())
        .is_some_and(|text| storage::set(Keep::Tab, KEPT, &text));
    if let Some(note) = element(if kept { "broken-kept" } else { "broken-lost" }) {
        note.set_hidden(false);
    }
}
