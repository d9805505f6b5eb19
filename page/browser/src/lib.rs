//! Browser effects. Only this crate touches web-sys, js-sys or `spawn_local`.
//!
//! - [`worker_client`]: the page's end of a worker; [`worker_port`]: the worker's end; [`transferable`]: a message
//!   between them; [`isolation`]: code that may panic.
//! - [`lazy`]: parts of the page that are loaded on demand.
//! - [`clock`]: the clock of environments; [`timers`]: delays, animation frames.
//! - [`location`]: the hash; [`files`]: save, pick, drop, download; [`clipboard`]; [`storage`]: small values
//!   stored between visits; [`keys`]: key presses anywhere; [`first_interaction`]; [`printer`]; [`full_screen`]; [`element`]:
//!   measuring and focusing; [`open_menu`]: what closes a menu; [`text_selection`]: marking and selecting text; [`appearance`]: the theme.
//! - [`database`]: IndexedDB; [`storage_quota`]: its size; [`broadcast`]: messages to other tabs; [`web_lock`]:
//!   what only one tab may hold at a time. [`shared`]: values shared by all tabs.
//! - [`http`]: requests to models and servers; [`event_source`]: events of the page's own server; [`network`]: what the browser knows about the network.
//! - [`language_model`]: the model built into the browser.
//! - [`page_tools`]: tools of the page for agents in the browser.
//! - [`parent_window`]: messages to and from the page around a frame.
//! - [`code_editor`]: the code editor, CodeMirror; [`python_frame`]: the sandboxed frame in which Python runs;
//!   [`python_port`]: requests to it.
//! - [`crash_recovery`]: saves the episode when the page panics.

pub mod appearance;
pub mod broadcast;
pub mod clipboard;
pub mod clock;
pub mod code_editor;
pub mod crash_recovery;
pub mod database;
pub mod element;
pub mod event_source;
pub mod files;
pub mod first_interaction;
pub mod full_screen;
pub mod http;
pub mod isolation;
mod js_error;
mod js_member;
pub mod kept_text;
pub mod keys;
pub mod language_model;
pub mod lazy;
pub mod location;
pub mod network;
pub mod offline;
pub mod open_menu;
pub mod page_tools;
pub mod parent_window;
pub mod printer;
mod python_files;
pub mod python_frame;
pub mod python_port;
pub mod shared;
pub mod storage;
pub mod storage_quota;
pub mod text_selection;
pub mod timers;
pub mod transferable;
pub mod web_lock;
pub mod worker_client;
pub mod worker_port;

use std::pin::Pin;

use volary_core::json::Text;

/// Spawns a future.
pub fn spawn(future: impl Future<Output = ()> + 'static) {
    // Boxed, so that the executor is compiled once, not once for each future.
    let future: Pin<Box<dyn Future<Output = ()>>> = Box::pin(future);
    wasm_bindgen_futures::spawn_local(future);
}

/// Scrolls to the first field marked as invalid, once it is marked.
pub fn show_fault(form: &'static str) {
    timers::next_frame(move || {
        let document = web_sys::window().and_then(|window| window.document());
        let form = document.and_then(|document| document.get_element_by_id(form));
        if let Some(form) = form {
            element::focus_first_fault(&form);
        }
    });
}

/// A random integer below 2^53, which every JSON reader represents exactly.
pub fn random_number() -> u64 {
    // Lossless: a float below 2^53 without fraction.
    (js_sys::Math::random() * 9_007_199_254_740_992.0) as u64
}

/// A random id of 13 hexadecimal digits, for an episode or a note.
pub fn random_id() -> Text {
    format!("{:013x}", random_number()).into()
}

/// A random text of 32 hexadecimal digits that nobody can guess.
pub fn random_secret() -> String {
    let mut bytes = [0; 16];
    let crypto = web_sys::window().and_then(|window| window.crypto().ok());
    // Every browser with WebAssembly has it, on insecure pages too.
    if let Some(crypto) = crypto {
        let _ = crypto.get_random_values_with_u8_array(&mut bytes);
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number of processors that the browser reports.
pub fn processors() -> usize {
    let count = web_sys::window().map(|window| window.navigator().hardware_concurrency());
    // A small integer.
    count.map_or(1, |count| count as usize)
}
