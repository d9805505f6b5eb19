//! Reads the unread rest of a request's body before the reply is sent.
//!
//! A reply to an unknown path, a wrong method or a foreign host does not depend on the body, and a body
//! that is too large is not read to its end. hyper would close the connection after such a reply. A
//! client that is still writing its body, or that sends its next request on the same connection, would then
//! fail instead of reading the reply.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, timeout_at};

use crate::server::Server;

/// The maximum number of bytes discarded. The connection is closed if more are left.
const DISCARDED: usize = 256 << 20;

/// The outermost middleware. `read_timeout` is the limit for the whole body, including the discarded part.
pub async fn discard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let deadline = Instant::now() + server.shared.options.read_timeout;
    let (head, body) = request.into_parts();
    // hyper sends `100 Continue` when the body is first read. Until then such a client sends no body.
    let waits = head.headers.contains_key(header::EXPECT);
    let body = SharedBody::new(body);
    let request = Request::from_parts(head, Body::new(body.clone()));
    let response = next.run(request).await;
    if body.was_read() || !waits {
        // After the deadline, hyper closes the connection.
        let _ = timeout_at(deadline, body.discard()).await;
    }
    response
}

/// A body that the middleware can still read after the handler dropped it.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<Reading>>);

struct Reading {
    body: Body,
    started: bool,
}

impl SharedBody {
    fn new(body: Body) -> Self {
        let started = false;
        SharedBody(Arc::new(Mutex::new(Reading { body, started })))
    }

    fn lock(&self) -> MutexGuard<'_, Reading> {
        // A panic while a body was read leaves the body as it is.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn was_read(&self) -> bool {
        self.lock().started
    }

    async fn discard(mut self) {
        let mut left = DISCARDED;
        while let Some(Ok(frame)) = self.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut reading = self.lock();
        reading.started = true;
        Pin::new(&mut reading.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().body.size_hint()
    }
}
