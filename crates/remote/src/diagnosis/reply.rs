//! Errors that the server reports.

use super::{Diagnosis, ServerProblem};
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
    let problem = problem_of(has_key, error, description);
    let what = match problem {
        ServerProblem::NotAServer => format!("{server_url} is not a TaskDatasetServer."),
        ServerProblem::OtherVersion => {
            "The server uses a different version of the protocol.".to_owned()
        }
        ServerProblem::NoKey => "The server requires an API key.".to_owned(),
        ServerProblem::WrongKey => "The server rejected the API key.".to_owned(),
        ServerProblem::Timeout => "The server is too slow.".to_owned(),
        ServerProblem::Busy => "The server is overloaded.".to_owned(),
        ServerProblem::ServerFailure => "The server failed.".to_owned(),
        ServerProblem::NotReachable => "The server cannot be reached from this page.".to_owned(),
        _ => "The server rejected the request.".to_owned(),
    };
    let lacking = description.map(Description::lacks).unwrap_or_default();
    let mut why = error.to_string();
    // A server's message may end with any character.
    if !why.ends_with(['.', '!', '?']) {
        why.push('.');
    }
    if problem == ServerProblem::OtherVersion && !lacking.is_empty() {
        why.push_str(&format!(" It lacks {}.", lacking.join(", ")));
    }
    Diagnosis {
        problem,
        what,
        why,
        remedy: remedy(problem).to_owned(),
        lines: Vec::new(),
    }
}

fn problem_of(
    has_key: bool,
    error: &ClientError,
    description: Option<&Description>,
) -> ServerProblem {
    let is_described = description.is_some_and(Description::is_of_a_server);
    let stranger = if is_described {
        ServerProblem::OtherVersion
    } else {
        ServerProblem::NotAServer
    };
    match error {
        ClientError::Transport(TransportError::Timeout) => ServerProblem::Timeout,
        ClientError::Transport(TransportError::Unusable { .. }) => ServerProblem::Refused,
        ClientError::Transport(_) => ServerProblem::NotReachable,
        ClientError::NotStarted => ServerProblem::Refused,
        ClientError::NotJson { .. } => stranger,
        // A partly correct reply indicates another version rather than another kind of server.
        ClientError::Reply(_) => match error.endpoint() {
            Some("/info") => stranger,
            _ => ServerProblem::OtherVersion,
        },
        ClientError::Status { status, .. } => match status {
            401 | 403 if has_key => ServerProblem::WrongKey,
            401 | 403 => ServerProblem::NoKey,
            // It was closed just after its start.
            404 if error.endpoint() == Some("/reset") => ServerProblem::Refused,
            404 | 405 | 300..=399 => stranger,
            408 | 504 => ServerProblem::Timeout,
            429 | 503 => ServerProblem::Busy,
            500..=599 => ServerProblem::ServerFailure,
            _ => ServerProblem::Refused,
        },
    }
}

fn remedy(problem: ServerProblem) -> &'static str {
    match problem {
        ServerProblem::NotAServer => {
            "Check the address and port: they must point to aviary's TaskDatasetServer or \
             `volary serve`."
        }
        ServerProblem::OtherVersion => {
            "Use `volary serve`, or the TaskDatasetServer of fhaviary 0.37."
        }
        ServerProblem::NoKey | ServerProblem::WrongKey => {
            "Enter the key that the server was started with."
        }
        ServerProblem::Timeout => "Try again. If it persists, check what the server is doing.",
        ServerProblem::Busy => "Wait a moment or close idle environments, and try again.",
        ServerProblem::ServerFailure => "Check the server's log and try again.",
        ServerProblem::NotReachable => "Try again. The data received so far is kept.",
        _ => "Correct the request and try again.",
    }
}
