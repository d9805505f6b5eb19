//! Replies that are errors, each with its status and body.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use volary_core::json::{Json, Text};
use volary_remote::body::{BodyProblem, Unreadable, detail, unprocessable};

use crate::handlers::json_response;

/// Why a request is refused or failed.
#[derive(Clone, Debug, PartialEq)]
pub enum ApiError {
    /// The body does not fit.
    Unprocessable(Vec<BodyProblem>),
    /// The body is no text or too deep, so that not even its place can be said.
    Unreadable(&'static str),
    /// The key is missing or wrong.
    Forbidden,
    /// The request is for a host name that the server does not answer for.
    ForeignHost(String),
    /// A page of this origin may not call.
    ForeignPage(String),
    /// There is no such environment.
    NoEnvironment(Text),
    /// No such path.
    NotFound,
    /// No such method on this path.
    MethodNotAllowed,
    /// The body is larger than the limit, in bytes.
    TooLarge(usize),
    /// The body did not arrive in time.
    TooSlow,
    /// The body broke off.
    BrokenOff,
    /// The environment, or making it, failed.
    Failed(Text),
    /// There is too much to do already.
    Busy(Text),
}

/// The reason of a failure, kept with the reply for the log.
#[derive(Clone, Debug)]
pub struct Reason(pub Text);

impl ApiError {
    /// The status of the reply.
    pub fn status(&self) -> StatusCode {
        match self {
            ApiError::Unprocessable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ApiError::Unreadable(_) | ApiError::BrokenOff => StatusCode::BAD_REQUEST,
            ApiError::Forbidden | ApiError::ForeignPage(_) => StatusCode::FORBIDDEN,
            ApiError::ForeignHost(_) => StatusCode::MISDIRECTED_REQUEST,
            ApiError::NoEnvironment(_) | ApiError::NotFound => StatusCode::NOT_FOUND,
            ApiError::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::TooSlow => StatusCode::REQUEST_TIMEOUT,
            ApiError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            ApiError::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The body of the reply.
    pub fn body(&self) -> Json {
        match self {
            ApiError::Unprocessable(problems) => unprocessable(problems),
            ApiError::Unreadable(reason) => {
                detail(&format!("There was an error parsing the body: {reason}."))
            }
            ApiError::Forbidden => detail("Invalid or missing API key"),
            ApiError::ForeignHost(host) => detail(&format!(
                "This server does not answer for the host {host}. Use localhost or 127.0.0.1, or start the \
                 server with --allow-host and that name."
            )),
            ApiError::ForeignPage(origin) => detail(&format!(
                "Pages of {origin} may not call this server. Start it with --cors-origin {origin} \
                 to let them."
            )),
            ApiError::NoEnvironment(id) => detail(&format!("Environment {id} not found")),
            ApiError::NotFound => detail("Not Found"),
            ApiError::MethodNotAllowed => detail("Method Not Allowed"),
            ApiError::TooLarge(limit) => detail(&format!(
                "The body is larger than {limit} bytes, the most that this server takes."
            )),
            ApiError::TooSlow => detail("The body did not arrive in time."),
            ApiError::BrokenOff => detail("The body broke off."),
            ApiError::Failed(reason) | ApiError::Busy(reason) => detail(reason),
        }
    }
}

impl From<Unreadable> for ApiError {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::NotJson(problem) => ApiError::Unprocessable(vec![problem]),
            Unreadable::Unfit(reason) => ApiError::Unreadable(reason),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = json_response(self.status(), &self.body());
        match self {
            ApiError::Failed(reason) => {
                response.extensions_mut().insert(Reason(reason));
            }
            ApiError::Busy(reason) => {
                response.extensions_mut().insert(Reason(reason));
                let soon = header::HeaderValue::from_static("1");
                response.headers_mut().insert(header::RETRY_AFTER, soon);
            }
            // What was not read of a body must not be taken for the next request.
            ApiError::TooLarge(_) | ApiError::TooSlow | ApiError::BrokenOff => {
                let close = header::HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            _ => {}
        }
        response
    }
}
