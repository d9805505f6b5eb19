//! Why files do not come.

use crate::browser::http::HttpError;

/// Why a file did not come.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// There was no reply that this page may read, or it broke off.
    #[error("{error}")]
    Http {
        /// What the browser says.
        error: HttpError,
    },
    /// The server refused.
    #[error("The server answered {status}.")]
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// It is too large.
    #[error("The file is larger than 2 GB.")]
    TooLarge,
    /// It is not as long as the server said.
    #[error("The server sent {came} of {size} announced bytes.")]
    Length {
        /// How many came.
        came: u64,
        /// How many were to come.
        size: u64,
    },
    /// The browser could not hold it.
    #[error("The browser has no space for it.")]
    NoRoom,
    /// The person does not want it any more.
    #[error("Cancelled.")]
    Stopped,
}

impl From<HttpError> for FetchError {
    fn from(error: HttpError) -> Self {
        FetchError::Http { error }
    }
}
