//! The sandboxed frame in which Python runs (`public/python/`): its port and its events.
//!
//! Invariants: the frame has an opaque origin and a policy that names no address, so the page fetches the files
//! ([`python_files`]) and transfers them as bytes. Messages of the frame are untrusted, like the responses of an unknown
//! server. Each source of code has its own worker in the frame.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Object;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlElement, HtmlIFrameElement, MessageChannel, MessageEvent, MessagePort};

use super::python_files::{self, PythonFiles, SandboxDocument};
use super::python_port::{PortAnswer, answer, get, number, set};

#[derive(Clone, Debug, PartialEq)]
pub enum FrameEvent {
    /// A chunk of the files was fetched.
    Fetched {
        /// The bytes fetched so far.
        bytes: f64,
        /// The bytes of all files.
        total: f64,
    },
    /// The stage of the worker's start.
    Stage(String),
    /// Python accepts questions.
    Ready,
    /// A worker received the question of this number.
    Received(u32),
    /// The answer to a question with the printed output, or an error.
    Answer(u32, PortAnswer),
    /// The worker of a source crashed.
    Ended { source: String, reason: String },
    /// Python could not be started.
    Failed(String),
}

type Handler = Rc<dyn Fn(FrameEvent)>;

/// A frame. Dropping it removes it from the page, which ends its workers.
pub struct PythonFrame {
    state: Rc<RefCell<PythonFrameState>>,
}

#[derive(Default)]
struct PythonFrameState {
    frame: Option<HtmlIFrameElement>,
    port: Option<MessagePort>,
    /// Messages that are queued until the port exists.
    waiting: Vec<JsValue>,
    listener: Option<Closure<dyn Fn(MessageEvent)>>,
    greeting: Option<Closure<dyn Fn(MessageEvent)>>,
    /// Whether the frame was dropped while its files were being fetched.
    is_dropped: bool,
}

impl PythonFrame {
    /// Fetches the files and starts the frame. `memory` limits a worker, in MB.
    pub fn start(memory: u32, handle: impl Fn(FrameEvent) + 'static) -> PythonFrame {
        let handle: Handler = Rc::new(handle);
        let state = Rc::new(RefCell::new(PythonFrameState::default()));
        let started = Rc::clone(&state);
        super::spawn(async move {
            if let Err(error) = start(&started, memory, &handle).await {
                let reason = super::js_error::text_of(&error);
                handle(FrameEvent::Failed(format!(
                    "Python could not be loaded: {reason}"
                )));
            }
        });
        PythonFrame { state }
    }

    /// Sends a question to the worker of a source, which is started if there is none. [`FrameEvent::Answer`] with the
    /// same number answers it.
    pub fn ask(&self, id: u32, source: &str, question: &str) {
        let message = Object::new();
        set(&message, "id", &id.into());
        set(&message, "source", &source.into());
        set(&message, "question", &question.into());
        self.post(message.into());
    }

    /// Terminates the worker of a source, even within a loop.
    pub fn end(&self, source: &str) {
        let message = Object::new();
        set(&message, "end", &source.into());
        self.post(message.into());
    }

    fn post(&self, message: JsValue) {
        let mut state = self.state.borrow_mut();
        match &state.port {
            Some(port) => {
                // Strings and numbers can always be cloned.
                let _ = port.post_message(&message);
            }
            None => state.waiting.push(message),
        }
    }
}

impl Drop for PythonFrame {
    fn drop(&mut self) {
        let mut state = self.state.borrow_mut();
        state.is_dropped = true;
        if let Some(port) = state.port.take() {
            port.set_onmessage(None);
            port.close();
        }
        if let Some(frame) = state.frame.take() {
            frame.remove();
        }
        let window = web_sys::window();
        if let (Some(window), Some(greeting)) = (window, state.greeting.take()) {
            let greeting = greeting.as_ref().unchecked_ref();
            let _ = window.remove_event_listener_with_callback("message", greeting);
        }
    }
}

async fn start(
    state: &Rc<RefCell<PythonFrameState>>,
    memory: u32,
    handle: &Handler,
) -> Result<(), JsValue> {
    let files =
        python_files::load(|bytes, total| handle(FrameEvent::Fetched { bytes, total })).await?;
    if state.borrow().is_dropped {
        return Ok(());
    }
    set(&files.message, "memory", &memory.into());
    open(state, files, handle)
}

/// Adds the frame to the page. It receives its files once its relay reports that it is ready.
fn open(
    state: &Rc<RefCell<PythonFrameState>>,
    files: PythonFiles,
    handle: &Handler,
) -> Result<(), JsValue> {
    let window = web_sys::window().ok_or("no window")?;
    let document = window.document().ok_or("no document")?;
    let frame: HtmlIFrameElement = document.create_element("iframe")?.unchecked_into();
    match &files.document {
        SandboxDocument::Network(path) => {
            // Never `allow-same-origin`: the frame would share the page's storage and keys.
            frame.set_attribute("sandbox", "allow-scripts")?;
            frame.set_src(path);
        }
        SandboxDocument::Store(path) => frame.set_src(path),
    }
    frame.set_attribute("title", "Python")?;
    frame.set_attribute("aria-hidden", "true")?;
    frame.set_attribute("tabindex", "-1")?;
    frame
        .unchecked_ref::<HtmlElement>()
        .set_attribute("hidden", "")?;
    let channel = MessageChannel::new()?;
    let handle = Rc::clone(handle);
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        if let Some(event) = read(&event.data()) {
            handle(event);
        }
    });
    let port = channel.port1();
    port.set_onmessage(Some(listener.as_ref().unchecked_ref()));

    let given = channel.port2();
    let PythonFiles {
        message,
        transferred,
        ..
    } = files;
    transferred.push(&given);
    let inner = frame.clone();
    let greeting = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let window = inner.content_window();
        let is_ours = match (&window, event.source()) {
            (Some(window), Some(source)) => js_sys::Object::is(window.as_ref(), source.as_ref()),
            _ => false,
        };
        // A document that is not sandboxed, for whatever reason, would share the page's origin: it gets nothing to run.
        let is_opaque = event.origin() == "null";
        // The relay accepts only the first message with a port, and the port can be transferred only once.
        if let Some(window) = window.filter(|_| is_ours && is_opaque && event.data() == "ready") {
            // The frame's origin is opaque, so no other target can be named.
            let _ = window.post_message_with_transfer(&message, "*", &transferred);
        }
    });
    window.add_event_listener_with_callback("message", greeting.as_ref().unchecked_ref())?;
    document.body().ok_or("no body")?.append_child(&frame)?;

    let mut state = state.borrow_mut();
    for message in state.waiting.drain(..) {
        // The port queues it until the relay listens.
        port.post_message(&message)?;
    }
    state.port = Some(port);
    state.frame = Some(frame);
    state.listener = Some(listener);
    state.greeting = Some(greeting);
    Ok(())
}

/// Decodes a message of the relay; `None` for anything else.
fn read(data: &JsValue) -> Option<FrameEvent> {
    let text = |key: &str| get(data, key).and_then(|value| value.as_string());
    if let Some(id) = number(data, "id") {
        return Some(FrameEvent::Answer(id, answer(data)));
    }
    if get(data, "ready").is_some_and(|ready| ready.is_truthy()) {
        return Some(FrameEvent::Ready);
    }
    if let Some(id) = number(data, "received") {
        return Some(FrameEvent::Received(id));
    }
    if let (Some(source), Some(reason)) = (text("ended"), text("reason")) {
        return Some(FrameEvent::Ended { source, reason });
    }
    if let Some(reason) = text("failed") {
        return Some(FrameEvent::Failed(reason));
    }
    text("stage").map(FrameEvent::Stage)
}
