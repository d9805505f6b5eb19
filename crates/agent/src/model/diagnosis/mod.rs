//! Why a model can't be used, and what to do: from what a page can observe to words for the user.
//!
//! What a page can find out where there was no reply, and what that means, is in `volary_connectivity`.
//!
//! - `reply`: what the provider said; `silence`: what it means when there was no reply.

mod reply;
mod silence;
#[cfg(test)]
mod tests;

use super::ModelError;
use super::connection::Connection;

pub use reply::of_error;
use silence::of_silence;
use volary_connectivity::Silence;
pub use volary_connectivity::{Page, Permission};

/// What kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trouble {
    /// The provider does not take the key.
    WrongKey,
    /// It wants one, and none was given.
    NoKey,
    /// It takes the key, but not for this.
    NotAllowed,
    /// It has no such model, or no such address.
    WrongModel,
    /// Too many requests.
    RateLimit,
    /// No money left.
    NoCredit,
    /// The request was not what it takes.
    Refused,
    /// The server failed.
    ServerFailure,
    /// Something else than a model answers at that address.
    NotAModel,
    /// The server does not let this page in.
    Cors,
    /// The browser must be allowed to reach the local network.
    LocalNetwork,
    /// An https page may not reach an http address.
    MixedContent,
    /// Nothing answers at that address.
    Unreachable,
    /// This machine is offline.
    Offline,
    /// It answers too slowly, or stops in the middle.
    Interrupted,
    /// Messages can't be made a prompt, or the answer not tokens.
    Rollout,
    /// The model's answer is no action.
    NoAction,
}

/// What is wrong, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The kind.
    pub trouble: Trouble,
    /// What failed: a sentence.
    pub what: String,
    /// Why: a sentence or two, with the provider's own words where there are any.
    pub why: String,
    /// What to do: a sentence or two.
    pub remedy: String,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// There was a reply, or a part of one, that was no answer.
    Failed(ModelError),
    /// The request failed before any reply, which is all that a browser reveals. What else was found out:
    NoReply {
        /// Whether the same address answers a request of mode `no-cors`.
        answers_without_cors: Option<bool>,
        /// The permission to reach the loopback or local network, where the browser knows of one.
        permission: Option<Permission>,
        /// Whether the browser says it is online.
        is_online: bool,
    },
}

/// What is wrong, why, and what to do about it.
pub fn diagnose(
    connection: &Connection,
    has_key: bool,
    page: &Page,
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
