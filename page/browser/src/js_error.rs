//! Messages of JavaScript exceptions.

use wasm_bindgen::prelude::*;

/// The message of a JavaScript exception.
pub(crate) fn text_of(error: &JsValue) -> String {
    error
        .as_string()
        .or_else(|| {
            error
                .dyn_ref::<js_sys::Error>()
                .map(|error| String::from(error.message()))
        })
        .unwrap_or_else(|| "The browser gave no reason.".to_owned())
}
