//! Full screen, where the browser has it.

use web_sys::Document;

/// Whether the browser has full screen. Safari on phones has not.
pub fn is_supported() -> bool {
    document().is_some_and(|document| document.fullscreen_enabled())
}

/// Shows the page on the full screen, or in its window again. Only a key press or a click may do that.
pub fn toggle() {
    let Some(document) = document() else { return };
    match document.fullscreen_element() {
        Some(_) => document.exit_fullscreen(),
        None => {
            let root = document.document_element();
            // The browser may refuse; then the page stays as it is.
            let _ = root.map(|root| root.request_fullscreen());
        }
    }
}

/// Shows the page in its window again.
pub fn leave() {
    if let Some(document) = document().filter(|document| document.fullscreen_element().is_some()) {
        document.exit_fullscreen();
    }
}

fn document() -> Option<Document> {
    web_sys::window()?.document()
}
