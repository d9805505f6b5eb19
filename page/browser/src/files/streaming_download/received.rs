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
use crate::js_error::text_of;

/// The maximum number of bytes in wasm memory…
const HELD: u64 = 8 << 20;
/// …and the minimum number that is passed to the browser at once.
const STORED: u64 = 4 << 20;

/// Holds the chunks: the browser, or a test.
pub trait ChunkMemory {
    /// A chunk in wasm memory.
    type Chunk;
    /// Chunks that the browser holds.
    type Blob: Clone;
    /// The whole file.
    type File: Clone;

    fn length(chunk: &Self::Chunk) -> u64;
    /// The bytes of a chunk in a range.
    fn copy(chunk: &Self::Chunk, range: Range<u64>) -> Vec<u8>;
    /// Passes contiguous chunks to the browser.
    fn join(parts: &[&HeldBytes<Self>]) -> Result<Self::Blob, String>;
    fn file(name: &str, parts: &[&HeldBytes<Self>]) -> Option<Self::File>;
    fn blob_of(file: &Self::File) -> Self::Blob;
}

/// Chunks are JavaScript arrays, and blobs that the browser may put on disk.
pub struct BrowserMemory;

impl ChunkMemory for BrowserMemory {
    type Chunk = Uint8Array;
    type Blob = Blob;
    type File = GivenFile;

    fn length(chunk: &Uint8Array) -> u64 {
        chunk.length().into()
    }

    fn copy(chunk: &Uint8Array, range: Range<u64>) -> Vec<u8> {
        chunk
            .subarray(range.start as u32, range.end as u32)
            .to_vec()
    }

    fn join(parts: &[&HeldBytes<Self>]) -> Result<Blob, String> {
        let blob = Blob::new_with_u8_array_sequence(&list_of(parts));
        blob.map_err(|error| text_of(&error))
    }

    fn file(name: &str, parts: &[&HeldBytes<Self>]) -> Option<GivenFile> {
        GivenFile::of_parts(name, &list_of(parts))
    }

    fn blob_of(file: &GivenFile) -> Blob {
        file.as_blob().clone()
    }
}

fn list_of(parts: &[&HeldBytes<BrowserMemory>]) -> Array {
    let parts = parts.iter().map(|bytes| match bytes {
        HeldBytes::Here(bytes) => JsValue::from(bytes),
        HeldBytes::Stored(blob) => JsValue::from(blob),
    });
    parts.collect()
}

/// The received chunks and the waiting readers.
pub struct Received<M: ChunkMemory = BrowserMemory> {
    /// Contiguous from the first byte on; empty once the whole file replaces them.
    pieces: Vec<Piece<M>>,
    length: u64,
    /// The number of bytes in wasm memory.
    held: u64,
    backpressure: Backpressure,
    end: Option<Result<M::File, FetchError>>,
    /// Futures that wait for more data, or for permission to receive more.
    wakers: Vec<Waker>,
}

struct Piece<M: ChunkMemory> {
    range: Range<u64>,
    bytes: HeldBytes<M>,
}

pub enum HeldBytes<M: ChunkMemory + ?Sized> {
    Here(M::Chunk),
    Stored(M::Blob),
}

pub enum RangeLocation<B = Blob> {
    /// The bytes themselves.
    Here(Vec<u8>),
    /// The blob that holds them, and their offset in it.
    In(B, u64),
}

impl<M: ChunkMemory> Default for Received<M> {
    fn default() -> Self {
        Received {
            pieces: Vec::new(),
            length: 0,
            held: 0,
            backpressure: Backpressure::default(),
            end: None,
            wakers: Vec::new(),
        }
    }
}

impl<M: ChunkMemory> Received<M> {
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
        if self.backpressure.wants_more(self.length) {
            Poll::Ready(())
        } else {
            self.wait(waker)
        }
    }

    /// Ready once the whole file was received.
    pub fn poll_whole(&mut self, waker: &Waker) -> Poll<Result<M::File, FetchError>> {
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
    ) -> Poll<Result<RangeLocation<M::Blob>, String>> {
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
    pub fn push(&mut self, bytes: M::Chunk) -> Result<u64, FetchError> {
        let (start, length) = (self.length, M::length(&bytes));
        self.length += length;
        if self.length > LARGEST {
            return Err(FetchError::TooLarge);
        }
        self.held += length;
        self.pieces.push(Piece {
            range: start..self.length,
            bytes: HeldBytes::Here(bytes),
        });
        if self.held > HELD {
            self.store()?;
        }
        self.wake();
        Ok(self.length)
    }

    /// Passes the oldest chunks in wasm memory to the browser.
    fn store(&mut self) -> Result<(), FetchError> {
        let is_here = |piece: &Piece<M>| matches!(piece.bytes, HeldBytes::Here(_));
        let first = self.pieces.iter().position(is_here).unwrap_or_default();
        let start = self.pieces.get(first).map_or(0, |piece| piece.range.start);
        let is_far = |piece: &Piece<M>| piece.range.end >= start + STORED;
        let last = self.pieces.iter().position(is_far).unwrap_or(first);
        let blob = M::join(&bytes_of(&self.pieces[first..=last]));
        let blob = blob.map_err(|_| FetchError::OutOfSpace)?;
        let end = self.pieces[last].range.end;
        self.held -= end - start;
        let stored = Piece {
            range: start..end,
            bytes: HeldBytes::Stored(blob),
        };
        self.pieces.splice(first..=last, [stored]);
        Ok(())
    }

    /// Ends the download, with the whole file or an error.
    pub fn end(&mut self, end: Result<M::File, FetchError>) {
        self.end = Some(end);
        self.wake();
    }

    /// Ends the download: all bytes were received. A length other than `size` is an error.
    pub fn finish(&mut self, name: &str, size: u64) {
        let received = self.length;
        if received != size {
            return self.end(Err(FetchError::Length { received, size }));
        }
        let file = M::file(name, &bytes_of(&self.pieces)).ok_or(FetchError::OutOfSpace);
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
    fn find(&self, range: &Range<u64>) -> Result<RangeLocation<M::Blob>, String> {
        let overlaps =
            |piece: &&Piece<M>| piece.range.start < range.end && range.start < piece.range.end;
        let pieces: Vec<&Piece<M>> = self.pieces.iter().filter(overlaps).collect();
        let Some(first) = pieces.first() else {
            return match &self.end {
                Some(Ok(file)) => Ok(RangeLocation::In(M::blob_of(file), range.start)),
                _ => Ok(RangeLocation::Here(Vec::new())),
            };
        };
        let mut bytes = Vec::with_capacity((range.end - range.start) as usize);
        for piece in &pieces {
            let HeldBytes::Here(held) = &piece.bytes else {
                let blob = M::join(&bytes_of(pieces.iter().copied()))?;
                return Ok(RangeLocation::In(blob, range.start - first.range.start));
            };
            let start = range.start.max(piece.range.start) - piece.range.start;
            let end = range.end.min(piece.range.end) - piece.range.start;
            bytes.extend(M::copy(held, start..end));
        }
        Ok(RangeLocation::Here(bytes))
    }
}

fn bytes_of<'a, M: ChunkMemory + 'a>(
    pieces: impl IntoIterator<Item = &'a Piece<M>>,
) -> Vec<&'a HeldBytes<M>> {
    pieces.into_iter().map(|piece| &piece.bytes).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A memory that knows only which bytes of the file something has. The byte at an offset is the offset, cut to a byte.
    struct Offsets;

    impl ChunkMemory for Offsets {
        type Chunk = Range<u64>;
        type Blob = Range<u64>;
        type File = Range<u64>;

        fn length(chunk: &Range<u64>) -> u64 {
            chunk.end - chunk.start
        }

        fn copy(chunk: &Range<u64>, range: Range<u64>) -> Vec<u8> {
            assert!(range.end <= Self::length(chunk));
            bytes_at(&(chunk.start + range.start..chunk.start + range.end))
        }

        fn join(parts: &[&HeldBytes<Self>]) -> Result<Range<u64>, String> {
            let ranges = parts.iter().map(|part| match part {
                HeldBytes::Here(range) | HeldBytes::Stored(range) => range,
            });
            let ranges: Vec<&Range<u64>> = ranges.collect();
            let are_contiguous = ranges.windows(2).all(|two| two[0].end == two[1].start);
            assert!(are_contiguous, "{ranges:?}");
            Ok(ranges[0].start..ranges[ranges.len() - 1].end)
        }

        fn file(_: &str, parts: &[&HeldBytes<Self>]) -> Option<Range<u64>> {
            Self::join(parts).ok()
        }

        fn blob_of(file: &Range<u64>) -> Range<u64> {
            file.clone()
        }
    }

    fn bytes_at(range: &Range<u64>) -> Vec<u8> {
        range.clone().map(|offset| offset as u8).collect()
    }

    /// Receives chunks of these lengths.
    fn received(lengths: &[u64]) -> Received<Offsets> {
        let mut received = Received::default();
        for length in lengths {
            let start = received.length();
            assert_eq!(received.push(start..start + length), Ok(start + length));
        }
        received
    }

    /// Reads a range; `None` while it has not arrived.
    fn read(
        received: &mut Received<Offsets>,
        range: Range<u64>,
    ) -> Option<Result<Vec<u8>, String>> {
        match received.poll_bytes(&range, Waker::noop()) {
            Poll::Pending => None,
            Poll::Ready(found) => Some(found.map(|found| match found {
                RangeLocation::Here(bytes) => bytes,
                RangeLocation::In(blob, offset) => {
                    let start = blob.start + offset;
                    let end = start + (range.end - range.start);
                    assert!(end <= blob.end, "the blob ends before that");
                    bytes_at(&(start..end))
                }
            })),
        }
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_range_is_read_once_all_of_it_arrived() {
        let mut received = received(&[10, 10]);
        assert_eq!(read(&mut received, 5..15), Some(Ok(bytes_at(&(5..15)))));
        assert_eq!(read(&mut received, 20..20), Some(Ok(Vec::new())));
        assert_eq!(read(&mut received, 15..21), None);
        assert_eq!(received.push(20..30), Ok(30));
        assert_eq!(read(&mut received, 15..21), Some(Ok(bytes_at(&(15..21)))));
    }

    #[test]
    fn only_the_last_chunks_stay_in_memory() {
        let mut received = received(&[MIB; 100]);
        assert!(received.held <= HELD);
        // Those that the browser holds, and those here, are read together.
        for start in [0, 3 * MIB - 2, 91 * MIB - 2, 99 * MIB] {
            let range = start..start + 5;
            let expected = Some(Ok(bytes_at(&range)));
            assert_eq!(read(&mut received, range), expected);
        }
    }

    #[test]
    fn a_download_that_ends_early_says_how_much_is_missing() {
        let mut received = received(&[10]);
        received.finish("a.jsonl", 12);
        let length = FetchError::Length {
            received: 10,
            size: 12,
        };
        assert_eq!(received.failure(), Some(length.clone()));
        assert_eq!(read(&mut received, 0..10), Some(Ok(bytes_at(&(0..10)))));
        assert_eq!(read(&mut received, 8..12), Some(Err(length.to_string())));
        assert_eq!(received.poll_whole(Waker::noop()), Poll::Ready(Err(length)));
    }

    #[test]
    fn a_stopped_download_can_be_read_as_far_as_it_came() {
        let mut one = received(&[10]);
        one.stop();
        assert!(one.is_over());
        assert_eq!(read(&mut one, 2..4), Some(Ok(vec![2, 3])));
        assert_eq!(read(&mut one, 2..11), Some(Err("Cancelled.".to_owned())));
        // Stopping a finished one changes nothing for its readers: the browser holds the file.
        let mut whole = received(&[10, 5]);
        whole.finish("a.jsonl", 15);
        whole.stop();
        assert_eq!(whole.failure(), None);
        assert_eq!(read(&mut whole, 9..11), Some(Ok(vec![9, 10])));
        let beyond = Some(Err("The file ends before that.".to_owned()));
        assert_eq!(read(&mut whole, 9..16), beyond);
        // A failure is not replaced by a cancellation.
        let mut failed = received(&[10]);
        failed.end(Err(FetchError::OutOfSpace));
        failed.stop();
        assert_eq!(failed.failure(), Some(FetchError::OutOfSpace));
    }

    #[test]
    fn a_file_that_fills_the_disk_is_not_received() {
        let mut received = received(&[LARGEST]);
        assert_eq!(
            received.push(LARGEST..LARGEST + 1),
            Err(FetchError::TooLarge)
        );
    }

    #[test]
    fn what_waits_is_woken_by_data_readers_and_the_end() {
        let (waker, woken) = counting_waker();
        let mut received = received(&[MIB]);
        assert!(received.poll_bytes(&(0..2 * MIB), &waker).is_pending());
        assert!(received.poll_whole(&waker).is_pending());
        assert_eq!(received.push(MIB..2 * MIB), Ok(2 * MIB));
        assert_eq!(woken(), 2);
        assert!(
            received.poll_wanted(&waker).is_pending(),
            "nobody reads so fast"
        );
        received.want(2 * MIB);
        assert_eq!(woken(), 3);
        assert_eq!(received.poll_wanted(&waker), Poll::Ready(()));
        assert!(received.poll_bytes(&(0..9 * MIB), &waker).is_pending());
        received.stop();
        assert_eq!(woken(), 4);
    }

    /// A waker, and how often it was woken.
    fn counting_waker() -> (Waker, impl Fn() -> usize) {
        struct Count(std::sync::atomic::AtomicUsize);
        impl std::task::Wake for Count {
            fn wake(self: std::sync::Arc<Self>) {
                self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
        let count = std::sync::Arc::new(Count(std::sync::atomic::AtomicUsize::new(0)));
        let waker = Waker::from(std::sync::Arc::clone(&count));
        (waker, move || {
            count.0.load(std::sync::atomic::Ordering::Relaxed)
        })
    }

    proptest! {
        #[test]
        fn every_range_is_read_as_it_was_received(
            lengths in prop::collection::vec(0..3 * MIB, 0..40),
            ranges in prop::collection::vec((0.0..1.0f64, 0u64..300), 1..10),
            is_finished in any::<bool>(),
        ) {
            let mut received = received(&lengths);
            let size: u64 = lengths.iter().sum();
            prop_assert_eq!(received.length(), size);
            prop_assert!(received.held <= HELD);
            if is_finished && size > 0 {
                received.finish("a.jsonl", size);
                received.stop();
            }
            for (start, length) in ranges {
                let start = (size as f64 * start) as u64;
                let range = start..size.min(start + length);
                let expected = Some(Ok(bytes_at(&range)));
                prop_assert_eq!(read(&mut received, range), expected);
            }
        }
    }
}
