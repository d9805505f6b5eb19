//! Range requests, for servers that support them.

use std::ops::Range;

use super::timeout;
use crate::http;

/// The target of range requests.
pub(super) struct RangeRequests {
    url: String,
    /// The version of the file, if the server reports it.
    version: Option<String>,
}

/// Headers that identify a version of a file.
const VERSIONS: [&str; 2] = ["etag", "last-modified"];

impl RangeRequests {
    /// Returns `None` unless the server announces support: elsewhere a request might log an error in the browser's
    /// console.
    pub(super) fn offered(url: &str, response: &http::Response) -> Option<RangeRequests> {
        let is_offered = response.header("accept-ranges")?.trim() == "bytes";
        is_offered.then(|| RangeRequests {
            url: url.to_owned(),
            version: version(response),
        })
    }

    /// Requests a range of a file of this size; `None` if the server sends something else, or nothing.
    pub(super) async fn part(&self, range: &Range<u64>, size: u64) -> Option<Vec<u8>> {
        let last = range.end - 1;
        let request = http::Request {
            method: "GET",
            url: self.url.clone(),
            headers: vec![("Range", format!("bytes={}-{last}", range.start))],
            own_cookies: true,
            ..http::Request::default()
        };
        let mut response = http::send(&request, timeout()).await.ok()?;
        let is_part = response.status() == 206 && version(&response) == self.version;
        let said = response.header("content-range");
        let is_it = said.is_none_or(|said| said == format!("bytes {}-{last}/{size}", range.start));
        if !is_part || !is_it {
            return None;
        }
        let length = range.end - range.start;
        let mut bytes = Vec::with_capacity(length as usize);
        while let Some(piece) = response.piece().await.ok()? {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > length {
                return None;
            }
        }
        (bytes.len() as u64 == length).then_some(bytes)
    }
}

fn version(response: &http::Response) -> Option<String> {
    VERSIONS.iter().find_map(|name| response.header(name))
}
