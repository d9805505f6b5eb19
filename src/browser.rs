//! The one door for effects: all that touches the browser stands here, and nowhere else.
//!
//! - [`worker_client`]: the page's end of a worker; [`worker_port`]: the worker's own end; [`transferable`]: a message
//!   between them.
//! - [`lazy`]: parts of the page that are loaded when they are asked for.
//! - [`clock`]: time as environments see it; [`timers`]: waiting, animation frames.
//! - [`location`]: the hash; [`files`]: download, pick, drop; [`clipboard`]; [`storage`]: what is kept
//!   between visits; [`keys`]: keys pressed anywhere; [`presence`]: the first sign of a person; [`printer`]; [`element`]: measuring and focusing;
//!   [`passages`]: of texts, marked and selected;
//!   [`appearance`]: the theme.
//! - [`database`]: the database of the browser; [`room`]: how much fits into it; [`broadcast`]: words to other
//!   tabs.
//! - [`claim`]: what only one tab may have at a time.
//! - [`http`]: requests to models and servers; [`network`]: what the browser says of networks.
//! - [`code_editor`]: the editor of code, CodeMirror.
//! - [`python_frame`]: the sandboxed frame in which Python runs; [`python_port`]: questions to it.
//! - [`rescue`]: what happens when the page itself breaks down.

pub mod appearance;
pub mod broadcast;
pub mod clipboard;
pub mod clock;
pub mod code_editor;
pub mod crash_recovery;
pub mod database;
pub mod element;
pub mod files;
pub mod first_interaction;
pub mod http;
pub mod keys;
pub mod lazy;
pub mod location;
pub mod network;
pub mod printer;
pub mod python_frame;
pub mod python_port;
pub mod storage;
pub mod storage_quota;
pub mod text_selection;
pub mod timers;
pub mod transferable;
pub mod web_lock;
pub mod worker_client;
pub mod worker_port;

use std::pin::Pin;

/// Lets a future run; the page waits for nothing.
pub fn spawn(future: impl Future<Output = ()> + 'static) {
    // Boxed, so that the machinery of futures is there once, not once for each.
    let future: Pin<Box<dyn Future<Output = ()>>> = Box::pin(future);
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

/// How many processors the browser says there are.
pub fn processors() -> usize {
    let count = web_sys::window().map(|window| window.navigator().hardware_concurrency());
    // Whole numbers, small ones.
    count.map_or(1, |count| count as usize)
}
