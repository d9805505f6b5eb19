//! The port through which questions reach Python: the worker's end, and the page's end.
//!
//! A question is `{id, source, loads, question, limit}`, its answer `{id, answer, output}` or `{id, error}`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Function, Object, Promise, Reflect};
use volary_app::python::hub::PythonQuestion;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
pub use web_sys::MessagePort;
use web_sys::{MessageChannel, MessageEvent};

/// The answer to a question with the printed output, or an error.
pub type PortAnswer = Result<(String, String), String>;

/// The worker's end of the port.
struct Asking {
    port: MessagePort,
    last: u32,
    open: Rc<RefCell<BTreeMap<u32, Function>>>,
}

thread_local! {
    static ASKING: RefCell<Option<Asking>> = const { RefCell::new(None) };
}

/// Accepts the port that the page transferred to this worker.
pub(super) fn accept(port: MessagePort) {
    let open: Rc<RefCell<BTreeMap<u32, Function>>> = Rc::default();
    let waiting = Rc::clone(&open);
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let data = event.data();
        let id = number(&data, "id");
        let resolve = id.and_then(|id| waiting.borrow_mut().remove(&id));
        if let Some(resolve) = resolve {
            // The promise's own function accepts any value.
            let _ = resolve.call1(&JsValue::UNDEFINED, &data);
        }
    });
    port.set_onmessage(Some(listener.as_ref().unchecked_ref()));
    // It listens as long as the worker lives.
    listener.forget();
    ASKING.set(Some(Asking {
        port,
        last: 0,
        open,
    }));
}

/// Sends a question to Python. `limit` is the timeout in seconds.
pub async fn ask(question: &PythonQuestion, limit: f64) -> PortAnswer {
    let promise = ASKING.with_borrow_mut(|asking| {
        let asking = asking.as_mut()?;
        asking.last = asking.last.wrapping_add(1);
        let id = asking.last;
        let open = Rc::clone(&asking.open);
        let promise = Promise::new(&mut |resolve, _| {
            open.borrow_mut().insert(id, resolve);
        });
        let message = Object::new();
        set(&message, "id", &id.into());
        set(&message, "source", &question.source.as_str().into());
        set(&message, "loads", &question.loads.into());
        set(&message, "question", &question.text.as_str().into());
        set(&message, "limit", &limit.into());
        // Strings and numbers can always be cloned.
        let _ = asking.port.post_message(&message);
        Some(promise)
    });
    let promise = promise.ok_or("Python is not available here.")?;
    match JsFuture::from(promise).await {
        Ok(data) => answer(&data),
        Err(_) => Err("Python did not respond.".to_owned()),
    }
}

/// The page's end of a port.
pub struct QuestionPort {
    port: MessagePort,
    _listener: Closure<dyn Fn(MessageEvent)>,
}

impl QuestionPort {
    /// Opens a channel. Returns its two ends, the second of which is for a worker. `handle` is called with each
    /// question, its number and its timeout in seconds.
    pub fn open(
        handle: impl Fn(u32, PythonQuestion, f64) + 'static,
    ) -> Result<(QuestionPort, MessagePort), String> {
        let channel = MessageChannel::new().map_err(|error| super::js_error::text_of(&error))?;
        let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let data = event.data();
            let limit = get(&data, "limit").and_then(|limit| limit.as_f64());
            if let (Some(id), Some(question), Some(limit)) =
                (number(&data, "id"), question(&data), limit)
            {
                handle(id, question, limit);
            }
        });
        let port = channel.port1();
        port.set_onmessage(Some(listener.as_ref().unchecked_ref()));
        let end = QuestionPort {
            port,
            _listener: listener,
        };
        Ok((end, channel.port2()))
    }

    /// Replies to a question.
    pub fn reply(&self, number: u32, answer: &PortAnswer) {
        let message = Object::new();
        set(&message, "id", &number.into());
        match answer {
            Ok((text, output)) => {
                set(&message, "answer", &text.into());
                set(&message, "output", &output.into());
            }
            Err(error) => set(&message, "error", &error.into()),
        }
        let _ = self.port.post_message(&message);
    }
}

/// Decodes the question in a message.
fn question(data: &JsValue) -> Option<PythonQuestion> {
    let text = |key: &str| get(data, key)?.as_string();
    Some(PythonQuestion {
        source: text("source")?,
        loads: get(data, "loads")?.as_bool()?,
        text: text("question")?,
    })
}

/// Decodes the answer in a message.
pub(super) fn answer(data: &JsValue) -> PortAnswer {
    let text = |key: &str| get(data, key).and_then(|value| value.as_string());
    match (text("answer"), text("output")) {
        (Some(answer), Some(output)) => Ok((answer, output)),
        _ => Err(text("error").unwrap_or_else(|| "Python did not respond.".to_owned())),
    }
}

/// Decodes a number that the page assigned.
pub(super) fn number(data: &JsValue, key: &str) -> Option<u32> {
    let number = get(data, key)?.as_f64()?;
    // The page's own numbers are integers below 2^32.
    Some(number as u32)
}

pub(super) fn get(data: &JsValue, key: &str) -> Option<JsValue> {
    Reflect::get(data, &key.into()).ok()
}

pub(super) fn set(object: &Object, key: &str, value: &JsValue) {
    // A plain object accepts every key.
    let _ = Reflect::set(object, &key.into(), value);
}
