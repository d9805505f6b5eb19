//! The page's end of a worker: starts it, posts to it, hears what it says and when it is lost.
//!
//! The worker runs the same wasm as the page. `start.js` starts it, with the compiled module of the page, so nothing
//! is fetched or compiled twice; at an address of Review it starts one before the page is there.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, ErrorEvent, MessageEvent, Worker};

use super::database::Parcel;
use super::files::GivenFile;
use super::worker_client::text_of;
use super::worker_letter;

#[wasm_bindgen]
extern "C" {
    /// Of `start.js`.
    #[wasm_bindgen(catch, js_name = startWorker)]
    fn start_worker() -> Result<Worker, JsValue>;
}

use super::worker_port::UNLOADED;

/// What the page hears of a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// It said something, in the words of `protocol`.
    Said(String),
    /// It handed over texts that are to be kept.
    Handed {
        /// Says what they are.
        head: String,
        /// The texts.
        parcel: Parcel,
    },
    /// It made a file that was asked for.
    Made {
        /// Its name.
        name: String,
        /// What it holds.
        file: Blob,
    },
    /// Its code could not be loaded; it is of no more use.
    Unloaded,
    /// It broke down and is of no more use.
    Lost {
        /// What is known of it.
        message: String,
    },
}

/// Who hears a worker.
type Ear = Rc<RefCell<Rc<dyn Fn(Report)>>>;

/// A worker. Dropping it ends the worker at once, whatever it is doing.
pub struct WorkerLink {
    worker: Worker,
    ear: Ear,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(ErrorEvent)>,
}

impl WorkerLink {
    /// Starts a worker. Fails only where the browser has no workers or the page was cut up.
    pub fn start(report: impl Fn(Report) + 'static) -> Result<WorkerLink, String> {
        let ear: Ear = Rc::new(RefCell::new(Rc::new(report)));
        WorkerLink::try_start(ear).map_err(|error| text_of(&error))
    }

    /// From now on somebody else hears it.
    pub fn set_report(&self, report: impl Fn(Report) + 'static) {
        self.ear.replace(Rc::new(report));
    }

    fn try_start(ear: Ear) -> Result<WorkerLink, JsValue> {
        let report = {
            let ear = Rc::clone(&ear);
            move |report: Report| {
                // Whoever hears it may put another in its place.
                let hear = Rc::clone(&ear.borrow());
                hear(report);
            }
        };
        let report = Rc::new(report);
        let worker = start_worker()?;

        let on_message = {
            let report = Rc::clone(&report);
            Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
                let Some(text) = worker_letter::read(event.data()) else {
                    if let Ok(letter) = event.data().dyn_into::<Array>() {
                        if let Ok(file) = letter.get(1).dyn_into::<Blob>() {
                            let name = letter.get(0).as_string().unwrap_or_default();
                            return report(Report::Made { name, file });
                        }
                        let head = letter.get(0).as_string();
                        if let Some((head, parcel)) = head.zip(Parcel::from_js(letter.get(1))) {
                            report(Report::Handed { head, parcel });
                        }
                    }
                    return;
                };
                match text == UNLOADED {
                    true => report(Report::Unloaded),
                    false => report(Report::Said(text)),
                }
            })
        };
        let on_error = Closure::<dyn Fn(ErrorEvent)>::new(move |event: ErrorEvent| {
            event.prevent_default();
            report(Report::Lost {
                message: event.message(),
            });
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(WorkerLink {
            worker,
            ear,
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Posts a command, in the words of `protocol`.
    pub fn post(&self, text: &str) {
        self.send(text.into());
    }

    /// Hands files over to be read by the worker, under a number, as what they are.
    pub fn hand_files(&self, number: u32, origin: &str, files: &[GivenFile]) {
        let letter = Array::of2(&number.into(), &origin.into());
        for file in files {
            letter.push(&file.name.as_str().into());
            letter.push(file.as_js());
        }
        self.send(letter.into());
    }

    fn send(&self, letter: JsValue) {
        // Texts, byte arrays and files can always be cloned into the worker; there they wait until it listens.
        let _ = self.worker.post_message(&letter);
    }
}

impl Drop for WorkerLink {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}
