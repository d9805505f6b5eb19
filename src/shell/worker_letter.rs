//! Long texts from a worker to the page. They go as bytes that change hands: as texts, each side would leave a copy to
//! whoever tidies up its memory one day.

use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::DedicatedWorkerGlobalScope;

/// From so many bytes on a text is long.
const LONG: usize = 1 << 15;

#[wasm_bindgen]
extern "C" {
    /// A buffer that can let go of its bytes.
    #[wasm_bindgen(extends = ArrayBuffer)]
    type Released;
    #[wasm_bindgen(method, catch)]
    fn transfer(this: &Released, length: u32) -> Result<ArrayBuffer, JsValue>;
}

/// Posts a text to the page.
pub(super) fn post(scope: &DedicatedWorkerGlobalScope, text: &str) {
    // Texts and bytes can always be cloned to the page.
    let _ = match text.len() < LONG {
        true => scope.post_message(&text.into()),
        false => {
            let bytes = Uint8Array::from(text.as_bytes());
            scope.post_message_with_transfer(&bytes, &Array::of1(&bytes.buffer()))
        }
    };
}

/// The text that was posted, if it is one.
pub(super) fn read(letter: JsValue) -> Option<String> {
    if let Some(text) = letter.as_string() {
        return Some(text);
    }
    let bytes = letter.dyn_into::<Uint8Array>().ok()?;
    let text = String::from_utf8(bytes.to_vec()).ok();
    // A browser that can't do this does it later by itself.
    let _ = bytes.buffer().unchecked_into::<Released>().transfer(0);
    text
}
