//! Errors of downloads.

use crate::http::HttpError;

/// The reason why a download failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The request failed before a readable response, or the response broke off.
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
    /// The file is too large.
    #[error("The file is larger than 2 GB.")]
    TooLarge,
    /// The length differs from the one that the server announced.
    #[error("The server sent {received} of {size} announced bytes.")]
    Length {
        /// The number of bytes received.
        received: u64,
        /// The number of bytes announced.
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
