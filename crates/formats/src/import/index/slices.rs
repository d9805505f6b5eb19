//! Reads a large file of lines, or of one list, in slices. The next slice is read while one is indexed.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_episode::episode::Episode;

use super::in_place::{InPlace, Progress};
use super::{Entry, Indexer, LineFilter};
use crate::import::Note;
use crate::import::fields::{FieldMapping, Mappings, Unmapped};
use crate::read_at::{ReadAt, ReadBytes, ReadError, begin_reading};

/// The size of a slice: small enough for visible progress…
const SLICE: u64 = 2 << 20;
/// …and smaller at the start, so that something is visible soon.
const FIRST_SLICE: u64 = 1 << 18;

/// A file that is read in slices.
pub struct Slices {
    file: Rc<dyn ReadAt>,
    /// The number of bytes that are indexed. Others may follow them.
    size: u64,
    /// The end of what was read.
    at: u64,
    indexer: Indexer,
    /// The next slice, which is being read.
    coming: Option<ReadBytes<'static>>,
}

impl Slices {
    /// Begins the first `size` bytes of a file.
    pub fn of(file: Rc<dyn ReadAt>, size: u64, mappings: Mappings) -> Slices {
        let mut indexer = Indexer::new(file.name());
        indexer.map_fields(mappings);
        file.read_through(0);
        Slices::after(file, size, indexer, 0)
    }

    /// Reads on in a file that has grown, from an offset, as [`Indexer::continued`] has it.
    pub fn continuing(file: Rc<dyn ReadAt>, indexer: Indexer, at: u64) -> Slices {
        let size = file.size();
        Slices::after(file, size, indexer, at)
    }

    fn after(file: Rc<dyn ReadAt>, size: u64, indexer: Indexer, at: u64) -> Slices {
        Slices {
            file,
            size,
            at,
            indexer,
            coming: None,
        }
    }

    /// The end of the next slice.
    fn end(&self) -> u64 {
        let length = (self.at + FIRST_SLICE).min(SLICE);
        self.size.min(self.at + length)
    }

    async fn read_slice(&mut self) -> Result<Progress, ReadError> {
        if self.at < self.size {
            let end = self.end();
            let bytes = match self.coming.take() {
                Some(bytes) => bytes.await?,
                None => self.file.read(self.at..end).await?,
            };
            self.at = end;
            if self.at < self.size {
                let next = self.at..self.end();
                self.coming = Some(begin_reading(&self.file, next));
            }
            self.indexer.feed(&bytes);
        }
        let is_end = self.at >= self.size;
        if is_end {
            self.indexer.recognise_at_end();
        }
        Ok(if self.indexer.is_held() {
            Progress::Whole
        } else if is_end {
            Progress::End
        } else {
            Progress::More
        })
    }
}

impl InPlace for Slices {
    fn next(&mut self) -> LocalBoxFuture<'_, Result<Progress, ReadError>> {
        self.read_slice().boxed_local()
    }

    fn take_entries(&mut self) -> Vec<Entry> {
        self.indexer.take_entries()
    }

    fn done(&self) -> u64 {
        self.at
    }

    fn notes(&self) -> Vec<Note> {
        self.indexer.notes().to_vec()
    }

    fn keep_texts(&mut self, wanted: bool) {
        self.indexer.keep_texts(wanted);
    }

    fn keep_episodes(&mut self) {
        self.indexer.keep_episodes();
    }

    fn leave_out(&mut self, filter: LineFilter) {
        self.indexer.leave_out(filter);
    }

    fn expected(&self, found: usize) -> usize {
        (found as f64 * self.size as f64 / self.at.max(1) as f64) as usize
    }

    fn partial_episode(&self) -> Option<Episode> {
        self.indexer.partial_episode()
    }

    fn fields(&self) -> Option<&FieldMapping> {
        self.indexer.fields()
    }

    fn unmapped(&self) -> Option<&Unmapped> {
        self.indexer.unmapped()
    }

    fn continued(&self) -> Option<(Indexer, u64)> {
        self.indexer.continued()
    }

    fn finish(&mut self) {
        self.indexer.finish();
    }
}
