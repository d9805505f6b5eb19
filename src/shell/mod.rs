//! The one door for effects: all that touches the browser stands here, and nowhere else.
//!
//! - [`worker_link`]: the page's end of a worker; [`worker_loop`]: the worker's own end.
//! - [`clock`]: time as environments see it; [`timers`]: waiting, animation frames.
//! - [`location`]: the hash; [`files`]: download, pick, drop; [`clipboard`]; [`storage`]: what is kept
//!   between visits; [`keys`]: keys pressed anywhere; [`element`]: measuring and focusing;
//!   [`appearance`]: the theme.
//! - [`rescue`]: what happens when the page itself breaks down.

pub mod appearance;
pub mod clipboard;
pub mod clock;
pub mod element;
pub mod files;
pub mod keys;
pub mod location;
pub mod rescue;
pub mod storage;
pub mod timers;
pub mod worker_link;
pub mod worker_loop;

use wasm_bindgen::JsCast;
use web_sys::DedicatedWorkerGlobalScope;

/// The scope of the worker, if this is one; `None` on the page.
pub fn worker_scope() -> Option<DedicatedWorkerGlobalScope> {
    js_sys::global().dyn_into().ok()
}

/// Lets a future run; the page waits for nothing.
pub fn spawn(future: impl Future<Output = ()> + 'static) {
    wasm_bindgen_futures::spawn_local(future);
}

/// Brings the first field that is marked as wrong before the person, once it is marked.
pub fn show_fault(form: &'static str) {
    timers::next_frame(move || {
        let document = web_sys::window().and_then(|window| window.document());
        let form = document.and_then(|document| document.get_element_by_id(form));
        if let Some(form) = form {
            element::focus_first_fault(&form);
        }
    });
}

/// A random whole number below 2^53, so that every JSON reader keeps it.
pub fn random_number() -> u64 {
    // Lossless: a float below 2^53 without fraction.
    (js_sys::Math::random() * 9_007_199_254_740_992.0) as u64
}
