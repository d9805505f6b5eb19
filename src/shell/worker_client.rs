//! The page's end of a worker: starts it, sends requests, and passes each reply to the call that it belongs to.
//!
//! The worker runs the same wasm as the page: `start.js` starts it with the page's compiled module, so nothing is
//! fetched or compiled twice.
//!
//! What always holds: a reply reaches only the call with its request id, so an answer to a call that was given up
//! reaches nobody. When the worker is lost, every open call receives [`WorkerLoss`] and ends.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use volary_core::json::Text;
use volary_protocol::envelope::{Delivery, decode_delivery};
use volary_protocol::{DecodeError, Request, RequestId, decode_event, encode};
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, MessagePort, Worker};

use super::lazy::Unloaded;
use super::transferable::{Attachment, Letter};
use super::worker_port::UNLOADED;

#[wasm_bindgen]
extern "C" {
    /// Of `start.js`.
    #[wasm_bindgen(catch, js_name = startWorker)]
    fn start_worker() -> Result<Worker, JsValue>;
}

/// Why a worker replies to nothing any more.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkerLoss {
    /// Its code could not be loaded.
    #[error("{}", Unloaded)]
    Unloaded,
    /// It panicked, or the browser ended it.
    #[error("{message}")]
    Crashed {
        /// What is known of it.
        message: Text,
    },
}

impl From<DecodeError> for WorkerLoss {
    fn from(error: DecodeError) -> Self {
        WorkerLoss::Crashed {
            message: error.to_string().into(),
        }
    }
}

/// A worker. Dropping it ends the worker at once, whatever it is doing; open calls then end.
pub struct WorkerClient {
    worker: Worker,
    calls: Rc<RefCell<Calls>>,
    has_python_port: Cell<bool>,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(ErrorEvent)>,
}

/// The calls that are open.
#[derive(Default)]
struct Calls {
    last: RequestId,
    open: BTreeMap<RequestId, Inbox>,
    loss: Option<WorkerLoss>,
}

/// What arrived for a call and was not taken yet.
#[derive(Default)]
struct Inbox {
    letters: VecDeque<Result<Letter, WorkerLoss>>,
    is_ended: bool,
    waker: Option<Waker>,
}

/// A reply to a call.
#[derive(Debug)]
pub struct Reply<E> {
    /// The event.
    pub event: E,
    /// What goes with it.
    pub attachments: Vec<Attachment>,
}

/// The replies to a call, until the worker has carried it out. Dropping them gives the call up: the worker may go on,
/// but nobody hears of it.
pub struct Replies<E> {
    id: RequestId,
    calls: Rc<RefCell<Calls>>,
    event: PhantomData<fn() -> E>,
}

impl WorkerClient {
    /// Starts a worker. Fails only where the browser has no workers.
    pub fn start() -> Result<WorkerClient, String> {
        WorkerClient::try_start().map_err(|error| text_of(&error))
    }

    fn try_start() -> Result<WorkerClient, JsValue> {
        let calls = Rc::new(RefCell::new(Calls::default()));
        let worker = start_worker()?;
        let on_message = {
            let calls = Rc::clone(&calls);
            Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
                let data = event.data();
                if data.as_string().is_some_and(|text| text == UNLOADED) {
                    Calls::lose(&calls, WorkerLoss::Unloaded);
                } else if let Some(letter) = Letter::from_js(data) {
                    Calls::deliver(&calls, letter);
                }
            })
        };
        let on_error = {
            let calls = Rc::clone(&calls);
            Closure::<dyn Fn(ErrorEvent)>::new(move |event: ErrorEvent| {
                event.prevent_default();
                let message = event.message().into();
                Calls::lose(&calls, WorkerLoss::Crashed { message });
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

    /// Sends a request. The replies arrive until the worker has carried it out.
    pub fn call<R: Request>(&self, request: &R) -> Replies<R::Event> {
        self.call_with(request, Vec::new())
    }

    /// Sends a request with attachments.
    pub fn call_with<R: Request>(
        &self,
        request: &R,
        attachments: Vec<Attachment>,
    ) -> Replies<R::Event> {
        let id = self.calls.borrow_mut().begin();
        // What is sent to a worker that is starting waits there.
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

    /// Gives the worker a port to Python, once. Early messages wait in the worker, this one too.
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

    /// Ends the worker at once. Open calls receive the reason.
    pub fn end(self, reason: &str) {
        let message = reason.into();
        Calls::lose(&self.calls, WorkerLoss::Crashed { message });
    }

    /// Whether the worker replies to nothing any more.
    pub fn is_lost(&self) -> bool {
        self.calls.borrow().loss.is_some()
    }
}

impl Drop for WorkerClient {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
        let mut calls = self.calls.borrow_mut();
        let wakers: Vec<Waker> = calls.open.values_mut().filter_map(Inbox::end).collect();
        drop(calls);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Calls {
    fn begin(&mut self) -> RequestId {
        self.last += 1;
        let mut inbox = Inbox::default();
        if let Some(loss) = &self.loss {
            inbox.letters.push_back(Err(loss.clone()));
            inbox.is_ended = true;
        }
        self.open.insert(self.last, inbox);
        self.last
    }

    fn deliver(calls: &RefCell<Calls>, letter: Letter) {
        let delivery =
            decode_delivery(&letter.bytes).map(|(delivery, rest)| (delivery, rest.len()));
        let waker = match delivery {
            Ok((Delivery::Event { id }, length)) => {
                let mut letter = letter;
                letter.bytes.drain(..letter.bytes.len() - length);
                calls.borrow_mut().open.get_mut(&id).and_then(|inbox| {
                    inbox.letters.push_back(Ok(letter));
                    inbox.waker.take()
                })
            }
            Ok((Delivery::End { id }, _)) => {
                let mut calls = calls.borrow_mut();
                calls.open.get_mut(&id).and_then(Inbox::end)
            }
            Ok((Delivery::Panicked { message }, _)) => {
                let message = message.into();
                return Calls::lose(calls, WorkerLoss::Crashed { message });
            }
            Err(error) => return Calls::lose(calls, error.into()),
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lose(calls: &RefCell<Calls>, loss: WorkerLoss) {
        let wakers: Vec<Waker> = {
            let mut calls = calls.borrow_mut();
            if calls.loss.is_some() {
                return;
            }
            calls.loss = Some(loss.clone());
            let inboxes = calls.open.values_mut().filter(|inbox| !inbox.is_ended);
            let lost = inboxes.filter_map(|inbox| {
                inbox.letters.push_back(Err(loss.clone()));
                inbox.end()
            });
            lost.collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Inbox {
    fn end(&mut self) -> Option<Waker> {
        self.is_ended = true;
        self.waker.take()
    }
}

impl<E> Replies<E> {
    /// The id of the call.
    pub fn id(&self) -> RequestId {
        self.id
    }

    fn poll_letter(&self, context: &Context<'_>) -> Poll<Option<Result<Letter, WorkerLoss>>> {
        let mut calls = self.calls.borrow_mut();
        let Some(inbox) = calls.open.get_mut(&self.id) else {
            return Poll::Ready(None);
        };
        match inbox.letters.pop_front() {
            Some(letter) => Poll::Ready(Some(letter)),
            None if inbox.is_ended => Poll::Ready(None),
            None => {
                inbox.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<E: serde::de::DeserializeOwned> Stream for Replies<E> {
    type Item = Result<Reply<E>, WorkerLoss>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_letter(context).map(|letter| {
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
        self.calls.borrow_mut().open.remove(&self.id);
    }
}

/// The message of whatever JavaScript threw.
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
