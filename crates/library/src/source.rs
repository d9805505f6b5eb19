//! Files of the library: sources of bytes that can be kept, joined and read again.
//!
//! `joined`: several files as one.

mod joined;

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use volary_core::json::Text;
use volary_core::random::stable_hash;

pub use joined::JoinedSource;
pub use volary_formats::read_at::{MemoryFile, ReadAt, ReadBytes, ReadError};

/// A read-ahead buffer on a file.
pub type Window = volary_formats::read_at::Window<dyn Source>;

/// A file that can be read in ranges.
pub trait Source: ReadAt {
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

    /// Drops bytes that were read ahead, and ends what [`ReadAt::read_through`] announced.
    fn release(&self) {}

    /// Whether it may be read as often as needed, so that its contents need not be kept.
    fn can_be_read_again(&self) -> bool {
        false
    }
}

impl Source for MemoryFile {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Source for Window {
    fn as_any(&self) -> &dyn Any {
        self.source().as_any()
    }

    fn is_growing(&self) -> bool {
        self.source().is_growing()
    }

    fn release(&self) {
        self.clear();
        self.source().release();
    }
}

/// The number of bytes at either end of a file that identify it.
const LOOKED_AT: u64 = 1 << 16;

/// A digest of the size and the start, which distinguishes most files, even before their end has arrived.
pub async fn start_of(source: &dyn ReadAt) -> Result<Text, ReadError> {
    let size = source.size();
    let start = source.read(0..size.min(LOOKED_AT)).await?;
    Ok(digest(start.into_iter().chain(size.to_le_bytes())))
}

/// A digest of the end, which distinguishes files with the same start.
pub async fn end_of(source: &dyn ReadAt) -> Result<Text, ReadError> {
    let size = source.size();
    let end = source.read(size.saturating_sub(LOOKED_AT)..size).await?;
    Ok(digest(end))
}

/// A digest of a range.
pub async fn digest_of(source: &dyn ReadAt, range: Range<u64>) -> Result<Text, ReadError> {
    source.read(range).await.map(digest)
}

fn digest(bytes: impl IntoIterator<Item = u8>) -> Text {
    format!("{:016x}", stable_hash(bytes)).into()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::{Cell, RefCell};

    use futures_util::FutureExt;

    use super::*;

    /// A source that records what is read from it.
    pub struct Noted {
        pub name: Text,
        pub bytes: Vec<u8>,
        pub read: RefCell<Vec<Range<u64>>>,
        /// Where a reading through the whole source began.
        pub through: Cell<Option<u64>>,
        /// The size that it claims to have.
        pub size: u64,
    }

    impl ReadAt for Noted {
        fn name(&self) -> Text {
            self.name.clone()
        }

        fn size(&self) -> u64 {
            self.size
        }

        fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
            self.read.borrow_mut().push(range.clone());
            // It may be shorter than it was.
            let end = range.end.min(self.bytes.len() as u64);
            let bytes = &self.bytes[range.start.min(end) as usize..end as usize];
            std::future::ready(Ok(bytes.to_vec())).boxed_local()
        }

        fn read_through(&self, start: u64) {
            self.through.set(Some(start));
        }
    }

    impl Source for Noted {
        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    impl Noted {
        pub fn of(bytes: Vec<u8>) -> Rc<Noted> {
            Noted::named("noted", bytes)
        }

        pub fn named(name: &str, bytes: Vec<u8>) -> Rc<Noted> {
            Rc::new(Noted {
                name: name.into(),
                size: bytes.len() as u64,
                bytes,
                read: RefCell::default(),
                through: Cell::new(None),
            })
        }

        /// The number of bytes that were read.
        pub fn length(&self) -> u64 {
            let read = self.read.borrow();
            read.iter().map(|range| range.end - range.start).sum()
        }
    }

    fn bytes(length: u64) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    fn now<T>(work: impl Future<Output = Result<T, ReadError>>) -> T {
        work.now_or_never()
            .expect("it is ready")
            .expect("it is read")
    }

    #[test]
    fn files_are_told_apart_by_size_start_and_end() {
        let whole = bytes(3 * LOOKED_AT);
        let digests = |bytes: Vec<u8>| {
            let source = Noted::of(bytes);
            (now(start_of(&*source)), now(end_of(&*source)))
        };
        let known = digests(whole.clone());
        assert_eq!(digests(whole.clone()), known);
        let mut changed = whole.clone();
        changed[7] ^= 1;
        assert_ne!(digests(changed).0, known.0);
        let mut changed = whole.clone();
        *changed.last_mut().expect("a byte") ^= 1;
        let (start, end) = digests(changed);
        assert_eq!(start, known.0, "the end may not have arrived yet");
        assert_ne!(end, known.1);
        // A file that grew.
        let mut longer = whole;
        longer.push(0);
        assert_ne!(digests(longer).0, known.0);
    }

    #[test]
    fn a_large_file_is_identified_by_its_ends_only() {
        let source = Noted::of(bytes(100 * LOOKED_AT));
        now(start_of(&*source));
        now(end_of(&*source));
        assert_eq!(source.length(), 2 * LOOKED_AT);
    }

    #[test]
    fn small_and_empty_files_are_identified_too() {
        let digest = |length| now(start_of(&*Noted::of(bytes(length))));
        assert_ne!(digest(0), digest(1));
        assert_eq!(digest(0).len(), 16);
        let source = Noted::of(b"abcdef".to_vec());
        let part = now(digest_of(&*source, 1..3));
        assert_eq!(part, now(digest_of(&*Noted::of(b"xbcx".to_vec()), 1..3)));
        assert_ne!(part, now(digest_of(&*source, 2..4)));
    }
}
