//! Files from an address, as they come.

use std::time::Duration;

use js_sys::{Array, Uint8Array};

use super::GivenFile;
use crate::shell::http::{self, HttpError};

/// Larger ones are not fetched: they would lie in memory, or fill the disk unasked.
pub const LARGEST: f64 = 2.0 * 1024.0 * 1024.0 * 1024.0;

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
    #[error("It is larger than 2 GB.")]
    TooLarge,
    /// The browser could not hold it.
    #[error("The browser has no room for it.")]
    NoRoom,
    /// The person does not want it any more.
    #[error("It was cancelled.")]
    Cancelled,
}

/// Fetches a file. It goes under the last part of its address. `progress` hears how many bytes came, and of how
/// many, where the server says so; `false` ends it.
pub async fn fetch(
    url: &str,
    progress: impl Fn(f64, Option<f64>) -> bool,
) -> Result<GivenFile, FetchError> {
    let request = http::Request {
        method: "GET",
        url: url.to_owned(),
        ..http::Request::default()
    };
    let patience = http::Patience::of(Duration::from_secs(60));
    let failed = |error| FetchError::Http { error };
    let mut response = http::send(&request, patience).await.map_err(failed)?;
    let status = response.status();
    if !(200..300).contains(&status) {
        return Err(FetchError::Status { status });
    }
    // Of a packed reply, it would be the packed length.
    let is_packed = response.header("content-encoding").is_some();
    let length = response.header("content-length").filter(|_| !is_packed);
    let length: Option<f64> = length.and_then(|length| length.parse().ok());
    if length.is_some_and(|length| length > LARGEST) {
        return Err(FetchError::TooLarge);
    }
    let parts = Array::new();
    let mut came = 0.0;
    while let Some(piece) = response.piece().await.map_err(failed)? {
        came += piece.len() as f64;
        if came > LARGEST {
            return Err(FetchError::TooLarge);
        }
        if !progress(came, length) {
            return Err(FetchError::Cancelled);
        }
        parts.push(&Uint8Array::from(&piece[..]));
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    GivenFile::of_parts(name, &parts).ok_or(FetchError::NoRoom)
}
