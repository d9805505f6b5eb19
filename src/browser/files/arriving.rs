//! A file from an address, which is read while it comes. What is wanted of it long before it would come is asked for by
//! itself, if the server offers that: packed files say at their end what is in them.
//!
//! What always holds: it comes little further than somebody asked for (`pace`), and little of what came is in this program's
//! memory (`came`). Dropping a file, or [`Arriving::stop`], ends the request.

mod came;
mod error;
mod pacing;
mod parts;

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

use self::came::{Came, Found};
pub use self::error::FetchError;
use self::parts::Parts;
use super::GivenFile;
use crate::browser::http::{self, HttpError};
use crate::browser::worker_client::text_of;

/// Larger ones are not fetched: they would fill the disk unasked.
pub const LARGEST: u64 = 2 << 30;
/// What is further ahead than this is asked for by itself…
const AHEAD: u64 = 1 << 20;
/// …unless it is more than this.
const MOST_AHEAD: u64 = 8 << 20;

/// A file on its way.
pub struct Arriving {
    name: String,
    size: u64,
    /// Where parts of it can be had by themselves.
    parts: Option<Parts>,
    came: Rc<RefCell<Came>>,
    coming: RefCell<Option<AbortHandle>>,
    /// Whether somebody goes through it while it comes.
    is_followed: Cell<bool>,
}

/// How long a server may say nothing.
fn patience() -> http::Patience {
    http::Patience::of(Duration::from_secs(60))
}

impl Arriving {
    /// Asks for a file. Where the server does not say how long it is, all of it must come first. `progress` hears how
    /// many bytes came, and of how many, as long as nobody goes through them.
    pub async fn begin(
        name: &str,
        url: &str,
        progress: impl Fn(u64, Option<u64>) + 'static,
    ) -> Result<Rc<Arriving>, FetchError> {
        let request = http::Request {
            method: "GET",
            url: url.to_owned(),
            ..http::Request::default()
        };
        let mut response = http::send(&request, patience()).await?;
        let status = response.status();
        if !(200..300).contains(&status) {
            return Err(FetchError::Status { status });
        }
        // Of a packed reply, it would be the packed length.
        let is_packed = response.header("content-encoding").is_some();
        let length = response.header("content-length").filter(|_| !is_packed);
        let length: Option<u64> = length.and_then(|length| length.parse().ok());
        if length.is_some_and(|length| length > LARGEST) {
            return Err(FetchError::TooLarge);
        }
        let came = Rc::new(RefCell::new(Came::default()));
        let parts = Parts::offered(url, &response).filter(|_| !is_packed);
        let arriving = |size, came| {
            Rc::new(Arriving {
                name: name.to_owned(),
                size,
                parts,
                came,
                coming: RefCell::default(),
                is_followed: Cell::new(false),
            })
        };
        let Some(size) = length else {
            while let Some(piece) = response.raw_piece().await? {
                let length = came.borrow_mut().push(piece)?;
                progress(length, None);
            }
            let length = came.borrow().length();
            came.borrow_mut().finish(name, length);
            return Ok(arriving(length, came));
        };
        let arriving = arriving(size, came);
        let weak = Rc::downgrade(&arriving);
        let came = Rc::clone(&arriving.came);
        let (coming, abort) = abortable(async move {
            loop {
                poll_fn(|context| came.borrow_mut().poll_wanted(context.waker())).await;
                let piece = response.raw_piece().await;
                let Some(file) = weak.upgrade() else { return };
                if file.take(piece) {
                    return;
                }
                if !file.is_followed.get() {
                    progress(file.came.borrow().length(), Some(size));
                }
            }
        });
        arriving.coming.replace(Some(abort));
        crate::browser::spawn(async move {
            // Whoever ends it knows.
            let _ = coming.await;
        });
        Ok(arriving)
    }

    /// Takes what came; whether that was the end.
    fn take(&self, piece: Result<Option<Uint8Array>, HttpError>) -> bool {
        let mut came = self.came.borrow_mut();
        match piece {
            Ok(Some(piece)) => {
                if let Err(error) = came.push(piece) {
                    came.end(Err(error));
                }
            }
            Ok(None) => came.finish(&self.name, self.size),
            Err(error) => came.end(Err(error.into())),
        }
        came.is_over()
    }

    /// Nothing more of it is fetched; what came can still be read.
    pub fn stop(&self) {
        if let Some(coming) = self.coming.take() {
            coming.abort();
        }
        self.came.borrow_mut().stop();
    }

    /// All of it, once it came.
    pub async fn whole(&self) -> Result<GivenFile, FetchError> {
        self.came.borrow_mut().want(u64::MAX);
        poll_fn(|context| self.came.borrow_mut().poll_whole(context.waker())).await
    }

    /// Why it did not come, if it is known not to.
    pub fn failure(&self) -> Option<FetchError> {
        self.came.borrow().failure()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads bytes of it, once they arrived.
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
            Found::Here(bytes) => Ok(bytes),
            Found::In(blob, start) => {
                let said = |error: JsValue| text_of(&error);
                let (start, end) = (start as f64, (start + length) as f64);
                let slice = blob.slice_with_f64_and_f64(start, end).map_err(said)?;
                let buffer = JsFuture::from(slice.array_buffer()).await.map_err(said)?;
                Ok(Uint8Array::new(&buffer).to_vec())
            }
        }
    }

    /// Bytes that would not come for long, if they can be had by themselves before that.
    async fn ahead(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let came = self.came.borrow().length();
        let is_far = range.start > came + AHEAD && !range.is_empty();
        let is_far = is_far && range.end - range.start <= MOST_AHEAD;
        let parts = self.parts.as_ref().filter(|_| is_far)?;
        let part = parts.part(range, self.size);
        // It may come with the others meanwhile, or nothing more may come.
        match select(pin!(part), pin!(self.bytes(range))).await {
            Either::Left((part, _)) => part,
            Either::Right(_) => None,
        }
    }

    /// Waits until bytes of it came.
    async fn bytes(&self, range: &Range<u64>) -> Result<Found, String> {
        self.came.borrow_mut().want(range.end);
        poll_fn(|context| self.came.borrow_mut().poll_bytes(range, context.waker())).await
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.stop();
    }
}
