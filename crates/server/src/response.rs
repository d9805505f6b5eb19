//! Responses with a JSON body.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use volary_core::json::Json;

pub const JSON: &str = "application/json";
/// The usual upper bound of a reply's length, in bytes.
const USUAL_LENGTH: usize = 512;

/// A response with a JSON body.
pub fn json_response(status: StatusCode, body: &Json) -> Response {
    let mut text = String::with_capacity(USUAL_LENGTH);
    body.write_compact_text(&mut text);
    (status, [(header::CONTENT_TYPE, JSON)], text).into_response()
}
