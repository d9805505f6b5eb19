//! The service worker, which stores files of the page for use without a connection (`src/service-worker.js`).

use js_sys::{Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// Defined in `start.js`. Returns the registration, or nothing in browsers without service workers.
    #[wasm_bindgen(catch, js_name = storeOffline)]
    fn store_offline() -> Result<JsValue, JsValue>;

    /// Defined in `start.js`. Sends a request to the active service worker. `report` is called with each count of bytes
    /// that are not stored. The promise is rejected with the reason if storing fails.
    #[wasm_bindgen(js_name = askStore)]
    fn ask_store(request: &str, report: &Closure<dyn FnMut(f64)>) -> Promise;
}

/// Why not all files could be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Not all files could be stored: {0}")]
pub struct NotStored(String);

/// Starts to store the page, or a newer version of it. Returns whether a version is stored and in use.
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

/// Calls `report` with the bytes of the page that are not stored. A version must be in use.
pub async fn missing(report: impl FnMut(f64) + 'static) {
    // Only storing fails.
    let _ = ask("missing", report).await;
}

/// Stores all files of the page, of this version and of later ones, and calls `report` with the bytes that are left. A
/// version must be in use.
///
/// # Errors
///
/// Returns an error if a file cannot be fetched or stored. What is stored stays; a repeated call goes on from there.
pub async fn store_whole(report: impl FnMut(f64) + 'static) -> Result<(), NotStored> {
    ask("whole", report).await.map_err(|reason| {
        NotStored(
            reason
                .as_string()
                .unwrap_or_else(|| "the browser names no reason".to_owned()),
        )
    })
}

async fn ask(request: &str, report: impl FnMut(f64) + 'static) -> Result<(), JsValue> {
    let report = Closure::new(report);
    JsFuture::from(ask_store(request, &report)).await?;
    Ok(())
}
