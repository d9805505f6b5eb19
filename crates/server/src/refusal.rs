//! Replies that are errors, each with its status and body.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use volary_core::json::{Json, Text};
use volary_remote::body::{BodyProblem, Unreadable, detail, unprocessable};

use crate::endpoint::json_response;

/// Why a request is refused or failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
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

impl Refusal {
    /// The status of the reply.
    pub fn status(&self) -> StatusCode {
        match self {
            Refusal::Unprocessable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Refusal::Unreadable(_) | Refusal::BrokenOff => StatusCode::BAD_REQUEST,
            Refusal::Forbidden | Refusal::ForeignPage(_) => StatusCode::FORBIDDEN,
            Refusal::ForeignHost(_) => StatusCode::MISDIRECTED_REQUEST,
            Refusal::NoEnvironment(_) | Refusal::NotFound => StatusCode::NOT_FOUND,
            Refusal::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Refusal::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Refusal::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The body of the reply.
    pub fn body(&self) -> Json {
        match self {
            Refusal::Unprocessable(problems) => unprocessable(problems),
            Refusal::Unreadable(reason) => {
                detail(&format!("There was an error parsing the body: {reason}."))
            }
            Refusal::Forbidden => detail("Invalid or missing API key"),
            Refusal::ForeignHost(host) => detail(&format!(
                "This server does not answer for the host {host}. Use localhost or 127.0.0.1, or start the \
                 server with --allow-host and that name."
            )),
            Refusal::ForeignPage(origin) => detail(&format!(
                "Pages of {origin} may not call this server. Start it with --cors-origin {origin} \
                 to let them."
            )),
            Refusal::NoEnvironment(id) => detail(&format!("Environment {id} not found")),
            Refusal::NotFound => detail("Not Found"),
            Refusal::MethodNotAllowed => detail("Method Not Allowed"),
            Refusal::TooLarge(limit) => detail(&format!(
                "The body is larger than {limit} bytes, the most that this server takes."
            )),
            Refusal::TooSlow => detail("The body did not arrive in time."),
            Refusal::BrokenOff => detail("The body broke off."),
            Refusal::Failed(reason) | Refusal::Busy(reason) => detail(reason),
        }
    }
}

impl From<Unreadable> for Refusal {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::NotJson(problem) => Refusal::Unprocessable(vec![problem]),
            Unreadable::Unfit(reason) => Refusal::Unreadable(reason),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json_response(self.status(), &self.body());
        match self {
            Refusal::Failed(reason) => {
                response.extensions_mut().insert(Reason(reason));
            }
            Refusal::Busy(reason) => {
                response.extensions_mut().insert(Reason(reason));
                let soon = header::HeaderValue::from_static("1");
                response.headers_mut().insert(header::RETRY_AFTER, soon);
            }
            // What was not read of a body must not be taken for the next request.
            Refusal::TooLarge(_) | Refusal::TooSlow | Refusal::BrokenOff => {
                let close = header::HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            _ => {}
        }
        response
    }
}
