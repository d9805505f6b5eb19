//! The page's end of a worker: starts it, sends requests, and routes each reply to its call.
//!
//! The worker runs the same wasm as the page: `start.js` starts it with the page's compiled module, so nothing is
//! fetched or compiled twice.
//!
//! Invariants: each reply is decoded once, and only by the call with its request id ([`Calls`]). When the worker
//! is lost, every open call receives [`WorkerLoss`] and ends.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use volary_protocol::envelope::{Delivery, decode_delivery};
use volary_protocol::{Calls, Request, RequestId, WorkerLoss, WorkerPart, decode_event, encode};
use wasm_bindgen::prelude::*;
use web_sys::{Event, MessageEvent, MessagePort, Worker};

use super::js_error::text_of;
use super::transferable::{Attachment, Letter};
use super::worker_port::UNLOADED;

#[wasm_bindgen]
extern "C" {
    /// Defined in `start.js`.
    #[wasm_bindgen(catch, js_name = startWorker)]
    fn start_worker(part: &str) -> Result<Worker, JsValue>;
}

/// A worker. Dropping it terminates the worker at once; open calls then end without another reply.
pub struct WorkerClient {
    worker: Worker,
    calls: Rc<RefCell<Calls<Letter>>>,
    has_python_port: Cell<bool>,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(Event)>,
}

/// A reply to a call.
#[derive(Debug)]
pub struct Reply<E> {
    pub event: E,
    /// The browser objects sent with it.
    pub attachments: Vec<Attachment>,
}

/// The replies to a call, until the worker has completed it. Dropping them abandons the call: the worker may
/// continue, but its replies are ignored.
pub struct Replies<E> {
    id: RequestId,
    calls: Rc<RefCell<Calls<Letter>>>,
    event: PhantomData<fn() -> E>,
}

impl WorkerClient {
    /// Starts a worker. Fails only in a browser without workers.
    pub fn start(part: WorkerPart) -> Result<WorkerClient, String> {
        WorkerClient::try_start(part).map_err(|error| text_of(&error))
    }

    fn try_start(part: WorkerPart) -> Result<WorkerClient, JsValue> {
        let calls = Rc::new(RefCell::new(Calls::default()));
        let worker = start_worker(part.name())?;
        let on_message = {
            let calls = Rc::clone(&calls);
            Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
                let data = event.data();
                if data.as_string().is_some_and(|text| text == UNLOADED) {
                    lose(&calls, WorkerLoss::Unloaded);
                } else if let Some(letter) = Letter::from_js(data) {
                    deliver(&calls, letter);
                }
            })
        };
        let on_error = {
            let calls = Rc::clone(&calls);
            Closure::<dyn Fn(Event)>::new(move |event: Event| {
                event.prevent_default();
                // An event without a message says that the worker's script could not be loaded.
                let message = js_sys::Reflect::get(&event, &"message".into());
                let message = message.ok().and_then(|message| message.as_string());
                lose(
                    &calls,
                    match message {
                        Some(message) => WorkerLoss::Crashed {
                            message: message.into(),
                        },
                        None => WorkerLoss::Unloaded,
                    },
                );
            })
        };
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(WorkerClient {
            worker,
            calls,
            has_python_port: Cell::new(false),
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Sends a request. Replies arrive until the worker has completed it.
    pub fn call<R: Request>(&self, request: &R) -> Replies<R::Event> {
        self.call_with(request, Vec::new())
    }

    /// Like [`WorkerClient::call`], with attachments.
    pub fn call_with<R: Request>(
        &self,
        request: &R,
        attachments: Vec<Attachment>,
    ) -> Replies<R::Event> {
        let id = self.calls.borrow_mut().begin();
        // Messages to a worker that is starting are queued.
        let letter = Letter {
            bytes: encode(id, request),
            attachments,
        };
        letter.post(&self.worker);
        Replies {
            id,
            calls: Rc::clone(&self.calls),
            event: PhantomData,
        }
    }

    /// Transfers a port to Python to the worker, once. Early messages, including this one, are queued in the worker.
    pub fn give_python_port(&self, make: impl FnOnce() -> Option<MessagePort>) {
        if self.has_python_port.get() {
            return;
        }
        if let Some(port) = make() {
            self.has_python_port.set(true);
            // A port can always be transferred.
            let _ = self
                .worker
                .post_message_with_transfer(&port, &js_sys::Array::of1(&port));
        }
    }

    /// Terminates the worker. Open calls end with the reason.
    pub fn end(self, reason: &str) {
        let message = reason.into();
        let loss = WorkerLoss::Crashed { message };
        let wakers = self.calls.borrow_mut().close(Some(loss));
        drop(self);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether the worker was lost, so that no replies follow.
    pub fn is_lost(&self) -> bool {
        self.calls.borrow().is_lost()
    }
}

impl Drop for WorkerClient {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
        let wakers = self.calls.borrow_mut().close(None);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Routes a letter of the worker to its call.
fn deliver(calls: &RefCell<Calls<Letter>>, mut letter: Letter) {
    let delivery = decode_delivery(&letter.bytes).map(|(delivery, rest)| (delivery, rest.len()));
    let waker = match delivery {
        Ok((Delivery::Event { id }, length)) => {
            letter.bytes.drain(..letter.bytes.len() - length);
            calls.borrow_mut().deliver(id, letter)
        }
        Ok((Delivery::End { id }, _)) => calls.borrow_mut().end(id),
        Ok((Delivery::Panicked { message }, _)) => {
            let message = message.into();
            return lose(calls, WorkerLoss::Crashed { message });
        }
        Err(error) => return lose(calls, error.into()),
    };
    waker.into_iter().for_each(Waker::wake);
}

fn lose(calls: &RefCell<Calls<Letter>>, loss: WorkerLoss) {
    let wakers = calls.borrow_mut().lose(loss);
    wakers.into_iter().for_each(Waker::wake);
}

impl<E> Replies<E> {
    /// The id of the call.
    pub fn id(&self) -> RequestId {
        self.id
    }
}

impl<E: serde::de::DeserializeOwned> Stream for Replies<E> {
    type Item = Result<Reply<E>, WorkerLoss>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let letter = self.calls.borrow_mut().poll(self.id, context);
        letter.map(|letter| {
            letter.map(|letter| {
                let Letter { bytes, attachments } = letter?;
                let event = decode_event(&bytes)?;
                Ok(Reply { event, attachments })
            })
        })
    }
}

impl<E> Drop for Replies<E> {
    fn drop(&mut self) {
        self.calls.borrow_mut().give_up(self.id);
    }
}
