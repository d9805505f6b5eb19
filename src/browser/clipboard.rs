//! The clipboard.

use leptos::callback::{Callable, Callback};
use wasm_bindgen_futures::JsFuture;

/// Puts a text into the clipboard; `done` hears whether it stands there now.
pub fn copy(text: String, done: Callback<bool>) {
    super::spawn(async move {
        let clipboard = web_sys::window()
            // Without a secure context there is no clipboard; web-sys does not say so.
            .filter(|window| window.is_secure_context())
            .map(|window| window.navigator().clipboard());
        let copied = match clipboard {
            Some(clipboard) => JsFuture::from(clipboard.write_text(&text)).await.is_ok(),
            None => false,
        };
        done.run(copied);
    });
}
