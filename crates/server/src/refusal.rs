//! Replies that are errors, each with its status and body.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use volary_core::json::Json;
use volary_remote::body::{BodyProblem, detail, unprocessable};

use crate::endpoint::json_response;

/// Why a request is refused or failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The body does not fit.
    Unprocessable(Vec<BodyProblem>),
    /// The key is missing or wrong.
    Forbidden,
    /// There is no such environment.
    NoEnvironment(String),
    /// No such path.
    NotFound,
    /// No such method on this path.
    MethodNotAllowed,
    /// The body is larger than the limit, in bytes.
    TooLarge(usize),
    /// The body did not arrive in time.
    TooSlow,
    /// The environment, or making it, failed.
    Failed(String),
    /// There is too much to do already.
    Busy(&'static str),
}

impl Refusal {
    fn parts(&self) -> (StatusCode, Json) {
        match self {
            Refusal::Unprocessable(problems) => {
                (StatusCode::UNPROCESSABLE_ENTITY, unprocessable(problems))
            }
            Refusal::Forbidden => (StatusCode::FORBIDDEN, detail("Invalid or missing API key")),
            Refusal::NoEnvironment(id) => (
                StatusCode::NOT_FOUND,
                detail(&format!("Environment {id} not found")),
            ),
            Refusal::NotFound => (StatusCode::NOT_FOUND, detail("Not Found")),
            Refusal::MethodNotAllowed => {
                (StatusCode::METHOD_NOT_ALLOWED, detail("Method Not Allowed"))
            }
            Refusal::TooLarge(limit) => (
                StatusCode::PAYLOAD_TOO_LARGE,
                detail(&format!(
                    "The body is larger than {limit} bytes, the most that this server takes."
                )),
            ),
            Refusal::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                detail("The body did not arrive in time."),
            ),
            Refusal::Failed(reason) => (StatusCode::INTERNAL_SERVER_ERROR, detail(reason)),
            Refusal::Busy(reason) => (StatusCode::SERVICE_UNAVAILABLE, detail(reason)),
        }
    }

    /// The status and body, for replies that hold several.
    pub fn to_json(&self) -> (u16, Json) {
        let (status, body) = self.parts();
        (status.as_u16(), body)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, body) = self.parts();
        json_response(status, &body)
    }
}
