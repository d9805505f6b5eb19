//! The storage quota of this origin, and whether the browser promises not to evict stored data.

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{StorageEstimate, StorageManager};

/// Storage, in bytes. All pages of the origin share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    /// The bytes used.
    pub used: f64,
    /// The maximum.
    pub quota: f64,
}

/// Returns the quota, if the browser reports it.
pub async fn quota() -> Option<Quota> {
    let estimate = JsFuture::from(manager()?.estimate().ok()?).await.ok()?;
    let estimate: StorageEstimate = estimate.unchecked_into();
    Some(Quota {
        used: estimate.get_usage()?,
        quota: estimate.get_quota()?,
    })
}

/// Whether the browser promised not to evict stored data when the disk gets full.
pub async fn is_lasting() -> bool {
    match manager().and_then(|manager| manager.persisted().ok()) {
        Some(promise) => is_true(promise).await,
        None => false,
    }
}

/// Requests that promise. Some browsers ask the user, others decide themselves.
pub async fn ask_to_last() -> bool {
    match manager().and_then(|manager| manager.persist().ok()) {
        Some(promise) => is_true(promise).await,
        None => false,
    }
}

async fn is_true(promise: js_sys::Promise) -> bool {
    let answer = JsFuture::from(promise).await;
    answer.is_ok_and(|value| value.is_truthy())
}

fn manager() -> Option<StorageManager> {
    // The navigator of the page or of the worker.
    let navigator = js_sys::Reflect::get(&js_sys::global(), &"navigator".into()).ok()?;
    // Absent outside a secure context.
    let manager = js_sys::Reflect::get(&navigator, &"storage".into()).ok()?;
    manager.dyn_into().ok()
}
