//! Errors of requests, and their responses.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Error of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The `Host` is not one of this server.
    ForeignHost,
    /// A page of another origin sent the request.
    ForeignPage,
    /// The request has no cookie.
    NoSession,
    WrongToken,
    /// The path does not exist.
    NotFound,
    /// The path does not support this method.
    NotAllowed,
    /// The file exists but cannot be read.
    Unreadable(&'static str),
    /// The disk hangs.
    Slow,
    /// All threads are in use.
    Busy,
    /// The request is invalid.
    Wrong(&'static str),
    /// The disk is full.
    Full,
    /// Notes cannot be written.
    Unwritable,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Failure::ForeignHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "This server does not answer for that host name.",
            ),
            Failure::ForeignPage => (
                StatusCode::FORBIDDEN,
                "Pages of other origins may not call.",
            ),
            Failure::NoSession => (
                StatusCode::UNAUTHORIZED,
                "Open the address that `volary view` printed.",
            ),
            Failure::WrongToken => (StatusCode::FORBIDDEN, "The token is wrong."),
            Failure::NotFound => (StatusCode::NOT_FOUND, "There is no such file."),
            Failure::NotAllowed => (
                StatusCode::METHOD_NOT_ALLOWED,
                "This method is not allowed here.",
            ),
            Failure::Unreadable(why) => (StatusCode::FORBIDDEN, why),
            Failure::Slow => (StatusCode::GATEWAY_TIMEOUT, "The disk does not answer."),
            Failure::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many requests at once.",
            ),
            Failure::Wrong(why) => (StatusCode::BAD_REQUEST, why),
            Failure::Full => (
                StatusCode::INSUFFICIENT_STORAGE,
                "The disk is full. Nothing was written.",
            ),
            Failure::Unwritable => (
                StatusCode::FORBIDDEN,
                "The file of notes cannot be written. Look at the permissions of its folder.",
            ),
        };
        (status, axum::Json(serde_json::json!({ "error": why }))).into_response()
    }
}
