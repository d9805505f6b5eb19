//! Errors between a request and its answer.

use volary_core::json::Text;
use volary_core::message::MalformedMessageError;

use super::prompt_api::BuiltInError;

/// Why there is no answer. Texts contain no key: messages of providers are redacted before they get here
/// (see [`ApiKey::redact`](super::ApiKey::redact)).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider answered with an error status.
    #[error("The provider answered {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The provider's message, shortened.
        message: Text,
        /// The provider's error code.
        code: Option<Text>,
        /// The parameter that the error names.
        parameter: Option<Text>,
        /// Seconds to wait before a retry, if the provider sent them.
        retry_after: Option<f64>,
    },
    /// The provider reported an error inside a reply of a success status.
    #[error("The provider reported an error: {message}")]
    Reported {
        /// The provider's message.
        message: Text,
        /// The provider's error code.
        code: Option<Text>,
        /// Whether a retry may succeed (overload, rate limits).
        transient: bool,
    },
    /// The reply violates the provider's format.
    #[error("The response cannot be read as {format}: {reason}")]
    Malformed {
        /// The expected format.
        format: &'static str,
        /// How the reply departs from the format.
        reason: Text,
    },
    /// The stream ended before the answer did.
    #[error("The response was cut off: the stream ended before the model had finished.")]
    Cut,
    /// The reply exceeds the size limit.
    #[error("The response exceeds {limit_megabytes} MB, so reading was stopped.")]
    TooLarge { limit_megabytes: usize },
    /// There was no reply. Reported by the sender.
    #[error("The provider cannot be reached: {reason}")]
    Unreachable {
        /// The cause, as far as the sender knows it.
        reason: Text,
    },
    /// The connection timed out. Reported by the sender.
    #[error("The provider sent nothing for {seconds} s, so the request was stopped.")]
    Silent {
        /// The time limit that was reached.
        seconds: u32,
    },
    /// A turn of a rollout cannot be rendered, read or recorded.
    #[error("The rollout cannot continue: {reason}")]
    Rollout { reason: Text },
    /// The answer was cut off at the token limit.
    #[error(
        "The response reached the token limit before an action was complete. Raise the maximum \
         tokens or lower the reasoning effort."
    )]
    TokenLimit,
    /// The model, or a content filter, refused.
    #[error("The model declined to answer: {reason}")]
    Refused {
        /// The reason, if given.
        reason: Text,
    },
    /// The model built into the browser did not answer.
    #[error(transparent)]
    BuiltIn(BuiltInError),
    /// The answer is not an action.
    #[error(transparent)]
    NoAction(#[from] MalformedMessageError),
}

impl ModelError {
    /// Whether a retry of the same request may succeed: rate limits, overload, failures of the server or
    /// the network, a cut stream. Exhausted credit is not transient.
    pub fn is_transient(&self) -> bool {
        match self {
            ModelError::Status { status, .. } => {
                let temporary =
                    matches!(status, 408 | 409 | 425 | 429) || (500..=599).contains(status);
                temporary && *status != 501 && !self.is_out_of_credit()
            }
            ModelError::Reported { transient, .. } => *transient && !self.is_out_of_credit(),
            ModelError::Cut | ModelError::Unreachable { .. } | ModelError::Silent { .. } => true,
            ModelError::BuiltIn(error) => error.is_transient(),
            ModelError::Malformed { .. }
            | ModelError::TooLarge { .. }
            | ModelError::TokenLimit
            | ModelError::Rollout { .. }
            | ModelError::Refused { .. }
            | ModelError::NoAction(_) => false,
        }
    }

    /// Whether the account has no credit left, which waiting does not fix.
    pub fn is_out_of_credit(&self) -> bool {
        let (message, code, retry_after) = match self {
            ModelError::Status { status: 402, .. } => return true,
            ModelError::Status {
                message,
                code,
                retry_after,
                ..
            } => (message, code, *retry_after),
            ModelError::Reported { message, code, .. } => (message, code, None),
            _ => return false,
        };
        // A reply with `Retry-After` is a rate limit, whatever its code.
        retry_after.is_none()
            && (code.as_deref() == Some("insufficient_quota")
                || [
                    "insufficient_quota",
                    "credit balance",
                    "insufficient balance",
                    "out of credits",
                ]
                .iter()
                .any(|words| message.to_lowercase().contains(words)))
    }
}
