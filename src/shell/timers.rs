//! Waiting: for a time, for the next animation frame.

use std::cell::OnceCell;
use std::time::Duration;

use wasm_bindgen::prelude::*;
use web_sys::Performance;

thread_local! {
    static PERFORMANCE: OnceCell<Option<Performance>> = const { OnceCell::new() };
}

/// Seconds since the page or the worker was started; never goes back.
pub fn now() -> f64 {
    PERFORMANCE.with(|cell| {
        let performance = cell.get_or_init(|| {
            js_sys::Reflect::get(&js_sys::global(), &"performance".into())
                .ok()?
                .dyn_into()
                .ok()
        });
        performance
            .as_ref()
            .map_or(0.0, |performance| performance.now() / 1000.0)
    })
}

/// Resolves after the time has passed.
pub async fn sleep(duration: Duration) {
    gloo_timers::future::TimeoutFuture::new(duration.as_millis().try_into().unwrap_or(u32::MAX))
        .await;
}

/// Runs something before the next paint.
pub fn next_frame(action: impl FnOnce() + 'static) {
    let action = Closure::once_into_js(action);
    if let Some(window) = web_sys::window() {
        // Fails only without a document, and then there is nothing to paint.
        let _ = window.request_animation_frame(action.unchecked_ref());
    }
}
