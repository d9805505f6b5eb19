//! Responses of JSON Lines.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::mpsc;

/// The media type of JSON Lines.
pub const LINES: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/x-ndjson")];

/// A response of JSON Lines, streamed from a channel.
pub fn lines(receive: mpsc::Receiver<Bytes>) -> Response {
    let lines = stream::unfold(receive, |mut receive| async move {
        let chunk = receive.recv().await?;
        Some((io::Result::Ok(chunk), receive))
    });
    (LINES, Body::from_stream(lines)).into_response()
}
