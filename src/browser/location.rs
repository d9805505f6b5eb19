//! The address: only its hash is ours, the rest belongs to the host.

use wasm_bindgen::prelude::*;
use web_sys::{HtmlLinkElement, Url};

/// The hash, with its `#`; empty without one.
pub fn hash() -> String {
    web_sys::window()
        .and_then(|window| window.location().hash().ok())
        .unwrap_or_default()
}

/// Puts another hash in place of this one, without a new entry in the history.
pub fn replace(hash: &str) {
    let history = web_sys::window().and_then(|window| window.history().ok());
    if let Some(history) = history {
        // Browsers refuse this when asked too often; the address is then a little old.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(hash));
    }
}

/// Goes to another hash, with a new entry in the history; [`on_change`] hears of it.
pub fn go(hash: &str) {
    if let Some(window) = web_sys::window() {
        // Fails only for addresses that the browser forbids, and a hash never is one.
        let _ = window.location().set_hash(hash);
    }
}

/// The whole address with another hash.
pub fn address_with(hash: &str) -> String {
    let address = web_sys::window()
        .and_then(|window| window.location().href().ok())
        .unwrap_or_default();
    let base = address.split('#').next().unwrap_or_default();
    format!("{base}{hash}")
}

/// Calls back with the new hash whenever a person goes elsewhere.
pub fn on_change(mut changed: impl FnMut(String) + 'static) {
    let listener = Closure::<dyn FnMut()>::new(move || changed(hash()));
    if let Some(window) = web_sys::window() {
        // Can't fail: the name of the event is a constant.
        let _ = window
            .add_event_listener_with_callback("hashchange", listener.as_ref().unchecked_ref());
    }
    listener.forget();
}

/// Calls back when the page is left or put aside; what it does must not wait for anything.
pub fn on_leave(left: impl FnMut() + 'static) {
    let listener = Closure::<dyn FnMut()>::new(left);
    if let Some(window) = web_sys::window() {
        // Can't fail: the name of the event is a constant.
        let _ =
            window.add_event_listener_with_callback("pagehide", listener.as_ref().unchecked_ref());
    }
    listener.forget();
}

/// Calls back when another tab or window takes the place of the page.
pub fn on_put_aside(mut aside: impl FnMut() + 'static) {
    let Some(document) = web_sys::window().and_then(|window| window.document()) else {
        return;
    };
    let looked_at = document.clone();
    let listener = Closure::<dyn FnMut()>::new(move || {
        if looked_at.hidden() {
            aside();
        }
    });
    // Can't fail: the name of the event is a constant.
    let _ = document
        .add_event_listener_with_callback("visibilitychange", listener.as_ref().unchecked_ref());
    listener.forget();
}

/// The whole address of what the page links to in a relation (`<link rel=…>`), if it does.
pub fn linked(relation: &str) -> Option<String> {
    let document = web_sys::window()?.document()?;
    let link = document.query_selector(&format!("link[rel={relation}]"));
    let link = link.ok()??.dyn_into::<HtmlLinkElement>().ok()?;
    Some(link.href())
}

/// The whole address of one that may be relative to the page's, as the browser writes it; `None` if it is none.
pub fn whole(address: &str) -> Option<String> {
    let whole = Url::new_with_base(address, &address_with(""));
    whole.ok().map(|whole| whole.href())
}

/// The whole address of a path beside an address. What leads elsewhere stays beside it.
pub fn beside(address: &str, path: &str) -> String {
    let folder = address.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | ".."));
    let parts = parts.map(|part| String::from(js_sys::encode_uri_component(part)));
    format!("{folder}/{}", parts.collect::<Vec<_>>().join("/"))
}
