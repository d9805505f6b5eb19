//! The received part of a download.
//!
//! Invariant: only the last chunks are in wasm memory; the browser holds the others, and may put them on disk.

use std::ops::Range;
use std::task::{Poll, Waker};

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use web_sys::Blob;

use super::super::GivenFile;
use super::LARGEST;
use super::backpressure::Backpressure;
use super::error::FetchError;
use crate::browser::worker_client::text_of;

/// The maximum number of bytes in wasm memory…
const HELD: u64 = 8 << 20;
/// …and the minimum number that is passed to the browser at once.
const STORED: u64 = 4 << 20;

/// The received chunks and the waiting readers.
#[derive(Default)]
pub struct Received {
    /// Contiguous from the first byte on; empty once the whole file replaces them.
    pieces: Vec<Piece>,
    length: u64,
    /// The number of bytes in wasm memory.
    held: u64,
    backpressure: Backpressure,
    end: Option<Result<GivenFile, FetchError>>,
    /// Futures that wait for more data, or for permission to receive more.
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

pub enum RangeLocation {
    /// The bytes themselves.
    Here(Vec<u8>),
    /// The blob that holds them, and their offset in it.
    In(Blob, u64),
}

impl Received {
    /// The number of bytes received.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether the download is over.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// The error, if the download failed.
    pub fn failure(&self) -> Option<FetchError> {
        self.end.as_ref()?.clone().err()
    }

    /// A reader wants all bytes before `end`.
    pub fn want(&mut self, end: u64) {
        self.backpressure.want(end);
        self.wake();
    }

    /// Ready once more bytes should be received.
    pub fn poll_wanted(&mut self, waker: &Waker) -> Poll<()> {
        match self.backpressure.wants_more(self.length) {
            true => Poll::Ready(()),
            false => self.wait(waker),
        }
    }

    /// Ready once the whole file was received.
    pub fn poll_whole(&mut self, waker: &Waker) -> Poll<Result<GivenFile, FetchError>> {
        match &self.end {
            Some(end) => Poll::Ready(end.clone()),
            None => self.wait(waker),
        }
    }

    /// Ready once a range was received.
    pub fn poll_bytes(
        &mut self,
        range: &Range<u64>,
        waker: &Waker,
    ) -> Poll<Result<RangeLocation, String>> {
        if self.length >= range.end {
            return Poll::Ready(self.find(range));
        }
        match &self.end {
            Some(Err(error)) => Poll::Ready(Err(error.to_string())),
            Some(Ok(_)) => Poll::Ready(Err("The file ends before that.".to_owned())),
            None => self.wait(waker),
        }
    }

    fn wait<T>(&mut self, waker: &Waker) -> Poll<T> {
        self.wakers.push(waker.clone());
        Poll::Pending
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// Adds a chunk and returns the number of bytes received so far.
    pub fn push(&mut self, bytes: Uint8Array) -> Result<u64, FetchError> {
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

    /// Passes the oldest chunks in wasm memory to the browser.
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
        let blob = Blob::new_with_u8_array_sequence(&parts).map_err(|_| FetchError::OutOfSpace)?;
        let end = self.pieces[last].range.end;
        self.held -= end - start;
        let stored = Piece {
            range: start..end,
            bytes: Bytes::Stored(blob),
        };
        self.pieces.splice(first..=last, [stored]);
        Ok(())
    }

    /// Ends the download, with the whole file or an error.
    pub fn end(&mut self, end: Result<GivenFile, FetchError>) {
        self.end = Some(end);
        self.wake();
    }

    /// Ends the download: all bytes were received. A length other than `size` is an error.
    pub fn finish(&mut self, name: &str, size: u64) {
        let received = self.length;
        if received != size {
            return self.end(Err(FetchError::Length { received, size }));
        }
        let parts: Array = self
            .pieces
            .iter()
            .map(|piece| piece.bytes.as_js())
            .collect();
        let file = GivenFile::of_parts(name, &parts).ok_or(FetchError::OutOfSpace);
        self.end(file);
    }

    /// Stops the download; the received bytes can still be read.
    pub fn stop(&mut self) {
        match self.end {
            None => self.end(Err(FetchError::Stopped)),
            // The browser holds the whole file.
            Some(Ok(_)) => self.pieces.clear(),
            Some(Err(_)) => {}
        }
    }

    /// Finds a received range: its bytes if they are in wasm memory, and a blob otherwise.
    fn find(&self, range: &Range<u64>) -> Result<RangeLocation, String> {
        let overlaps =
            |piece: &&Piece| piece.range.start < range.end && range.start < piece.range.end;
        let pieces: Vec<&Piece> = self.pieces.iter().filter(overlaps).collect();
        let Some(first) = pieces.first() else {
            return match &self.end {
                Some(Ok(file)) => Ok(RangeLocation::In(file.as_blob().clone(), range.start)),
                _ => Ok(RangeLocation::Here(Vec::new())),
            };
        };
        let mut bytes = Vec::with_capacity((range.end - range.start) as usize);
        for piece in &pieces {
            let Bytes::Here(held) = &piece.bytes else {
                let parts: Array = pieces.iter().map(|piece| piece.bytes.as_js()).collect();
                let blob = Blob::new_with_u8_array_sequence(&parts);
                let blob = blob.map_err(|error| text_of(&error))?;
                return Ok(RangeLocation::In(blob, range.start - first.range.start));
            };
            let start = range.start.max(piece.range.start) - piece.range.start;
            let end = range.end.min(piece.range.end) - piece.range.start;
            bytes.extend(held.subarray(start as u32, end as u32).to_vec());
        }
        Ok(RangeLocation::Here(bytes))
    }
}
