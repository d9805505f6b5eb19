//! A read-ahead buffer on a file.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use volary_core::json::Text;

use super::{ReadAt, ReadBytes, ReadError};
use crate::import::fields::FieldMapping;

/// A read-ahead buffer: reads a file in larger pieces than requested, because the next range usually follows.
pub struct Window<S: ReadAt + ?Sized = dyn ReadAt> {
    source: Rc<S>,
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
pub(super) const FIRST_PIECE: u64 = 1 << 18;

impl<S: ReadAt + ?Sized> Window<S> {
    /// Creates an empty buffer for a file.
    pub fn on(source: Rc<S>) -> Window<S> {
        Window {
            source,
            held: RefCell::default(),
            piece: Cell::new(0),
            largest: PIECE,
            fields: None,
        }
    }

    /// The same, with pieces of at most this size.
    pub fn with_pieces_of(mut self, largest: u64) -> Window<S> {
        self.largest = largest;
        self
    }

    /// The same, on a file that is read by a mapping.
    pub fn read_by(mut self, fields: Option<FieldMapping>) -> Window<S> {
        self.fields = fields;
        self
    }

    /// The mapping by which the file is read, if it is.
    pub fn fields(&self) -> Option<&FieldMapping> {
        self.fields.as_ref()
    }

    /// The file that is read in ranges.
    pub fn source(&self) -> &Rc<S> {
        &self.source
    }

    /// Reads a range of the file.
    pub async fn read(&self, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
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
        let length = if self.reaches(range.start) {
            more.clamp(FIRST_PIECE, self.largest)
        } else {
            FIRST_PIECE
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

    /// Drops the bytes in the buffer.
    pub fn clear(&self) {
        self.held.take();
    }

    /// Whether the buffer has the byte at an offset, or ends there.
    pub(super) fn reaches(&self, offset: u64) -> bool {
        let (start, bytes) = &*self.held.borrow();
        (*start..=start + bytes.len() as u64).contains(&offset)
    }

    fn shorter(&self) -> ReadError {
        let file = self.source.name();
        ReadError::Shortened { file }
    }

    fn known(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let (start, bytes) = &*self.held.borrow();
        let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(*start)?).ok()?;
        bytes.get(from..to).map(<[u8]>::to_vec)
    }
}

/// A read starts with the first poll.
impl<S: ReadAt + ?Sized> ReadAt for Window<S> {
    fn name(&self) -> Text {
        self.source.name()
    }

    fn size(&self) -> u64 {
        self.source.size()
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        Box::pin(Window::read(self, range))
    }

    fn read_through(&self, start: u64) {
        self.source.read_through(start);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::super::tests::Noted;
    use super::*;

    #[test]
    fn a_window_grows_with_sequential_reads_and_restarts_after_a_jump() {
        let bytes: Vec<u8> = (0..12 << 20).map(|index: u32| (index >> 9) as u8).collect();
        let source = Noted::of(bytes.clone());
        let window = Window::on(Rc::clone(&source) as Rc<dyn ReadAt>);
        let read = |range: Range<u64>| {
            let read = window.read(range.clone()).now_or_never().unwrap().unwrap();
            assert_eq!(read, bytes[range.start as usize..range.end as usize]);
        };
        let step = 50_000;
        for index in 0..200 {
            read(index * step..(index + 1) * step);
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
        window.clear();
        read(110..120);
        assert_eq!(source.read.borrow().len(), 1);
    }

    #[test]
    fn a_large_range_is_not_held_twice() {
        let bytes: Vec<u8> = (0..2 * PIECE).map(|at| (at % 251) as u8).collect();
        let source = Noted::of(bytes.clone());
        let window = Window::on(Rc::clone(&source) as Rc<dyn ReadAt>);
        let read = window.read(5..5 + PIECE).now_or_never().unwrap().unwrap();
        assert_eq!(read, bytes[5..5 + PIECE as usize]);
        assert!(window.held.borrow().1.is_empty());
        let reads = source.read.take();
        assert_eq!(reads, vec![5..5 + PIECE; 1], "no more than asked for");
    }

    #[test]
    fn a_file_that_became_shorter_says_so() {
        let source = Rc::new(Noted {
            bytes: vec![1; 10],
            size: 3 * PIECE,
            read: RefCell::default(),
        });
        let window = Window::on(source);
        let shorter = Err(ReadError::Shortened {
            file: "noted".into(),
        });
        assert_eq!(window.read(0..10).now_or_never().unwrap(), Ok(vec![1; 10]));
        assert_eq!(window.read(5..11).now_or_never().unwrap(), shorter);
        assert_eq!(window.read(100..101).now_or_never().unwrap(), shorter);
        assert_eq!(window.read(0..2 * PIECE).now_or_never().unwrap(), shorter);
    }

    #[test]
    fn pieces_stay_within_their_limit() {
        let source = Noted::of(vec![7; 4 << 20]);
        let window = Window::on(Rc::clone(&source) as Rc<dyn ReadAt>).with_pieces_of(1 << 19);
        for at in 0..400 {
            let range = at * 10_000..(at + 1) * 10_000;
            window.read(range).now_or_never().unwrap().unwrap();
        }
        let lengths = source.read.take().into_iter();
        let largest = lengths.map(|range| range.end - range.start).max();
        assert_eq!(largest, Some(1 << 19));
    }

    proptest! {
        #[test]
        fn any_order_of_reads_gives_the_bytes_of_the_file(
            reads in proptest::collection::vec((0_u64..700_000, 0_u64..400_000, any::<bool>()), 1..12),
        ) {
            let bytes: Vec<u8> = (0..700_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let source = Noted::of(bytes.clone());
            let window = Window::on(source);
            for (start, length, is_released) in reads {
                let end = (start + length).min(700_000);
                let read = window.read(start..end).now_or_never().expect("it is ready");
                prop_assert_eq!(read.as_deref(), Ok(&bytes[start as usize..end as usize]));
                if is_released {
                    window.clear();
                }
            }
        }
    }
}
