//! Why a download fails.

use crate::browser::http::HttpError;

/// Why a download fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// There was no response that this page may read, or it broke off.
    #[error("{error}")]
    Http {
        /// The browser's error.
        error: HttpError,
    },
    /// The server rejected the request.
    #[error("The server answered {status}.")]
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// It is too large.
    #[error("The file is larger than 2 GB.")]
    TooLarge,
    /// It is not as long as the server announced.
    #[error("The server sent {received} of {size} announced bytes.")]
    Length {
        /// How many bytes were received.
        received: u64,
        /// How many were announced.
        size: u64,
    },
    /// The browser is out of space.
    #[error("The browser has no space for it.")]
    OutOfSpace,
    /// The user cancelled it.
    #[error("Cancelled.")]
    Stopped,
}

impl From<HttpError> for FetchError {
    fn from(error: HttpError) -> Self {
        FetchError::Http { error }
    }
}
