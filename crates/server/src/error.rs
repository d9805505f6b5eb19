//! Errors as replies: each has a status and a JSON body.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use volary_core::json::{Json, Text};
use volary_remote::body::{BodyProblem, Unreadable, detail, unprocessable};

use crate::response::json_response;

/// Why a request was rejected or failed.
#[derive(Clone, Debug, PartialEq)]
pub enum ApiError {
    /// The body has the wrong fields.
    Unprocessable(Vec<BodyProblem>),
    /// The body is not text, or nested too deeply to report the location.
    Unreadable(&'static str),
    /// The API key is missing or wrong.
    InvalidKey,
    /// The request is for a host name that the server does not answer for.
    ForeignHost(String),
    /// Pages of this origin are not allowed.
    ForeignOrigin(String),
    /// No environment has this id.
    NoEnvironment(Text),
    /// The path does not exist.
    NotFound,
    /// What the path or the body names does not exist.
    Unknown(Text),
    /// There is no task at this place.
    NoTask(Text),
    /// The dataset does not have what is asked for.
    NotSupported(Text),
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// The body is larger than the limit, in bytes.
    TooLarge(usize),
    /// The body did not arrive in time.
    BodyTimeout,
    /// The connection ended within the body.
    BodyAborted,
    /// The environment, or its construction, failed.
    Failed(Text),
    /// A limit is reached; the client may try again.
    Busy(Text),
    /// The server behind a bridge did not answer.
    BadGateway(Text),
    /// The teacher's key of the class is missing or wrong.
    InvalidClassKey,
    /// The code of the class is missing or wrong.
    InvalidClassCode,
    /// The body is no hand-in.
    BadHandIn(Text),
    /// What would be stored of a hand-in is larger than the limit, in bytes.
    HandInTooLarge(usize),
    /// There is no space for a hand-in.
    StorageFull(Text),
}

/// The reason of a failure, attached to the response for the log.
#[derive(Clone, Debug)]
pub struct Reason(pub Text);

impl ApiError {
    /// The status of the reply.
    pub fn status(&self) -> StatusCode {
        match self {
            ApiError::Unprocessable(_) | ApiError::BadHandIn(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ApiError::Unreadable(_) | ApiError::BodyAborted | ApiError::NoTask(_) => {
                StatusCode::BAD_REQUEST
            }
            ApiError::InvalidKey
            | ApiError::InvalidClassKey
            | ApiError::InvalidClassCode
            | ApiError::ForeignOrigin(_) => StatusCode::FORBIDDEN,
            ApiError::ForeignHost(_) => StatusCode::MISDIRECTED_REQUEST,
            ApiError::NoEnvironment(_) | ApiError::NotFound | ApiError::Unknown(_) => {
                StatusCode::NOT_FOUND
            }
            ApiError::NotSupported(_) => StatusCode::NOT_IMPLEMENTED,
            ApiError::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ApiError::TooLarge(_) | ApiError::HandInTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            ApiError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            ApiError::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::BadGateway(_) => StatusCode::BAD_GATEWAY,
            ApiError::StorageFull(_) => StatusCode::INSUFFICIENT_STORAGE,
        }
    }

    /// The body of the reply.
    pub fn body(&self) -> Json {
        match self {
            ApiError::Unprocessable(problems) => unprocessable(problems),
            ApiError::Unreadable(reason) => {
                detail(&format!("There was an error parsing the body: {reason}."))
            }
            ApiError::InvalidKey => detail("Invalid or missing API key"),
            ApiError::ForeignHost(host) => detail(&format!(
                "This server does not answer for the host {host}. Use localhost or 127.0.0.1, or start the \
                 server with --allow-host and that name."
            )),
            ApiError::ForeignOrigin(origin) => detail(&format!(
                "Pages of {origin} may not call this server. Start it with --cors-origin {origin} \
                 to allow them."
            )),
            ApiError::NoEnvironment(id) => detail(&format!("Environment {id} not found")),
            ApiError::NotFound => detail("Not Found"),
            ApiError::MethodNotAllowed => detail("Method Not Allowed"),
            ApiError::TooLarge(limit) => detail(&format!(
                "The body is larger than the limit of {limit} bytes."
            )),
            ApiError::HandInTooLarge(limit) => detail(&format!(
                "The hand-in takes more space than the limit of {limit} bytes when it is stored."
            )),
            ApiError::BodyTimeout => detail("The body did not arrive in time."),
            ApiError::BodyAborted => detail("The connection ended within the body."),
            ApiError::InvalidClassKey => detail("The class key is missing or wrong."),
            ApiError::InvalidClassCode => detail(
                "The link to the assignment does not fit this class. Ask your teacher for a new link.",
            ),
            ApiError::Failed(reason)
            | ApiError::Busy(reason)
            | ApiError::Unknown(reason)
            | ApiError::NoTask(reason)
            | ApiError::NotSupported(reason)
            | ApiError::BadGateway(reason)
            | ApiError::BadHandIn(reason)
            | ApiError::StorageFull(reason) => detail(reason),
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
            ApiError::Failed(reason) | ApiError::StorageFull(reason) => {
                response.extensions_mut().insert(Reason(reason));
            }
            ApiError::Busy(reason) => {
                response.extensions_mut().insert(Reason(reason));
                let seconds = HeaderValue::from_static("1");
                response.headers_mut().insert(header::RETRY_AFTER, seconds);
            }
            // The unread rest of the body must not be parsed as the next request.
            ApiError::TooLarge(_) | ApiError::BodyTimeout | ApiError::BodyAborted => {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            _ => {}
        }
        response
    }
}
