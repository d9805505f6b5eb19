//! Diagnoses failed requests to a task dataset server: maps observations of the page to an explanation and a remedy for
//! the user.
//!
//! - `reply`: errors in a response; if there is no response, `volary_connectivity` determines the cause.

mod reply;
#[cfg(test)]
mod tests;

use volary_connectivity::{Cause, RequestingPage, Silence};

use crate::ClientError;
use crate::description::Description;

/// The category of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerProblem {
    /// The input is not a web address.
    NotAnAddress,
    /// No server answers at this address.
    NotReachable,
    /// This machine is offline.
    Offline,
    /// The server's CORS headers do not allow this page.
    Cors,
    /// An https page cannot access an http address.
    MixedContent,
    /// The browser requires permission to access the local network.
    LocalNetwork,
    /// The server is not a TaskDatasetServer.
    NotAServer,
    /// A TaskDatasetServer of another version.
    OtherVersion,
    /// The server requires a key, and none was sent.
    NoKey,
    /// The server rejects the key.
    WrongKey,
    /// The request timed out.
    Timeout,
    /// The server is at a limit.
    Busy,
    /// The server failed.
    ServerFailure,
    /// The server rejected the request.
    Refused,
}

impl ServerProblem {
    /// Whether all other requests to the server will fail as well until the user fixes the cause.
    pub const fn concerns_all(self) -> bool {
        !matches!(self, ServerProblem::ServerFailure | ServerProblem::Refused)
    }
}

/// A problem, its cause and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub problem: ServerProblem,
    /// What failed: a sentence.
    pub what: String,
    /// Why: a sentence or two, with the server's message if there is one.
    pub why: String,
    /// What to do: a sentence or two.
    pub remedy: String,
    /// Lines to copy to the server, each with their location.
    pub lines: Vec<Lines>,
}

/// Lines to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The file or terminal for them.
    pub place: &'static str,
    /// The lines.
    pub text: String,
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub enum Observation<'a> {
    /// An unusable reply, or a timeout; with the server's description of its paths, if it was requested
    /// and received.
    Failed(&'a ClientError, Option<Description>),
    /// The request failed before any reply.
    Silent(Silence),
}

/// Diagnoses an outcome.
pub fn diagnose(
    server_url: &str,
    has_key: bool,
    page: &RequestingPage,
    observation: &Observation<'_>,
) -> Diagnosis {
    match observation {
        Observation::Failed(error, description) => {
            reply::of_error(server_url, has_key, error, description.as_ref())
        }
        Observation::Silent(silence) => of_silence(server_url, page, silence),
    }
}

fn of_silence(server_url: &str, page: &RequestingPage, silence: &Silence) -> Diagnosis {
    let cause = Cause::of(server_url, page, silence);
    let (problem, remedy) = match cause {
        Cause::NotAnAddress => (
            ServerProblem::NotAnAddress,
            "Enter the server's address, such as http://127.0.0.1:8041.",
        ),
        Cause::Offline => (ServerProblem::Offline, ""),
        Cause::Cors => (
            ServerProblem::Cors,
            "Allow this page on the server, then connect again.",
        ),
        Cause::NotAllowed(_) | Cause::NotYetAllowed(_) => (ServerProblem::LocalNetwork, ""),
        Cause::MixedContent => (
            ServerProblem::MixedContent,
            "Put a TLS proxy in front of the server and enter its https address, or open this page \
             over http.",
        ),
        Cause::PerhapsMixedContent => (
            ServerProblem::MixedContent,
            "Check that the server runs. If it does, use Chrome, Edge or Firefox, or let the server serve this \
             page itself.",
        ),
        Cause::NobodyNear => (
            ServerProblem::NotReachable,
            "Start the server and check that its port matches the address.",
        ),
        Cause::NobodyFar => (
            ServerProblem::NotReachable,
            "Check the address, then the network and browser extensions that block requests.",
        ),
    };
    let lines = match cause {
        Cause::Cors => letting_in(&page.origin),
        Cause::PerhapsMixedContent => vec![Lines {
            place: "A server that also serves this page",
            text: "volary serve --serve-page dist".to_owned(),
        }],
        Cause::NobodyNear => vec![Lines {
            place: "Volary's own server",
            text: format!("volary serve --cors-origin {}", page.origin),
        }],
        _ => Vec::new(),
    };
    Diagnosis {
        problem,
        what: "The server cannot be reached from this page.".to_owned(),
        why: cause.why(server_url, page),
        remedy: cause.in_the_browser().unwrap_or(remedy).to_owned(),
        lines,
    }
}

/// The lines that allow pages of an origin: the original has no CORS support.
pub fn letting_in(origin: &str) -> Vec<Lines> {
    vec![
        Lines {
            place: "aviary's TaskDatasetServer, in Python, before server.start()",
            text: format!(
                "from fastapi.middleware.cors import CORSMiddleware\n\
                 \n\
                 server.app.add_middleware(\n    \
                     CORSMiddleware,\n    \
                     allow_origins=[\"{origin}\"],\n    \
                     allow_methods=[\"GET\", \"POST\"],\n    \
                     allow_headers=[\"Content-Type\", \"X-API-Key\"],\n\
                 )"
            ),
        },
        Lines {
            place: "Volary's own server",
            text: format!("volary serve --cors-origin {origin}"),
        },
    ]
}
