//! Files whose bytes are fetched when they are wanted, and never held as a whole.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;

/// A file.
pub trait Source {
    /// Its path, as far as it was given.
    fn name(&self) -> Text;

    /// How many bytes it has.
    fn size(&self) -> u64;

    /// Bytes of it, which are fetched from the call on. `Err` says, for people, why they can't be read.
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, String>>;

    /// Itself, for those who keep files of one kind.
    fn as_any(&self) -> &dyn Any;
}

/// So much of a file is looked at, at either end, to tell it from others.
const LOOKED_AT: u64 = 1 << 16;

/// Tells a file from most others, by its size and its start: what is known of one that has not come to its end.
pub async fn start_of(source: &dyn Source) -> Result<Text, String> {
    let size = source.size();
    let start = source.read(0..size.min(LOOKED_AT)).await?;
    Ok(digest(start.into_iter().chain(size.to_le_bytes())))
}

/// Tells files from each other that begin alike.
pub async fn end_of(source: &dyn Source) -> Result<Text, String> {
    let size = source.size();
    let end = source.read(size.saturating_sub(LOOKED_AT)..size).await?;
    Ok(digest(end))
}

/// FNV-1a, which gives the same on every machine.
fn digest(bytes: impl IntoIterator<Item = u8>) -> Text {
    let hash = bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{hash:016x}").into()
}

/// Reads a file in larger pieces than it is asked for, since what is asked for next mostly stands behind.
pub struct Window {
    source: Rc<dyn Source>,
    held: RefCell<(u64, Vec<u8>)>,
    /// How much was read last.
    piece: Cell<u64>,
}

/// So much is read at once…
const PIECE: u64 = 4 << 20;
/// …once that goes on for a while. At first it is less: the file may still be on its way.
const FIRST_PIECE: u64 = 1 << 18;

impl Window {
    /// A window on a file.
    pub fn on(source: Rc<dyn Source>) -> Window {
        Window {
            source,
            held: RefCell::default(),
            piece: Cell::new(0),
        }
    }

    /// The file.
    pub fn source(&self) -> &Rc<dyn Source> {
        &self.source
    }

    /// Bytes of the file.
    pub async fn read(&self, range: Range<u64>) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.known(&range) {
            return Ok(bytes);
        }
        if range.end - range.start >= PIECE {
            // It would be held twice.
            let length = range.end - range.start;
            let bytes = self.source.read(range).await?;
            let is_whole = bytes.len() as u64 == length;
            return is_whole.then_some(bytes).ok_or_else(|| self.shorter());
        }
        let goes_on = {
            let (start, bytes) = &*self.held.borrow();
            (*start..=start + bytes.len() as u64).contains(&range.start)
        };
        let more = self.piece.get().saturating_mul(2);
        let length = match goes_on {
            true => more.clamp(FIRST_PIECE, PIECE),
            false => FIRST_PIECE,
        };
        self.piece.set(length);
        let end = range.start.saturating_add(length).max(range.end);
        let piece = range.start..end.min(self.source.size());
        let bytes = self.source.read(piece).await?;
        self.held.replace((range.start, bytes));
        self.known(&range).ok_or_else(|| self.shorter())
    }

    /// Takes bytes that were read otherwise, and where they begin.
    pub fn hold(&self, start: u64, bytes: Vec<u8>) {
        self.held.replace((start, bytes));
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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// Notes what is read of it.
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

    #[test]
    fn a_window_grows_with_who_goes_on_and_begins_anew_elsewhere() {
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
        // What was read otherwise is not read again.
        window.hold(100, vec![7; 50]);
        assert_eq!(
            window.read(110..120).now_or_never().unwrap(),
            Ok(vec![7; 10])
        );
        assert!(source.read.borrow().is_empty());
    }
}
