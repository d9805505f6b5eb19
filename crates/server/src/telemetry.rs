//! Counts and logs every request and assigns an id to its reply. Neither keys nor bodies are logged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use crate::error::Reason;
use crate::server::Server;

/// The header with a reply's id, which is also logged.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Middleware around all routes.
pub async fn record(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let metrics = &server.shared.metrics;
    let endpoint = metrics.endpoint(request.uri().path());
    let start = Instant::now();
    let mut response = next.run(request).await;
    let status = response.status();
    let elapsed = start.elapsed();
    metrics.observe(endpoint, status, elapsed);
    let (name, status) = (endpoint.name(), status.as_u16());
    match response.extensions_mut().remove::<Reason>() {
        Some(Reason(reason)) => {
            tracing::warn!(request = id, endpoint = name, status, ?elapsed, %reason, "failed");
        }
        None => tracing::debug!(request = id, endpoint = name, status, ?elapsed, "answered"),
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, HeaderValue::from(id));
    response
}
