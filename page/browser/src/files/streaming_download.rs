//! A download that can be read while it is in progress. A range far ahead is requested separately, if the server
//! supports range requests: packed files have their directory at the end.
//!
//! Invariants: a download stays little ahead of its readers ([`backpressure`]), and only its last chunks are in
//! this program's memory ([`received`]). Dropping it, or [`StreamingDownload::stop`], aborts the request.

mod backpressure;
mod error;
mod range_requests;
mod received;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{AbortHandle, Either, abortable, select};
use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

pub use self::error::FetchError;
use self::range_requests::RangeRequests;
use self::received::{RangeLocation, Received};
use super::GivenFile;
use crate::http::{self, HttpError};
use crate::js_error::text_of;

/// Larger files, in bytes, are not downloaded: they would fill the disk without consent.
pub const LARGEST: u64 = 2 << 30;
/// Ranges that start further ahead than this many bytes are requested separately…
const AHEAD: u64 = 1 << 20;
/// …unless they are longer than this.
const MOST_AHEAD: u64 = 8 << 20;

pub struct StreamingDownload {
    name: String,
    size: u64,
    /// `Some` if the server supports range requests.
    parts: Option<RangeRequests>,
    received: Rc<RefCell<Received>>,
    request: RefCell<Option<AbortHandle>>,
    /// Whether it is read while in progress.
    is_followed: Cell<bool>,
}

/// The timeout for a server that sends nothing.
fn timeout() -> http::Timeouts {
    http::Timeouts::of(Duration::from_secs(60))
}

impl StreamingDownload {
    /// Starts a download. If the server does not announce the length, all of it is received first. `progress`
    /// is called with the number of bytes received and the total, until the download is read.
    pub async fn begin(
        name: &str,
        url: &str,
        progress: impl Fn(u64, Option<u64>) + 'static,
    ) -> Result<Rc<StreamingDownload>, FetchError> {
        let request = http::Request {
            method: "GET",
            url: url.to_owned(),
            own_cookies: true,
            ..http::Request::default()
        };
        let mut response = http::send(&request, timeout()).await?;
        let status = response.status();
        if !(200..300).contains(&status) {
            return Err(FetchError::Status { status });
        }
        // The header of a compressed response would be the compressed length.
        let is_packed = response.header("content-encoding").is_some();
        let length = response.header("content-length").filter(|_| !is_packed);
        let length: Option<u64> = length.and_then(|length| length.parse().ok());
        if length.is_some_and(|length| length > LARGEST) {
            return Err(FetchError::TooLarge);
        }
        let received = Rc::new(RefCell::new(Received::default()));
        let parts = RangeRequests::offered(url, &response).filter(|_| !is_packed);
        let download = |size, received| {
            Rc::new(StreamingDownload {
                name: name.to_owned(),
                size,
                parts,
                received,
                request: RefCell::default(),
                is_followed: Cell::new(false),
            })
        };
        let Some(size) = length else {
            while let Some(piece) = response.raw_piece().await? {
                let length = received.borrow_mut().push(piece)?;
                progress(length, None);
            }
            let length = received.borrow().length();
            received.borrow_mut().finish(name, length);
            return Ok(download(length, received));
        };
        let download = download(size, received);
        let weak = Rc::downgrade(&download);
        let received = Rc::clone(&download.received);
        let (request, abort) = abortable(async move {
            loop {
                poll_fn(|context| received.borrow_mut().poll_wanted(context.waker())).await;
                let piece = response.raw_piece().await;
                let Some(file) = weak.upgrade() else { return };
                if file.take(piece) {
                    return;
                }
                if !file.is_followed.get() {
                    progress(file.received.borrow().length(), Some(size));
                }
            }
        });
        download.request.replace(Some(abort));
        crate::spawn(async move {
            // Dropping the download aborts this future.
            let _ = request.await;
        });
        Ok(download)
    }

    /// Adds a chunk; returns whether it was the last one.
    fn take(&self, piece: Result<Option<Uint8Array>, HttpError>) -> bool {
        let mut received = self.received.borrow_mut();
        match piece {
            Ok(Some(piece)) => {
                if let Err(error) = received.push(piece) {
                    received.end(Err(error));
                }
            }
            Ok(None) => received.finish(&self.name, self.size),
            Err(error) => received.end(Err(error.into())),
        }
        received.is_over()
    }

    /// Aborts the request. The bytes received so far can still be read.
    pub fn stop(&self) {
        if let Some(request) = self.request.take() {
            request.abort();
        }
        self.received.borrow_mut().stop();
    }

    /// Waits until everything was received, and returns the file.
    pub async fn whole(&self) -> Result<GivenFile, FetchError> {
        self.received.borrow_mut().want(u64::MAX);
        poll_fn(|context| self.received.borrow_mut().poll_whole(context.waker())).await
    }

    /// The error of the download, if it failed.
    pub fn failure(&self) -> Option<FetchError> {
        self.received.borrow().failure()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Waits until a range was received, and returns its bytes.
    pub async fn slice(&self, range: Range<u64>) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.ahead(&range).await {
            return Ok(bytes);
        }
        let length = range.end - range.start;
        let found = self.bytes(&range).await?;
        if range.start > 0 && range.end < self.size {
            self.is_followed.set(true);
        }
        match found {
            RangeLocation::Here(bytes) => Ok(bytes),
            RangeLocation::In(blob, start) => {
                let said = |error: JsValue| text_of(&error);
                let (start, end) = (start as f64, (start + length) as f64);
                let slice = blob.slice_with_f64_and_f64(start, end).map_err(said)?;
                let buffer = JsFuture::from(slice.array_buffer()).await.map_err(said)?;
                Ok(Uint8Array::new(&buffer).to_vec())
            }
        }
    }

    /// Returns a range far ahead, if a range request responds before the download reaches it.
    async fn ahead(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let received = self.received.borrow().length();
        let is_far = range.start > received + AHEAD && !range.is_empty();
        let is_far = is_far && range.end - range.start <= MOST_AHEAD;
        let parts = self.parts.as_ref().filter(|_| is_far)?;
        let part = parts.part(range, self.size);
        // The download may reach the range first, or fail.
        match select(pin!(part), pin!(self.bytes(range))).await {
            Either::Left((part, _)) => part,
            Either::Right(_) => None,
        }
    }

    /// Waits until a range was received, and returns where its bytes are.
    async fn bytes(&self, range: &Range<u64>) -> Result<RangeLocation, String> {
        self.received.borrow_mut().want(range.end);
        poll_fn(|context| {
            self.received
                .borrow_mut()
                .poll_bytes(range, context.waker())
        })
        .await
    }
}

impl Drop for StreamingDownload {
    fn drop(&mut self) {
        self.stop();
    }
}
