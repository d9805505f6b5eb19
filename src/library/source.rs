//! Files that are read in ranges and never held as a whole.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use futures_util::future::{LocalBoxFuture, try_join_all};
use volary_core::json::Text;
use volary_core::random::stable_hash;
use volary_trajectory::import::fields::FieldMapping;

/// A file that can be read in ranges.
pub trait Source {
    /// The path, as far as it is known.
    fn name(&self) -> Text;

    /// The size in bytes.
    fn size(&self) -> u64;

    /// Reads a range. The read starts with the call, not with the first poll. The error is a message for the user.
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>>;

    /// This file with others after it, under the name of this one. `None` if they cannot be read as one file.
    fn followed_by(&self, _others: &[Rc<dyn Source>]) -> Option<Rc<dyn Source>> {
        None
    }

    /// Allows downcasts to a concrete type.
    fn as_any(&self) -> &dyn Any;

    /// Whether the file is being written to, so that it will soon be read again.
    fn is_growing(&self) -> bool {
        false
    }

    /// Says that it is read from this offset on, in ranges that follow each other, until [`Source::release`]: more than is
    /// asked for may be fetched.
    fn read_through(&self, _start: u64) {}

    /// Drops bytes that were read ahead.
    fn release(&self) {}

    /// Whether it may be read as often as needed, so that its contents need not be kept.
    fn can_be_read_again(&self) -> bool {
        false
    }
}

/// The number of bytes at either end of a file that identify it.
const LOOKED_AT: u64 = 1 << 16;

/// A digest of the size and the start, which distinguishes most files, even before their end has arrived.
pub async fn start_of(source: &dyn Source) -> Result<Text, String> {
    let size = source.size();
    let start = source.read(0..size.min(LOOKED_AT)).await?;
    Ok(digest(start.into_iter().chain(size.to_le_bytes())))
}

/// A digest of the end, which distinguishes files with the same start.
pub async fn end_of(source: &dyn Source) -> Result<Text, String> {
    let size = source.size();
    let end = source.read(size.saturating_sub(LOOKED_AT)..size).await?;
    Ok(digest(end))
}

/// A digest of a range.
pub async fn digest_of(source: &dyn Source, range: Range<u64>) -> Result<Text, String> {
    source.read(range).await.map(digest)
}

fn digest(bytes: impl IntoIterator<Item = u8>) -> Text {
    format!("{:016x}", stable_hash(bytes)).into()
}

/// Several files, read as one under the name of the first.
pub struct JoinedSource {
    files: Vec<Rc<dyn Source>>,
}

impl JoinedSource {
    /// Joins files, in this order.
    pub fn of(files: Vec<Rc<dyn Source>>) -> JoinedSource {
        JoinedSource { files }
    }

    /// The parts of a range: each file with the range in it.
    fn parts(&self, range: &Range<u64>) -> Vec<(&Rc<dyn Source>, Range<u64>)> {
        let mut start = 0;
        let mut parts = Vec::new();
        for file in &self.files {
            let end = start + file.size();
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                parts.push((file, from - start..to - start));
            }
            start = end;
        }
        parts
    }
}

impl Source for JoinedSource {
    fn name(&self) -> Text {
        self.files
            .first()
            .map(|file| file.name())
            .unwrap_or_default()
    }

    fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size()).sum()
    }

    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
        let parts = self.parts(&range).into_iter();
        let mut parts: Vec<_> = parts.map(|(file, part)| file.read(part)).collect();
        if parts.len() == 1 {
            return parts.remove(0);
        }
        Box::pin(async {
            let mut bytes = Vec::new();
            for part in parts {
                bytes.extend(part.await?);
            }
            Ok(bytes)
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_growing(&self) -> bool {
        self.files.iter().any(|file| file.is_growing())
    }

    fn read_through(&self, start: u64) {
        let parts = self.parts(&(start..self.size()));
        if let Some((file, part)) = parts.first() {
            file.read_through(part.start);
        }
    }

    fn release(&self) {
        self.files.iter().for_each(|file| file.release());
    }

    fn can_be_read_again(&self) -> bool {
        self.files.iter().all(|file| file.can_be_read_again())
    }
}

/// A read-ahead buffer: reads a file in larger pieces than requested, because the next range usually follows.
pub struct Window {
    source: Rc<dyn Source>,
    held: RefCell<(u64, Vec<u8>)>,
    /// The size of the last piece.
    piece: Cell<u64>,
    /// The size that pieces grow to.
    largest: u64,
    /// The mapping by which the file is read, if no reader knows it.
    fields: Option<FieldMapping>,
}

/// The largest piece in bytes…
const PIECE: u64 = 4 << 20;
/// …which sequential reads grow to from this size. The first pieces are smaller, because the file may still be
/// downloading.
const FIRST_PIECE: u64 = 1 << 18;

impl Window {
    /// Creates an empty buffer for a file.
    pub fn on(source: Rc<dyn Source>) -> Window {
        Window {
            source,
            held: RefCell::default(),
            piece: Cell::new(0),
            largest: PIECE,
            fields: None,
        }
    }

    /// The same, with pieces of at most this size.
    pub fn with_pieces_of(mut self, largest: u64) -> Window {
        self.largest = largest;
        self
    }

    /// The same, on a file that is read by a mapping.
    pub fn read_by(mut self, fields: Option<FieldMapping>) -> Window {
        self.fields = fields;
        self
    }

    /// The mapping by which the file is read, if it is.
    pub fn fields(&self) -> Option<&FieldMapping> {
        self.fields.as_ref()
    }

    /// The file.
    pub fn source(&self) -> &Rc<dyn Source> {
        &self.source
    }

    /// Reads a range of the file.
    pub async fn read(&self, range: Range<u64>) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.known(&range) {
            return Ok(bytes);
        }
        if range.end - range.start >= PIECE {
            // A buffered piece of this size would be held twice.
            let length = range.end - range.start;
            let bytes = self.source.read(range).await?;
            let is_whole = bytes.len() as u64 == length;
            return is_whole.then_some(bytes).ok_or_else(|| self.shorter());
        }
        let more = self.piece.get().saturating_mul(2);
        let length = match self.reaches(range.start) {
            true => more.clamp(FIRST_PIECE, self.largest),
            false => FIRST_PIECE,
        };
        self.piece.set(length);
        let end = range.start.saturating_add(length).max(range.end);
        let piece = range.start..end.min(self.source.size());
        let bytes = self.source.read(piece).await?;
        self.held.replace((range.start, bytes));
        self.known(&range).ok_or_else(|| self.shorter())
    }

    /// Fills the buffer with bytes that were read otherwise; `start` is their offset.
    pub fn hold(&self, start: u64, bytes: Vec<u8>) {
        self.held.replace((start, bytes));
    }

    /// Whether the buffer has the byte at an offset, or ends there.
    fn reaches(&self, offset: u64) -> bool {
        let (start, bytes) = &*self.held.borrow();
        (*start..=start + bytes.len() as u64).contains(&offset)
    }

    fn shorter(&self) -> String {
        let name = self.source.name();
        format!("{name} is shorter than when it was first read.")
    }

    fn known(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let (start, bytes) = &*self.held.borrow();
        let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
        bytes.get(from..to).map(<[u8]>::to_vec)
    }
}

/// Read-ahead buffers for several places of a file that are read in turn, such as the columns of a table.
pub struct WindowPool {
    source: Rc<dyn Source>,
    /// The last used one is last.
    windows: Vec<Window>,
}

impl WindowPool {
    /// The maximum number of buffers…
    const MOST: usize = 16;
    /// …and that of bytes in each of them.
    const LARGEST: u64 = 1 << 19;

    /// Creates empty buffers for a file.
    pub fn on(source: Rc<dyn Source>) -> WindowPool {
        WindowPool {
            source,
            windows: Vec::new(),
        }
    }

    /// Reads ranges of the file, those in different places at once.
    pub async fn read(&mut self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, String> {
        let mut parts = Vec::with_capacity(ranges.len());
        for ranges in ranges.chunks(Self::MOST) {
            let reads = self.places(ranges).into_iter().map(Place::read);
            let mut read = Vec::with_capacity(ranges.len());
            for (window, parts) in try_join_all(reads).await? {
                self.windows.push(window);
                read.extend(parts);
            }
            let excess = self.windows.len().saturating_sub(Self::MOST);
            self.windows.drain(..excess);
            read.sort_by_key(|(number, _)| *number);
            parts.extend(read.into_iter().map(|(_, bytes)| bytes));
        }
        Ok(parts)
    }

    /// Groups ranges by the buffers that have them, or will have them after a first read.
    fn places(&mut self, ranges: &[Range<u64>]) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for (number, range) in ranges.iter().cloned().enumerate() {
            if let Some(place) = places.iter_mut().find(|place| place.has(range.start)) {
                place.ranges.push((number, range));
                continue;
            }
            let mut windows = self.windows.iter();
            let window = match windows.position(|window| window.reaches(range.start)) {
                Some(place) => self.windows.remove(place),
                None => Window::on(Rc::clone(&self.source)).with_pieces_of(Self::LARGEST),
            };
            places.push(Place {
                window,
                ranges: vec![(number, range)],
            });
        }
        places
    }
}

/// A buffer, and the ranges to read with it, each with its number.
struct Place {
    window: Window,
    ranges: Vec<(usize, Range<u64>)>,
}

impl Place {
    fn has(&self, offset: u64) -> bool {
        let after_first = self
            .ranges
            .first()
            .and_then(|(_, range)| offset.checked_sub(range.start));
        self.window.reaches(offset) || after_first.is_some_and(|bytes| bytes < FIRST_PIECE)
    }

    async fn read(self) -> Result<(Window, Vec<(usize, Vec<u8>)>), String> {
        let Place { window, ranges } = self;
        let mut parts = Vec::with_capacity(ranges.len());
        for (number, range) in ranges {
            parts.push((number, window.read(range).await?));
        }
        Ok((window, parts))
    }
}

/// A read starts with the first poll.
impl Source for Window {
    fn name(&self) -> Text {
        self.source.name()
    }

    fn size(&self) -> u64 {
        self.source.size()
    }

    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
        Box::pin(Window::read(self, range))
    }

    fn as_any(&self) -> &dyn Any {
        self.source.as_any()
    }

    fn is_growing(&self) -> bool {
        self.source.is_growing()
    }

    fn read_through(&self, start: u64) {
        self.source.read_through(start);
    }

    fn release(&self) {
        self.held.take();
        self.source.release();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// A source that records the ranges read from it.
    struct Noted {
        bytes: Vec<u8>,
        read: RefCell<Vec<Range<u64>>>,
    }

    impl Source for Noted {
        fn name(&self) -> Text {
            "noted".into()
        }

        fn size(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>> {
            self.read.borrow_mut().push(range.clone());
            let bytes = &self.bytes[range.start as usize..range.end as usize];
            std::future::ready(Ok(bytes.to_vec())).boxed_local()
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    impl Noted {
        /// The number of bytes that were read.
        fn length(&self) -> u64 {
            let read = self.read.borrow();
            read.iter().map(|range| range.end - range.start).sum()
        }
    }

    #[test]
    fn joined_files_are_read_as_one() {
        let file = |bytes: &[u8]| -> Rc<dyn Source> {
            Rc::new(Noted {
                bytes: bytes.to_vec(),
                read: RefCell::default(),
            })
        };
        let joined = JoinedSource::of(vec![file(b"abc"), file(b""), file(b"defg"), file(b"h")]);
        assert_eq!(joined.size(), 8);
        for start in 0..8 {
            for end in start..=8 {
                let read = joined.read(start..end).now_or_never().unwrap().unwrap();
                assert_eq!(read, b"abcdefgh"[start as usize..end as usize]);
            }
        }
    }

    #[test]
    fn a_window_grows_with_sequential_reads_and_restarts_after_a_jump() {
        let bytes: Vec<u8> = (0..12 << 20).map(|place: u32| (place >> 9) as u8).collect();
        let source = Rc::new(Noted {
            bytes: bytes.clone(),
            read: RefCell::default(),
        });
        let window = Window::on(Rc::clone(&source) as Rc<dyn Source>);
        let read = |range: Range<u64>| {
            let read = window.read(range.clone()).now_or_never().unwrap().unwrap();
            assert_eq!(read, bytes[range.start as usize..range.end as usize]);
        };
        let step = 50_000;
        for place in 0..200 {
            read(place * step..(place + 1) * step);
        }
        read(0..10);
        let lengths: Vec<u64> = source
            .read
            .take()
            .iter()
            .map(|range| range.end - range.start)
            .collect();
        let (last, forward) = lengths.split_last().unwrap();
        assert_eq!(*last, FIRST_PIECE);
        assert!(lengths.len() < 10, "{lengths:?}");
        assert_eq!(forward.first(), Some(&FIRST_PIECE));
        assert!(forward.contains(&PIECE), "{lengths:?}");
        // Bytes in the buffer are not read again.
        window.hold(100, vec![7; 50]);
        assert_eq!(
            window.read(110..120).now_or_never().unwrap(),
            Ok(vec![7; 10])
        );
        assert!(source.read.borrow().is_empty());
        window.release();
        read(110..120);
        assert_eq!(source.read.borrow().len(), 1);
    }

    #[test]
    fn columns_that_are_read_in_turn_are_read_once() {
        let size = 4 << 20;
        let bytes: Vec<u8> = (0..size).map(|at: u32| (at % 251) as u8).collect();
        let source = Rc::new(Noted {
            bytes: bytes.clone(),
            read: RefCell::default(),
        });
        let mut pool = WindowPool::on(Rc::clone(&source) as Rc<dyn Source>);
        let (columns, cell) = (8, 16 << 10);
        let column = u64::from(size) / columns;
        for row in 0..column / cell {
            let cells = (0..columns).map(|number| number * column + row * cell);
            let cells: Vec<_> = cells.map(|at| at..at + cell).collect();
            let read = pool.read(&cells).now_or_never().unwrap().unwrap();
            for (cell, read) in cells.into_iter().zip(read) {
                assert_eq!(read, bytes[cell.start as usize..cell.end as usize]);
            }
        }
        assert!(source.length() <= u64::from(size) * 2);
    }

    #[test]
    fn ranges_of_one_place_are_read_once_and_in_their_order() {
        let bytes: Vec<u8> = (0..2 << 20).map(|at: u32| (at % 251) as u8).collect();
        let source = Rc::new(Noted {
            bytes: bytes.clone(),
            read: RefCell::default(),
        });
        let mut pool = WindowPool::on(Rc::clone(&source) as Rc<dyn Source>);
        // Two places, each with ranges beside one another, and more ranges than buffers.
        let ranges: Vec<_> = (0..50)
            .map(|number| (number % 2) * (1 << 20) + number * 100)
            .map(|at| at..at + 90)
            .collect();
        let read = pool.read(&ranges).now_or_never().unwrap().unwrap();
        for (range, read) in ranges.into_iter().zip(read) {
            assert_eq!(read, bytes[range.start as usize..range.end as usize]);
        }
        assert_eq!(source.length(), 2 * FIRST_PIECE);
        assert_eq!(pool.windows.len(), 2);
        assert_eq!(pool.read(&[]).now_or_never().unwrap(), Ok(Vec::new()));
    }
}
