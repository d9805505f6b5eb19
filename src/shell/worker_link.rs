//! The page's end of a worker: starts it, posts to it, hears what it says and when it is lost.
//!
//! The worker runs the same wasm as the page. `start.js` waits there for a first message with the
//! address of the glue and the compiled module, so nothing is fetched or compiled twice.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, HtmlLinkElement, MessageEvent, Worker, WorkerOptions, WorkerType};

/// The worker's first word: from now on it listens.
pub(super) const READY: &str = "ready";

/// What the page hears of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It said something, in the words of `protocol`.
    Said(String),
    /// It broke down and is of no more use.
    Lost {
        /// What is known of it.
        message: String,
    },
}

/// What is posted before the worker listens waits here.
enum Mail {
    Waiting(Vec<JsValue>),
    Open,
}

/// A worker. Dropping it ends the worker at once, whatever it is doing.
pub struct WorkerLink {
    worker: Worker,
    mail: Rc<RefCell<Mail>>,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(ErrorEvent)>,
}

impl WorkerLink {
    /// Starts a worker. Fails only where the browser has no workers or the page was cut up.
    pub fn start(report: impl Fn(Report) + 'static) -> Result<WorkerLink, String> {
        WorkerLink::try_start(Rc::new(report)).map_err(|error| text_of(&error))
    }

    fn try_start(report: Rc<dyn Fn(Report)>) -> Result<WorkerLink, JsValue> {
        let document = web_sys::window()
            .and_then(|window| window.document())
            .ok_or("There is no document.")?;
        let script = document
            .query_selector("script[type=module]")?
            .ok_or("The page lacks its starter.")?;
        let starter = js_sys::Reflect::get(&script, &"src".into())?;
        let glue = document
            .query_selector("link[rel=modulepreload]")?
            .ok_or("The page lacks its glue.")?
            .dyn_into::<HtmlLinkElement>()?
            .href();

        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let address = starter.as_string().ok_or("The starter has no address.")?;
        let worker = Worker::new_with_options(&address, &options)?;
        let mail = Rc::new(RefCell::new(Mail::Waiting(Vec::new())));

        let on_message = {
            let (worker, mail, report) = (worker.clone(), Rc::clone(&mail), Rc::clone(&report));
            Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
                let Some(text) = event.data().as_string() else {
                    return;
                };
                if text == READY {
                    if let Mail::Waiting(letters) = mail.replace(Mail::Open) {
                        letters.iter().for_each(|letter| post(&worker, letter));
                    }
                } else {
                    report(Report::Said(text));
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
        worker.post_message(&Array::of2(&glue.into(), &wasm_bindgen::module()))?;
        Ok(WorkerLink {
            worker,
            mail,
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Posts a command, in the words of `protocol`.
    pub fn post(&self, text: &str) {
        self.send(text.into());
    }

    /// Posts files to be read, each with its name.
    pub fn post_files(&self, files: &[(String, Vec<u8>)]) {
        let letter = Array::new();
        for (name, bytes) in files {
            letter.push(&Array::of2(&name.into(), &Uint8Array::from(&bytes[..])));
        }
        self.send(letter.into());
    }

    fn send(&self, letter: JsValue) {
        match &mut *self.mail.borrow_mut() {
            Mail::Waiting(letters) => letters.push(letter),
            Mail::Open => post(&self.worker, &letter),
        }
    }
}

impl Drop for WorkerLink {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

fn post(worker: &Worker, letter: &JsValue) {
    // Texts and byte arrays can always be cloned into the worker.
    let _ = worker.post_message(letter);
}

/// The words of whatever JavaScript threw.
pub(super) fn text_of(error: &JsValue) -> String {
    error
        .as_string()
        .or_else(|| {
            error
                .dyn_ref::<js_sys::Error>()
                .map(|error| String::from(error.message()))
        })
        .unwrap_or_else(|| "The browser did not say why.".to_owned())
}
