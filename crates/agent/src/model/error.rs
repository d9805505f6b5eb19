//! What can go wrong between a request and its answer.

use volary_core::json::Text;
use volary_core::message::MalformedMessageError;

/// Why there is no answer. Texts hold no key: what providers say is redacted before it gets here
/// (see [`ApiKey::redact`](super::ApiKey::redact)).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider answered with an error status.
    #[error("The provider answered {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// What it said, shortened.
        message: Text,
        /// Its word for the kind of error.
        code: Option<Text>,
        /// The parameter that it complains of.
        parameter: Option<Text>,
        /// Seconds to wait before another try, where it said so.
        retry_after: Option<f64>,
    },
    /// The provider reported an error inside an answer.
    #[error("The provider reported an error: {message}")]
    Reported {
        /// What it said.
        message: Text,
        /// Its word for the kind of error.
        code: Option<Text>,
        /// Whether another try may help (overload, rate limits).
        transient: bool,
    },
    /// The reply is not what the provider's format says.
    #[error("The response cannot be read as {format}: {reason}")]
    Malformed {
        /// The format that was expected.
        format: &'static str,
        /// What is wrong with it.
        reason: Text,
    },
    /// The stream ended before the answer did.
    #[error("The response was cut off: the stream ended before the model had finished.")]
    Cut,
    /// The reply is larger than any answer.
    #[error("The response exceeds {limit_megabytes} MB, so reading was stopped.")]
    TooLarge {
        /// The limit.
        limit_megabytes: usize,
    },
    /// No reply came at all. Reported by the sender.
    #[error("The provider cannot be reached: {reason}")]
    Unreachable {
        /// As far as the sender can tell.
        reason: Text,
    },
    /// Nothing came for too long. Reported by the sender.
    #[error("The provider sent nothing for {seconds} s, so the request was stopped.")]
    Silent {
        /// How long.
        seconds: u32,
    },
    /// A turn of a rollout can't be rendered, read or recorded.
    #[error("The rollout cannot continue: {reason}")]
    Rollout {
        /// What is wrong.
        reason: Text,
    },
    /// The answer ended at the limit of tokens.
    #[error(
        "The response reached the token limit before an action was complete. Raise the maximum \
         tokens or lower the reasoning effort."
    )]
    TokenLimit,
    /// The model, or a filter before it, declined.
    #[error("The model declined to answer: {reason}")]
    Refused {
        /// Why, as far as said.
        reason: Text,
    },
    /// The answer is no action.
    #[error(transparent)]
    NoAction(#[from] MalformedMessageError),
}

impl ModelError {
    /// Whether the same request may succeed later: rate limits, overload, failures of the server or
    /// the network, a cut stream. Money that ran out is none of these.
    pub fn is_transient(&self) -> bool {
        match self {
            ModelError::Status { status, .. } => {
                let temporary =
                    matches!(status, 408 | 409 | 425 | 429) || (500..=599).contains(status);
                temporary && *status != 501 && !self.is_out_of_credit()
            }
            ModelError::Reported { transient, .. } => *transient && !self.is_out_of_credit(),
            ModelError::Cut | ModelError::Unreachable { .. } | ModelError::Silent { .. } => true,
            ModelError::Malformed { .. }
            | ModelError::TooLarge { .. }
            | ModelError::TokenLimit
            | ModelError::Rollout { .. }
            | ModelError::Refused { .. }
            | ModelError::NoAction(_) => false,
        }
    }

    /// Whether the account has no money left, which waiting does not mend.
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
        // A reply that says when to try again means a rate limit, whatever its name.
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
