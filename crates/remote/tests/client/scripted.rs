//! A server with scripted replies.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_core::json::{Json, read};
use volary_remote::request::Start;
use volary_remote::{
    ClientError, ClientOptions, TaskDatasetClient, TaskEnvironmentClient, Transport,
    TransportError, WireReply, WireRequest,
};

pub type Said = Result<WireReply, TransportError>;

/// Returns the replies of a script in order, and records the requests.
#[derive(Default)]
pub struct Scripted {
    replies: RefCell<VecDeque<Said>>,
    asked: RefCell<Vec<WireRequest>>,
    pauses: RefCell<Vec<f64>>,
}

impl Transport for Scripted {
    fn send(&self, request: WireRequest) -> LocalBoxFuture<'_, Said> {
        self.asked.borrow_mut().push(request);
        let reply = self.replies.borrow_mut().pop_front();
        Box::pin(std::future::ready(reply.expect("the script is at its end")))
    }

    fn pause(&self, seconds: f64) -> LocalBoxFuture<'_, ()> {
        self.pauses.borrow_mut().push(seconds);
        Box::pin(std::future::ready(()))
    }
}

impl Scripted {
    /// Appends replies to the script.
    pub fn says(&self, replies: impl IntoIterator<Item = Said>) {
        self.replies.borrow_mut().extend(replies);
    }

    /// The requested paths since the last call.
    pub fn paths(&self) -> Vec<String> {
        let asked = self.asked.take();
        let path = |request: &WireRequest| {
            request
                .url
                .strip_prefix("http://server")
                .unwrap()
                .to_owned()
        };
        asked.iter().map(path).collect()
    }

    /// The requests since the last call.
    pub fn asked(&self) -> Vec<WireRequest> {
        self.asked.take()
    }

    /// The pauses since the last call.
    pub fn pauses(&self) -> Vec<f64> {
        self.pauses.take()
    }
}

pub fn answer(status: u16, body: &str) -> Said {
    Ok(WireReply {
        status,
        body: body.to_owned(),
    })
}

pub fn ok(body: &str) -> Said {
    answer(200, body)
}

pub fn unreachable() -> Said {
    Err(TransportError::Unreachable {
        reason: "connection refused".into(),
    })
}

pub const INFO: &str = r#"{"dataset_size": 3, "running_env_ids": ["a"]}"#;
pub const STARTED: &str = r#"{"env_id": "e1"}"#;
pub const RESET: &str = r#"[[{"role": "user", "content": "Go on."}], []]"#;
pub const STEP: &str = r#"[[{"role": "user", "content": "Good."}], 0.5, false, false]"#;
pub const FRAME: &str = r#"{"state": {"n": 1}, "info": null}"#;

/// Runs a future that never waits for anything but the script.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("a script does not wait")
}

/// A connected dataset.
pub fn connected(change: impl FnOnce(&mut ClientOptions)) -> (Rc<Scripted>, TaskDatasetClient) {
    let transport = Rc::new(Scripted::default());
    transport.says([ok(INFO)]);
    let mut options = ClientOptions::new("http://server/");
    change(&mut options);
    let dataset = now(TaskDatasetClient::connect(options, transport.clone())).unwrap();
    transport.asked();
    (transport, dataset)
}

/// An environment after its reset.
pub fn playing(change: impl FnOnce(&mut ClientOptions)) -> (Rc<Scripted>, TaskEnvironmentClient) {
    let (transport, dataset) = connected(change);
    let mut environment = dataset.environment(Start::Any);
    transport.says([ok(STARTED), ok(RESET)]);
    now(environment.try_reset()).unwrap();
    transport.asked();
    (transport, environment)
}

/// The client's error after one reply to its first request.
pub fn greeted_with(reply: Said) -> ClientError {
    let transport = Rc::new(Scripted::default());
    transport.says([reply]);
    let options = ClientOptions::new("http://server");
    match now(TaskDatasetClient::connect(options, transport)) {
        Ok(_) => panic!("that was no greeting"),
        Err(error) => error,
    }
}

/// The body of a request.
pub fn body(request: &WireRequest) -> Json {
    read(request.body.as_deref().unwrap()).unwrap()
}
