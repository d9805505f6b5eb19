//! Files that are read in ranges and never held as a whole.
//!
//! `window`: a read-ahead buffer. `window_pool`: several of them on one file.

mod window;
mod window_pool;

use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, ready};
use volary_core::json::Text;

pub use window::Window;
pub use window_pool::WindowPool;

/// Why a range of a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The range is not in the file.
    #[error("The file ends before that.")]
    EndOfFile,
    /// The file was changed while it was read.
    #[error("{file} is shorter than when it was first read.")]
    Shortened { file: Text },
    /// The system, the browser or a server refused. The sentences for people say why, and what to do.
    #[error("{why}")]
    Refused { why: Text },
}

impl ReadError {
    /// What the system, the browser or a server says.
    pub fn refused(why: impl ToString) -> ReadError {
        ReadError::Refused {
            why: why.to_string().into(),
        }
    }
}

/// The bytes of a range.
pub type ReadBytes<'a> = LocalBoxFuture<'a, Result<Vec<u8>, ReadError>>;

/// A file that can be read in ranges.
pub trait ReadAt {
    /// The path, as far as it is known.
    fn name(&self) -> Text;

    /// The size in bytes.
    fn size(&self) -> u64;

    /// Reads a range. The read starts with the call, not with the first poll.
    fn read(&self, range: Range<u64>) -> ReadBytes<'_>;

    /// Announces that the file is read from this offset on, in ranges that follow each other: more than is asked for may be
    /// fetched.
    fn read_through(&self, _start: u64) {}
}

/// Begins to read a range. The future owns the file, so it may be awaited at any time.
pub fn begin_reading(file: &Rc<dyn ReadAt>, range: Range<u64>) -> ReadBytes<'static> {
    let file = Rc::clone(file);
    let mut bytes = async move { file.read(range).await }.boxed_local();
    // The first poll starts the read.
    match (&mut bytes).now_or_never() {
        Some(bytes) => ready(bytes).boxed_local(),
        None => bytes,
    }
}

/// A file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFile {
    pub name: Text,
    pub bytes: Vec<u8>,
}

impl ReadAt for MemoryFile {
    fn name(&self) -> Text {
        self.name.clone()
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let bytes = || {
            let (start, end) = (range.start.try_into().ok()?, range.end.try_into().ok()?);
            self.bytes.get::<Range<usize>>(start..end)
        };
        let bytes = bytes().map(<[u8]>::to_vec);
        ready(bytes.ok_or(ReadError::EndOfFile)).boxed_local()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// A file that records the ranges read from it.
    pub struct Noted {
        pub bytes: Vec<u8>,
        pub read: RefCell<Vec<Range<u64>>>,
        /// The size that it claims to have.
        pub size: u64,
    }

    impl ReadAt for Noted {
        fn name(&self) -> Text {
            "noted".into()
        }

        fn size(&self) -> u64 {
            self.size
        }

        fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
            self.read.borrow_mut().push(range.clone());
            // It may be shorter than it was.
            let end = range.end.min(self.bytes.len() as u64);
            let bytes = &self.bytes[range.start.min(end) as usize..end as usize];
            ready(Ok(bytes.to_vec())).boxed_local()
        }
    }

    impl Noted {
        pub fn of(bytes: Vec<u8>) -> Rc<Noted> {
            Rc::new(Noted {
                size: bytes.len() as u64,
                bytes,
                read: RefCell::default(),
            })
        }

        /// The number of bytes that were read.
        pub fn length(&self) -> u64 {
            let read = self.read.borrow();
            read.iter().map(|range| range.end - range.start).sum()
        }
    }

    #[test]
    fn a_range_beyond_the_end_of_a_file_is_an_error() {
        let file = MemoryFile {
            name: "a".into(),
            bytes: b"abc".to_vec(),
        };
        let read = |range| file.read(range).now_or_never().unwrap();
        assert_eq!(read(1..3), Ok(b"bc".to_vec()));
        assert_eq!(read(3..3), Ok(Vec::new()));
        assert!(read(1..4).is_err() && read(7..u64::MAX).is_err());
    }

    #[test]
    fn a_read_begins_before_it_is_awaited() {
        let file = Noted::of(b"abc".to_vec());
        let reading = begin_reading(&(Rc::clone(&file) as Rc<dyn ReadAt>), 0..2);
        assert_eq!(file.read.borrow().first(), Some(&(0..2)));
        assert_eq!(reading.now_or_never(), Some(Ok(b"ab".to_vec())));
    }
}
