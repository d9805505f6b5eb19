//! Diagnoses failed requests to models: maps observations of the page to an explanation and a remedy for the user.
//!
//! `volary_connectivity` contains the probes of requests without a reply, and the meaning of their results.
//!
//! - `reply`: errors that the provider reports; `silence`: requests without a reply.

mod reply;
mod silence;
#[cfg(test)]
mod tests;

use super::ModelError;
use super::connection::Connection;

pub use reply::of_error;
use silence::of_silence;
use volary_connectivity::Silence;
pub use volary_connectivity::{Permission, RequestingPage};

/// The category of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelProblem {
    /// The provider rejects the key.
    WrongKey,
    /// The provider requires a key, and none was sent.
    NoKey,
    /// The key lacks permission for this request.
    NotAllowed,
    /// The model or the path does not exist.
    WrongModel,
    /// The rate limit was exceeded.
    RateLimit,
    /// The account has no credit.
    NoCredit,
    /// The provider rejected the request.
    Refused,
    /// The server failed.
    ServerFailure,
    /// The server at this address is not a model API.
    NotAModel,
    /// The server's CORS headers do not allow this page.
    Cors,
    /// The browser requires permission to access the local network.
    LocalNetwork,
    /// An https page cannot access an http address.
    MixedContent,
    /// No server answers at this address.
    Unreachable,
    /// This machine is offline.
    Offline,
    /// The reply timed out, or broke off.
    Interrupted,
    /// Messages cannot be rendered as a prompt, or the answer cannot be converted to tokens.
    Rollout,
    /// The model built into the browser cannot be used, or failed.
    BuiltIn,
    /// The model's answer is not an action.
    NoAction,
}

/// A problem, its cause and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub problem: ModelProblem,
    /// What failed: a sentence.
    pub what: String,
    /// Why: a sentence or two, with the provider's message if there is one.
    pub why: String,
    /// What to do: a sentence or two.
    pub remedy: String,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// A complete or partial reply without an answer.
    Failed(ModelError),
    /// The request failed before any reply; browsers report no more than that. The other fields are results of probes.
    NoReply {
        /// Whether the same address answers a `no-cors` request.
        answers_without_cors: Option<bool>,
        /// The permission to access the loopback or local network, if the browser has one.
        permission: Option<Permission>,
        /// Whether the browser is online.
        is_online: bool,
    },
}

/// Diagnoses an outcome.
pub fn diagnose(
    connection: &Connection,
    has_key: bool,
    page: &RequestingPage,
    observation: &Observation,
) -> Diagnosis {
    match observation {
        Observation::Failed(error) => of_error(connection, has_key, error),
        Observation::NoReply {
            answers_without_cors,
            permission,
            is_online,
        } => {
            let silence = Silence {
                answers_without_cors: *answers_without_cors,
                permission: *permission,
                is_online: *is_online,
            };
            of_silence(connection, page, &silence)
        }
    }
}
