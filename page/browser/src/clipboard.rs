//! The clipboard.

use leptos::callback::{Callable, Callback};
use wasm_bindgen_futures::JsFuture;

/// Writes a text to the clipboard; `done` receives whether that succeeded.
pub fn copy(text: String, done: Callback<bool>) {
    super::spawn(async move {
        let clipboard = web_sys::window()
            // Outside a secure context there is no clipboard, which web-sys does not express.
            .filter(|window| window.is_secure_context())
            .map(|window| window.navigator().clipboard());
        let copied = match clipboard {
            Some(clipboard) => JsFuture::from(clipboard.write_text(&text)).await.is_ok(),
            None => false,
        };
        done.run(copied);
    });
}
