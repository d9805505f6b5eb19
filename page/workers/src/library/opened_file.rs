//! A file of the site's list, open: the source that readers read from.

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use futures_util::future::ready;
use futures_util::{FutureExt, TryFutureExt};
use volary_core::json::Text;

use volary_browser::files::ranged_file::RangedFile;
use volary_library::source::{JoinedSource, ReadAt, ReadBytes, ReadError, Source};

/// A file that is read in ranges.
#[derive(Clone)]
pub(super) struct OpenedFile {
    file: Rc<RangedFile>,
    is_growing: bool,
}

impl OpenedFile {
    pub(super) async fn of(file: RangedFile, is_growing: bool) -> Rc<dyn Source> {
        file.read_directory_ahead().await;
        let file = Rc::new(file);
        Rc::new(OpenedFile { file, is_growing })
    }
}

impl ReadAt for OpenedFile {
    fn name(&self) -> Text {
        self.file.name().into()
    }

    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let bytes = self.file.slice(range);
        let mut read = bytes.map_err(ReadError::refused).boxed_local();
        // The first poll sends the request.
        match (&mut read).now_or_never() {
            Some(bytes) => ready(bytes).boxed_local(),
            None => read,
        }
    }

    fn read_through(&self, start: u64) {
        self.file.read_through(start);
    }
}

impl Source for OpenedFile {
    fn followed_by(&self, others: &[Rc<dyn Source>]) -> Option<Rc<dyn Source>> {
        let own: Rc<dyn Source> = Rc::new(self.clone());
        let files = std::iter::once(own).chain(others.iter().cloned());
        Some(Rc::new(JoinedSource::of(files.collect())))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_growing(&self) -> bool {
        self.is_growing
    }

    fn release(&self) {
        self.file.release();
    }

    fn can_be_read_again(&self) -> bool {
        true
    }
}
