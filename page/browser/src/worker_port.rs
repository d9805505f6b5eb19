//! The worker's end of the connection to the page.

use std::cell::RefCell;

use js_sys::Array;
use volary_protocol::WorkerPart;
use volary_protocol::envelope::{Delivery, encode_delivery};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent, MessagePort};

use super::isolation;
use super::python_port;
use super::transferable::Letter;

/// Posted by a worker whose lazy code could not be loaded. The only message that is a string, besides `begun` of
/// `start.js`, which nothing here waits for.
pub(super) const UNLOADED: &str = "unloaded";

/// The connection to the page.
#[derive(Clone)]
pub struct WorkerPort(DedicatedWorkerGlobalScope);

impl WorkerPort {
    /// The port of this thread, if it is a worker; `None` on the page.
    pub fn of_this_worker() -> Option<WorkerPort> {
        js_sys::global().dyn_into().ok().map(WorkerPort)
    }

    /// What the page started this worker for; `None` if it does not say so in a way that is known here.
    pub fn part(&self) -> Option<WorkerPart> {
        // `start.js` keeps what the page sent with the code.
        let name = js_sys::Reflect::get(&self.0, &"part".into()).ok()?;
        WorkerPart::of_name(&name.as_string()?)
    }

    /// Posts a letter to the page.
    pub fn post(&self, letter: Letter) {
        letter.post(&self.0);
    }

    /// Reports that this worker is useless, because its code could not be loaded.
    pub fn post_unloaded(&self) {
        // A string can always be cloned.
        let _ = self.0.post_message(&UNLOADED.into());
    }

    /// Passes letters from the page to `handle`, first those that arrived while the code was loading.
    pub fn listen(&self, handle: impl Fn(Letter) + 'static) {
        let handle = move |data: JsValue| match data.dyn_into::<MessagePort>() {
            Ok(port) => python_port::accept(port),
            Err(data) => {
                if let Some(letter) = Letter::from_js(data) {
                    handle(letter);
                }
            }
        };
        // `start.js` queues early messages as `letters`.
        let early = js_sys::Reflect::get(&self.0, &"letters".into());
        for letters in early.iter().filter_map(|early| early.dyn_ref::<Array>()) {
            letters.iter().for_each(&handle);
        }
        let listener =
            Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| handle(event.data()));
        self.0
            .set_onmessage(Some(listener.as_ref().unchecked_ref()));
        // It listens as long as the worker lives.
        listener.forget();
    }

    /// Reports a panic to the page before the worker ends, unless its code is isolated.
    pub fn report_panics(&self) {
        thread_local! {
            static PORT: RefCell<Option<WorkerPort>> = const { RefCell::new(None) };
        }
        PORT.set(Some(self.clone()));
        std::panic::set_hook(Box::new(|info| {
            let message = info.to_string();
            if isolation::takes(&message) {
                return;
            }
            let bytes = encode_delivery(&Delivery::Panicked { message });
            PORT.with_borrow(|port| {
                if let Some(port) = port {
                    port.post(Letter {
                        bytes,
                        attachments: Vec::new(),
                    });
                }
            });
        }));
    }
}
