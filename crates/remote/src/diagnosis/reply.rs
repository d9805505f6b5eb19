//! Errors that the server reports.

use super::{Diagnosis, Trouble};
use crate::ClientError;
use crate::description::Description;
use crate::transport::TransportError;

/// Diagnoses an error reply or a timeout.
pub(super) fn of_error(
    server_url: &str,
    has_key: bool,
    error: &ClientError,
    description: Option<&Description>,
) -> Diagnosis {
    let trouble = trouble_of(has_key, error, description);
    let what = match trouble {
        Trouble::NotAServer => format!("{server_url} is not a TaskDatasetServer."),
        Trouble::OtherVersion => "The server uses a different version of the protocol.".to_owned(),
        Trouble::NoKey => "The server requires an API key.".to_owned(),
        Trouble::WrongKey => "The server rejected the API key.".to_owned(),
        Trouble::Timeout => "The server is too slow.".to_owned(),
        Trouble::Busy => "The server is overloaded.".to_owned(),
        Trouble::ServerFailure => "The server failed.".to_owned(),
        Trouble::NotReachable => "The server cannot be reached from this page.".to_owned(),
        _ => "The server rejected the request.".to_owned(),
    };
    let lacking = description.map(Description::lacks).unwrap_or_default();
    let mut why = error.to_string();
    // A server's message may end with any character.
    if !why.ends_with(['.', '!', '?']) {
        why.push('.');
    }
    if trouble == Trouble::OtherVersion && !lacking.is_empty() {
        why.push_str(&format!(" It lacks {}.", lacking.join(", ")));
    }
    Diagnosis {
        trouble,
        what,
        why,
        remedy: remedy(trouble).to_owned(),
        lines: Vec::new(),
    }
}

fn trouble_of(has_key: bool, error: &ClientError, description: Option<&Description>) -> Trouble {
    let is_described = description.is_some_and(Description::is_of_a_server);
    let stranger = match is_described {
        true => Trouble::OtherVersion,
        false => Trouble::NotAServer,
    };
    match error {
        ClientError::Transport(TransportError::Timeout) => Trouble::Timeout,
        ClientError::Transport(TransportError::Unusable { .. }) => Trouble::Refused,
        ClientError::Transport(_) => Trouble::NotReachable,
        ClientError::NotStarted => Trouble::Refused,
        ClientError::NotJson { .. } => stranger,
        // A partly correct reply indicates another version rather than another kind of server.
        ClientError::Reply(_) => match error.endpoint() {
            Some("/info") => stranger,
            _ => Trouble::OtherVersion,
        },
        ClientError::Status { status, .. } => match status {
            401 | 403 if has_key => Trouble::WrongKey,
            401 | 403 => Trouble::NoKey,
            // It was closed just after its start.
            404 if error.endpoint() == Some("/reset") => Trouble::Refused,
            404 | 405 | 300..=399 => stranger,
            408 | 504 => Trouble::Timeout,
            429 | 503 => Trouble::Busy,
            500..=599 => Trouble::ServerFailure,
            _ => Trouble::Refused,
        },
    }
}

fn remedy(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::NotAServer => {
            "Check the address and port: they must point to aviary's TaskDatasetServer or \
             `volary serve`."
        }
        Trouble::OtherVersion => "Use `volary serve`, or the TaskDatasetServer of fhaviary 0.37.",
        Trouble::NoKey | Trouble::WrongKey => "Enter the key that the server was started with.",
        Trouble::Timeout => "Try again. If it persists, check what the server is doing.",
        Trouble::Busy => "Wait a moment or close idle environments, and try again.",
        Trouble::ServerFailure => "Check the server's log and try again.",
        Trouble::NotReachable => "Try again. The data received so far is kept.",
        _ => "Correct the request and try again.",
    }
}
