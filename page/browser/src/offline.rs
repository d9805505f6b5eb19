//! The service worker, which stores the files of the page for use without a connection (`src/service-worker.js`).

use js_sys::{Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// Defined in `start.js`. Returns the registration, or nothing in browsers without service workers.
    #[wasm_bindgen(catch, js_name = storeOffline)]
    fn store_offline() -> Result<JsValue, JsValue>;
}

/// Starts to store the page, or a newer version of it. Returns whether a complete version is stored and in use.
///
/// A browser may refuse, for example in a private window: the page then works only with a connection.
pub async fn store() -> bool {
    let Ok(promise) = store_offline() else {
        return false;
    };
    let registration = JsFuture::from(Promise::resolve(&promise)).await;
    let active = registration.and_then(|registration| {
        let registration = js_sys::Object::try_from(&registration)
            .cloned()
            .ok_or(JsValue::NULL)?;
        Reflect::get(&registration, &"active".into())
    });
    // In development the worker removes itself.
    !cfg!(debug_assertions) && active.is_ok_and(|active| active.is_truthy())
}
