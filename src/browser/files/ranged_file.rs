//! A file on the server of the page, which is read in ranges when they are wanted. Nothing of it is stored.
//!
//! Invariant: bytes of a file that was cut off or deleted since it was opened are an error. One that became longer is read
//! as it was: logs are appended to.

use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

use super::streaming_download::FetchError;
use crate::browser::http::{self, HttpError, Patience, Response};

/// How much is read when a file is opened, unless only its beginning is wanted: most files are no longer.
pub const HEAD: u64 = 256 << 10;

/// An open file.
pub struct RangedFile {
    name: String,
    url: String,
    size: u64,
    /// Its version when it was opened.
    version: Option<String>,
    /// Its beginning, until something else is read.
    head: RefCell<Vec<u8>>,
}

impl RangedFile {
    /// Opens a file: reads its size and its first `head` bytes, which must not be 0.
    pub async fn open(name: &str, url: &str, head: u64) -> Result<RangedFile, FetchError> {
        let response = request(url, 0..head).await?;
        let (size, head) = match response.status() {
            206 => {
                let size = size_of(&response).ok_or(FetchError::Status { status: 206 })?;
                (size, 0..size.min(head))
            }
            // An empty file has no range.
            416 if size_of(&response) == Some(0) => (0, 0..0),
            status => return Err(FetchError::Status { status }),
        };
        let version = response.header("etag");
        let bytes = match head.is_empty() {
            true => Vec::new(),
            false => body(response, &head).await?,
        };
        Ok(RangedFile {
            name: name.to_owned(),
            url: url.to_owned(),
            size,
            version,
            head: RefCell::new(bytes),
        })
    }

    /// Its path, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its size in bytes, when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads a range.
    pub async fn slice(&self, range: Range<u64>) -> Result<Vec<u8>, String> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(bytes) = self.of_head(&range) {
            return Ok(bytes);
        }
        self.head.take();
        let response = request(&self.url, range.clone()).await;
        let response = response.map_err(|error| error.to_string())?;
        match response.status() {
            206 => {}
            404 => return Err("It was deleted.".to_owned()),
            416 => return Err(self.changed()),
            status => return Err(FetchError::Status { status }.to_string()),
        }
        let is_same = response.header("etag") == self.version;
        if !is_same && size_of(&response).is_none_or(|size| size <= self.size) {
            return Err(self.changed());
        }
        let bytes = body(response, &range).await;
        bytes.map_err(|_| self.changed())
    }

    /// Drops its beginning.
    pub fn release(&self) {
        self.head.take();
    }

    fn of_head(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let head = self.head.borrow();
        let (start, end) = (
            usize::try_from(range.start).ok()?,
            usize::try_from(range.end).ok()?,
        );
        head.get(start..end).map(<[u8]>::to_vec)
    }

    fn changed(&self) -> String {
        format!("{} was changed since it was opened.", self.name)
    }
}

async fn request(url: &str, range: Range<u64>) -> Result<Response, HttpError> {
    let request = http::Request {
        method: "GET",
        url: url.to_owned(),
        headers: vec![("Range", format!("bytes={}-{}", range.start, range.end - 1))],
        own_cookies: true,
        ..http::Request::default()
    };
    http::send(&request, Patience::of(Duration::from_secs(60))).await
}

/// The size of the whole file, of whose range this is.
fn size_of(response: &Response) -> Option<u64> {
    let range = response.header("content-range")?;
    range.rsplit_once('/')?.1.parse().ok()
}

/// The bytes of a range, no more and no less.
async fn body(mut response: Response, range: &Range<u64>) -> Result<Vec<u8>, FetchError> {
    let size = range.end - range.start;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    while let Some(piece) = response.piece().await? {
        bytes.extend_from_slice(&piece);
    }
    let received = bytes.len() as u64;
    match received == size {
        true => Ok(bytes),
        false => Err(FetchError::Length { received, size }),
    }
}
