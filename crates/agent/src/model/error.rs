//! What can go wrong between a request and its answer.

use volary_core::json::Text;

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
        /// Seconds to wait before another try, where it said so.
        retry_after: Option<f64>,
    },
    /// The provider reported an error inside an answer.
    #[error("The provider reported an error: {message}")]
    Reported {
        /// What it said.
        message: Text,
        /// Whether another try may help (overload, rate limits).
        transient: bool,
    },
    /// The reply is not what the provider's format says.
    #[error("The reply can't be read as {format}: {reason}")]
    Malformed {
        /// The format that was expected.
        format: &'static str,
        /// What is wrong with it.
        reason: Text,
    },
    /// The stream ended before the answer did.
    #[error("The answer was cut off: the stream ended before the model had finished.")]
    Cut,
    /// The reply is larger than any answer.
    #[error(
        "The reply is larger than {limit_megabytes} MB, which no answer is; reading it was stopped."
    )]
    TooLarge {
        /// The limit.
        limit_megabytes: usize,
    },
}

impl ModelError {
    /// Whether the same request may succeed later: rate limits, overload, failures of the server, a
    /// cut stream.
    pub fn is_transient(&self) -> bool {
        match self {
            ModelError::Status { status, .. } => {
                matches!(status, 408 | 409 | 425 | 429) || (500..=599).contains(status)
            }
            ModelError::Reported { transient, .. } => *transient,
            ModelError::Cut => true,
            ModelError::Malformed { .. } | ModelError::TooLarge { .. } => false,
        }
    }
}
