//! Members of JavaScript objects by name, for interfaces that `web-sys` does not have.

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;

/// A member; `undefined` if there is none.
pub fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

/// Sets a member of an object that we created.
pub fn set(object: &JsValue, key: &str, value: &JsValue) {
    // An object of our own is extensible, so this cannot fail.
    let _ = Reflect::set(object, &key.into(), value);
}

/// A method; `None` if there is no such function.
pub fn function(object: &JsValue, name: &str) -> Option<Function> {
    get(object, name).dyn_into().ok()
}
