//! A file from an address, which is read while it comes. What is wanted of it long before it would come is asked for by
//! itself, if the server offers that: packed files say at their end what is in them.
//!
//! What always holds: of what came, only the last pieces are in this program's memory; the others are the browser's,
//! which may put them on a disk. Dropping a file, or [`Arriving::stop`], ends the request.

mod error;
mod parts;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Either, LocalBoxFuture, abortable, select};
use js_sys::{Array, Uint8Array};
use volary_core::json::Text;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

pub use self::error::FetchError;
use self::parts::Parts;
use super::GivenFile;
use crate::library::source::Source;
use crate::shell::http::{self, HttpError};
use crate::shell::worker_link::text_of;

/// Larger ones are not fetched: they would fill the disk unasked.
pub const LARGEST: u64 = 2 << 30;
/// What is further ahead than this is asked for by itself…
const AHEAD: u64 = 1 << 20;
/// …unless it is more than this.
const MOST_AHEAD: u64 = 8 << 20;
/// So much of what came last is held…
const HELD: u64 = 8 << 20;
/// …and the browser gets at least so much at once.
const STORED: u64 = 4 << 20;

/// A file on its way.
pub struct Arriving {
    name: String,
    size: u64,
    /// Where parts of it can be had by themselves.
    parts: Option<Parts>,
    came: Came,
    coming: RefCell<Option<AbortHandle>>,
    /// Whether somebody goes through it while it comes.
    is_followed: Cell<bool>,
}

/// How long a server may say nothing.
fn patience() -> http::Patience {
    http::Patience::of(Duration::from_secs(60))
}

/// What came of it.
type Came = Rc<RefCell<State>>;

#[derive(Default)]
struct State {
    /// Without gaps, from the first byte on; empty once the whole stands for them.
    pieces: Vec<Piece>,
    length: u64,
    /// How many bytes of them are held here.
    held: u64,
    end: Option<Result<GivenFile, FetchError>>,
    wakers: Vec<Waker>,
}

struct Piece {
    range: Range<u64>,
    bytes: Bytes,
}

enum Bytes {
    Here(Uint8Array),
    Stored(Blob),
}

impl Bytes {
    fn as_js(&self) -> &JsValue {
        match self {
            Bytes::Here(bytes) => bytes,
            Bytes::Stored(blob) => blob,
        }
    }
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
        let came = Came::default();
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
            let length = came.borrow().length;
            came.borrow_mut().finish(name, length);
            return Ok(arriving(length, came));
        };
        let arriving = arriving(size, came);
        let weak = Rc::downgrade(&arriving);
        let (coming, abort) = abortable(async move {
            loop {
                let piece = response.raw_piece().await;
                let Some(file) = weak.upgrade() else { return };
                if file.take(piece) {
                    return;
                }
                if !file.is_followed.get() {
                    progress(file.came.borrow().length, Some(size));
                }
            }
        });
        arriving.coming.replace(Some(abort));
        crate::shell::spawn(async move {
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
        came.end.is_some()
    }

    /// Nothing more of it is fetched; what came can still be read.
    pub fn stop(&self) {
        if let Some(coming) = self.coming.take() {
            coming.abort();
        }
        let mut came = self.came.borrow_mut();
        match came.end {
            None => came.end(Err(FetchError::Stopped)),
            // The browser has all of it.
            Some(Ok(_)) => came.pieces.clear(),
            Some(Err(_)) => {}
        }
    }

    /// All of it, once it came.
    pub async fn whole(&self) -> Result<GivenFile, FetchError> {
        poll_fn(|context| {
            let mut came = self.came.borrow_mut();
            match &came.end {
                Some(end) => Poll::Ready(end.clone()),
                None => came.wait(context.waker()),
            }
        })
        .await
    }

    /// Why it did not come, if it is known not to.
    pub fn failure(&self) -> Option<FetchError> {
        let came = self.came.borrow();
        came.end.as_ref().and_then(|end| end.clone().err())
    }

    /// Bytes that would not come for long, if they can be had by themselves before that.
    async fn ahead(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let came = self.came.borrow().length;
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

    /// Waits until bytes of it came. Gives them, or what holds them and where they begin in that.
    async fn bytes(&self, range: &Range<u64>) -> Result<Found, String> {
        poll_fn(|context| {
            let mut came = self.came.borrow_mut();
            if came.length >= range.end {
                return Poll::Ready(came.find(range));
            }
            match &came.end {
                Some(Err(error)) => Poll::Ready(Err(error.to_string())),
                Some(Ok(_)) => Poll::Ready(Err("It ends before that.".to_owned())),
                None => came.wait(context.waker()),
            }
        })
        .await
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Where bytes were found.
enum Found {
    Here(Vec<u8>),
    In(Blob, u64),
}

impl State {
    fn wait<T>(&mut self, waker: &Waker) -> Poll<T> {
        self.wakers.push(waker.clone());
        Poll::Pending
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// Takes the next bytes; gives how many there are now.
    fn push(&mut self, bytes: Uint8Array) -> Result<u64, FetchError> {
        let (start, length) = (self.length, u64::from(bytes.length()));
        self.length += length;
        if self.length > LARGEST {
            return Err(FetchError::TooLarge);
        }
        self.held += length;
        self.pieces.push(Piece {
            range: start..self.length,
            bytes: Bytes::Here(bytes),
        });
        if self.held > HELD {
            self.store()?;
        }
        self.wake();
        Ok(self.length)
    }

    /// Gives the browser what came longest ago.
    fn store(&mut self) -> Result<(), FetchError> {
        let is_here = |piece: &Piece| matches!(piece.bytes, Bytes::Here(_));
        let first = self.pieces.iter().position(is_here).unwrap_or_default();
        let start = self.pieces.get(first).map_or(0, |piece| piece.range.start);
        let is_far = |piece: &Piece| piece.range.end >= start + STORED;
        let last = self.pieces.iter().position(is_far).unwrap_or(first);
        let parts: Array = self.pieces[first..=last]
            .iter()
            .map(|piece| piece.bytes.as_js())
            .collect();
        let blob = Blob::new_with_u8_array_sequence(&parts).map_err(|_| FetchError::NoRoom)?;
        let end = self.pieces[last].range.end;
        self.held -= end - start;
        let stored = Piece {
            range: start..end,
            bytes: Bytes::Stored(blob),
        };
        self.pieces.splice(first..=last, [stored]);
        Ok(())
    }

    fn end(&mut self, end: Result<GivenFile, FetchError>) {
        self.end = Some(end);
        self.wake();
    }

    /// All of it came.
    fn finish(&mut self, name: &str, size: u64) {
        let came = self.length;
        if came != size {
            return self.end(Err(FetchError::Length { came, size }));
        }
        let parts: Array = self
            .pieces
            .iter()
            .map(|piece| piece.bytes.as_js())
            .collect();
        let file = GivenFile::of_parts(name, &parts).ok_or(FetchError::NoRoom);
        self.end(file);
    }

    /// Bytes that came: themselves if they are held here.
    fn find(&self, range: &Range<u64>) -> Result<Found, String> {
        let overlaps =
            |piece: &&Piece| piece.range.start < range.end && range.start < piece.range.end;
        let pieces: Vec<&Piece> = self.pieces.iter().filter(overlaps).collect();
        let Some(first) = pieces.first() else {
            return match &self.end {
                Some(Ok(file)) => Ok(Found::In(file.as_blob().clone(), range.start)),
                _ => Ok(Found::Here(Vec::new())),
            };
        };
        let mut bytes = Vec::with_capacity((range.end - range.start) as usize);
        for piece in &pieces {
            let Bytes::Here(held) = &piece.bytes else {
                let parts: Array = pieces.iter().map(|piece| piece.bytes.as_js()).collect();
                let blob = Blob::new_with_u8_array_sequence(&parts);
                let blob = blob.map_err(|error| text_of(&error))?;
                return Ok(Found::In(blob, range.start - first.range.start));
            };
            let start = range.start.max(piece.range.start) - piece.range.start;
            let end = range.end.min(piece.range.end) - piece.range.start;
            bytes.extend(held.subarray(start as u32, end as u32).to_vec());
        }
        Ok(Found::Here(bytes))
    }
}

impl Source for Arriving {
    fn name(&self) -> Text {
        self.name.as_str().into()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
        async move {
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
        .boxed_local()
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
