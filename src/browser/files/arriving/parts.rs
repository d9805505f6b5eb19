//! Parts of a file by themselves, from servers that give such.

use std::ops::Range;

use super::patience;
use crate::browser::http;

/// Where parts of a file can be had by themselves.
pub(super) struct Parts {
    url: String,
    /// What tells this version of the file from others, if the server says it.
    version: Option<String>,
}

/// Headers that tell versions of a file apart.
const VERSIONS: [&str; 2] = ["etag", "last-modified"];

impl Parts {
    /// Only where the server says so: elsewhere asking might be an error that the person sees.
    pub(super) fn offered(url: &str, response: &http::Response) -> Option<Parts> {
        let is_offered = response.header("accept-ranges")?.trim() == "bytes";
        is_offered.then(|| Parts {
            url: url.to_owned(),
            version: version(response),
        })
    }

    /// Bytes of a file of this size; `None` if the server gives others, or none.
    pub(super) async fn part(&self, range: &Range<u64>, size: u64) -> Option<Vec<u8>> {
        let last = range.end - 1;
        let request = http::Request {
            method: "GET",
            url: self.url.clone(),
            headers: vec![("Range", format!("bytes={}-{last}", range.start))],
            ..http::Request::default()
        };
        let mut response = http::send(&request, patience()).await.ok()?;
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
