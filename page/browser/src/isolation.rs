//! Runs code that may panic on damaged input, without losing the worker.
//!
//! WebAssembly cannot unwind: a panic is a trap, which ends all Rust code up to the next JavaScript function. Code that is
//! called through JavaScript ends there, and its caller goes on. What the code held is leaked, and its destructors do not
//! run, so it must share nothing with the rest of the program; a few panics cost a few megabytes.

use std::cell::{Cell, RefCell};
#[cfg(target_family = "wasm")]
use std::rc::Rc;

#[cfg(target_family = "wasm")]
use js_sys::Function;
#[cfg(target_family = "wasm")]
use wasm_bindgen::prelude::*;

thread_local! {
    static IS_ISOLATED: Cell<bool> = const { Cell::new(false) };
    /// The message of the last panic of isolated code.
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Handles a panic of isolated code. Returns `false` if the code is not isolated, so that the panic ends the worker.
pub(super) fn takes(panic: &str) -> bool {
    let is_isolated = IS_ISOLATED.get();
    if is_isolated {
        MESSAGE.set(panic.to_owned());
    }
    is_isolated
}

/// Runs a function. Returns the message if it panics.
#[cfg(target_family = "wasm")]
pub fn isolated<T: 'static>(work: impl FnOnce() -> T + 'static) -> Result<T, String> {
    let result: Rc<RefCell<Option<T>>> = Rc::default();
    let closure = {
        let result = Rc::clone(&result);
        Closure::once(move || drop(result.replace(Some(work()))))
    };
    let function: &Function = closure.as_ref().unchecked_ref();
    IS_ISOLATED.set(true);
    let called = function.call0(&JsValue::NULL);
    IS_ISOLATED.set(false);
    match (called, result.take()) {
        (Ok(_), Some(result)) => Ok(result),
        _ => {
            // It did not return, so it must not be dropped.
            closure.forget();
            Err(MESSAGE.take())
        }
    }
}

/// Runs a function. Returns the message if it panics.
#[cfg(not(target_family = "wasm"))]
pub fn isolated<T: 'static>(work: impl FnOnce() -> T + 'static) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|_| MESSAGE.take())
}
