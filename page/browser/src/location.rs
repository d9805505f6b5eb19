//! The address of the page. The page owns only its hash; the rest belongs to the host.

use wasm_bindgen::prelude::*;
use web_sys::{HtmlLinkElement, Url};

/// The hash, with its `#`; empty without one.
pub fn hash() -> String {
    web_sys::window()
        .and_then(|window| window.location().hash().ok())
        .unwrap_or_default()
}

/// Whether the address asks for the view for frames in other pages. `start.js` decides the same.
pub fn is_embedded() -> bool {
    let location = web_sys::window().map(|window| window.location());
    let query = location.and_then(|location| location.search().ok());
    query.is_some_and(|query| query.split(['?', '&']).any(|part| part == "embed=1"))
}

/// Replaces the hash without adding a history entry.
pub fn replace(hash: &str) {
    let history = web_sys::window().and_then(|window| window.history().ok());
    if let Some(history) = history {
        // Browsers reject this when it is called too often; the address is then slightly outdated.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(hash));
    }
}

/// Navigates to another hash and adds a history entry; [`on_change`] is called.
pub fn go(hash: &str) {
    if let Some(window) = web_sys::window() {
        // Fails only for forbidden addresses, and a hash is never one.
        let _ = window.location().set_hash(hash);
    }
}

/// The absolute address with another hash.
pub fn address_with(hash: &str) -> String {
    let address = web_sys::window()
        .and_then(|window| window.location().href().ok())
        .unwrap_or_default();
    let base = address.split('#').next().unwrap_or_default();
    format!("{base}{hash}")
}

/// Loads the page again, with the version that is served now.
pub fn reload() {
    if let Some(window) = web_sys::window() {
        // Fails only in documents that are not shown.
        let _ = window.location().reload();
    }
}

/// Sets the title of the tab.
pub fn set_title(title: &str) {
    if let Some(document) = web_sys::window().and_then(|window| window.document()) {
        document.set_title(title);
    }
}

/// Calls back with the new hash after each navigation.
pub fn on_change(mut changed: impl FnMut(String) + 'static) {
    let listener = Closure::<dyn FnMut()>::new(move || changed(hash()));
    if let Some(window) = web_sys::window() {
        // Cannot fail: the name of the event is a constant.
        let _ = window
            .add_event_listener_with_callback("hashchange", listener.as_ref().unchecked_ref());
    }
    listener.forget();
}

/// Calls back when the page is left. The callback must be synchronous.
pub fn on_leave(left: impl FnMut() + 'static) {
    let listener = Closure::<dyn FnMut()>::new(left);
    if let Some(window) = web_sys::window() {
        // Cannot fail: the name of the event is a constant.
        let _ =
            window.add_event_listener_with_callback("pagehide", listener.as_ref().unchecked_ref());
    }
    listener.forget();
}

/// Calls back when the tab or window is hidden.
pub fn on_hidden(mut aside: impl FnMut() + 'static) {
    let Some(document) = web_sys::window().and_then(|window| window.document()) else {
        return;
    };
    let looked_at = document.clone();
    let listener = Closure::<dyn FnMut()>::new(move || {
        if looked_at.hidden() {
            aside();
        }
    });
    // Cannot fail: the name of the event is a constant.
    let _ = document
        .add_event_listener_with_callback("visibilitychange", listener.as_ref().unchecked_ref());
    listener.forget();
}

/// The absolute address of a linked resource (`<link rel=…>`), if there is one.
pub fn linked(relation: &str) -> Option<String> {
    let document = web_sys::window()?.document()?;
    let link = document.query_selector(&format!("link[rel~={relation}]"));
    let link = link.ok()??.dyn_into::<HtmlLinkElement>().ok()?;
    Some(link.href())
}

/// Resolves an address against that of the page, in the browser's normal form; `None` if it is invalid.
pub fn whole(address: &str) -> Option<String> {
    let whole = Url::new_with_base(address, &address_with(""));
    whole.ok().map(|whole| whole.href())
}

/// Resolves a path against an address. `.` and `..` are dropped, so the result stays in the same folder.
pub fn beside(address: &str, path: &str) -> String {
    let folder = address.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | ".."));
    let parts = parts.map(|part| String::from(js_sys::encode_uri_component(part)));
    format!("{folder}/{}", parts.collect::<Vec<_>>().join("/"))
}

/// The path of an address in the folder of another, as [`beside`] takes it; `None` if it is elsewhere.
pub fn within(address: &str, url: &str) -> Option<String> {
    let (folder, _) = address.rsplit_once('/')?;
    let path = url.strip_prefix(folder)?.strip_prefix('/')?;
    Some(js_sys::decode_uri_component(path).ok()?.into())
}
