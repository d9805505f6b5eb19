//! The worker's own end: runs environments and reads files, one command after the other.
//!
//! A panic or an endless loop in here costs this worker, not the page: the page hears of the
//! first, ends the second, and starts another worker.

use std::cell::Cell;
use std::rc::Rc;

use volary_core::Clock;
use wasm_bindgen::prelude::*;
use web_sys::DedicatedWorkerGlobalScope;

use super::clock::BrowserClock;
use super::timers;
use super::worker_library;
use crate::library::indexed_db_store::IndexedDbStore;
use crate::library::librarian::Librarian;

pub(super) struct Host {
    pub(super) scope: DedicatedWorkerGlobalScope,
    pub(super) clock: Rc<dyn Clock>,
    pub(super) librarian: Librarian,
    /// Whether this worker hears what others keep.
    pub(super) listens: Cell<bool>,
}

/// Hears letters of the library and of evaluations, until they are typed.
pub fn hear(scope: DedicatedWorkerGlobalScope) -> impl Fn(JsValue) + 'static {
    let host = Rc::new(Host {
        scope,
        clock: Rc::new(BrowserClock),
        librarian: Librarian::new(
            IndexedDbStore,
            volary_envs::registry(),
            Rc::new(BrowserClock),
            timers::wall_clock,
        ),
        listens: Cell::new(false),
    });
    move |data: JsValue| {
        if let Some(task) = worker_library::task(&data) {
            Rc::clone(&host).shelve(task);
        }
    }
}
