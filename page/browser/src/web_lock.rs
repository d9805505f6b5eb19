//! A lock that only one tab of the browser can hold at a time (the Web Locks API). It is released on drop, or when
//! its tab is closed.
//!
//! Outside a secure context (http, but not localhost) browsers have no locks; there every request is granted.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// The prefix of names, because pages of one origin share their locks.
const PREFIX: &str = "volary.";

/// An acquired lock.
#[derive(Debug)]
pub struct WebLock {
    /// Releases it; `None` where the browser has no locks.
    release: Option<Function>,
}

impl Drop for WebLock {
    fn drop(&mut self) {
        if let Some(release) = &self.release {
            // Resolving a promise of our own cannot fail.
            let _ = release.call0(&JsValue::NULL);
        }
    }
}

/// Acquires a lock; `None` if it is held, in this tab or in another one.
pub async fn acquire(name: &str) -> Option<WebLock> {
    let Some((locks, request)) = manager() else {
        return Some(WebLock { release: None });
    };
    let (Some((decision, decide)), Some((end, release))) = (promise(), promise()) else {
        return Some(WebLock { release: None });
    };
    let refuse = decide.clone();
    let granted = Closure::once_into_js(move |lock: JsValue| {
        let is_granted = !lock.is_null();
        // Resolving a promise of our own cannot fail.
        let _ = decide.call1(&JsValue::NULL, &is_granted.into());
        // Held for as long as this promise is pending.
        if is_granted {
            JsValue::from(end)
        } else {
            JsValue::UNDEFINED
        }
    });
    let options = Object::new();
    // An option on an object of our own: this cannot fail.
    let _ = Reflect::set(&options, &"ifAvailable".into(), &JsValue::TRUE);
    let name = format!("{PREFIX}{name}");
    let asked = request.call3(&locks, &name.into(), &options, &granted);
    let Ok(asked) = asked.and_then(JsCast::dyn_into::<Promise>) else {
        return Some(WebLock { release: None });
    };
    super::spawn(async move {
        // A browser that rejects locks altogether grants every request, like a browser without locks.
        if JsFuture::from(asked).await.is_err() {
            let _ = refuse.call1(&JsValue::NULL, &JsValue::TRUE);
        }
    });
    let is_granted = JsFuture::from(decision).await.ok()?.is_truthy();
    is_granted.then_some(WebLock {
        release: Some(release),
    })
}

/// The browser's lock manager and its `request` function.
fn manager() -> Option<(JsValue, Function)> {
    let navigator = web_sys::window()?.navigator();
    let locks = Reflect::get(&navigator, &"locks".into()).ok()?;
    let request = Reflect::get(&locks, &"request".into()).ok()?;
    Some((locks, request.dyn_into().ok()?))
}

/// A promise and its resolver. The constructor provides both synchronously.
fn promise() -> Option<(Promise, Function)> {
    let mut resolver = None;
    let promise = Promise::new(&mut |resolve, _| resolver = Some(resolve));
    Some((promise, resolver?))
}
