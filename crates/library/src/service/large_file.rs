//! A large file during its import, and what `slices`, `dump` and `packed_log`, which read one, have in common.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;
use volary_formats::import::fields::FieldMapping;
use volary_formats::import::index::Entry;

use super::annotations::AnnotatedTraces;
use super::partial_preview::Begun;
use super::reading::{FileOutcome, RunningImport};
use super::{BATCH, LibraryService, naming, reading};
use crate::repository::{Held, InFile, Item};
use crate::source::{Source, Window};

/// The beginning of a file, which is read before it is known whether the file is in the library.
pub(super) trait Beginning {
    /// The mapping by which the file is read, if there is one.
    fn fields(&self) -> Option<FieldMapping> {
        None
    }

    /// Takes the first episode, if it does not end in what was read.
    fn take_begun(&mut self) -> Option<Begun> {
        None
    }

    /// Reads the file to its end.
    fn read_to_end<'b>(self: Box<Self>, file: LargeFile<'b, '_>) -> FileRead<'b>;
}

/// The outcome of a file, once it was read.
pub(super) type FileRead<'b> = LocalBoxFuture<'b, Result<FileOutcome, String>>;

/// A large file that is being imported.
pub(super) struct LargeFile<'b, 'a> {
    pub library: &'a LibraryService,
    pub reading: &'b RunningImport<'a>,
    pub id: &'b Text,
    /// The file, with what is behind it.
    pub source: &'b Rc<dyn Source>,
    pub window: &'b Rc<Window>,
    /// The annotations behind it, if there are any.
    pub annotated: Option<&'b AnnotatedTraces<'b>>,
}

impl LargeFile<'_, '_> {
    /// Adds the episodes that were found.
    pub async fn take(&self, entries: Vec<Entry>) {
        let LargeFile {
            library,
            reading,
            id,
            ..
        } = *self;
        let name = self.source.name();
        // The first one is likely to be opened next.
        let mut is_first = reading.found.get() == 0;
        let mut entries = entries.into_iter().peekable();
        while entries.peek().is_some() {
            let batch = entries.by_ref().take(BATCH).map(|entry| {
                let at = InFile {
                    file: id.clone(),
                    place: entry.place,
                };
                let mut row = reading::stamped(reading, entry.row, entry.bytes);
                let is_new;
                (row.id, is_new) = naming::free_id(library, &row.id, &at);
                library.remember(&row, Some(at.clone()));
                library.came_from(&row.id, &name);
                if std::mem::take(&mut is_first)
                    && let Some(mut episode) = entry.episode
                {
                    episode.id = row.id.clone();
                    library.previews.hold(episode);
                }
                if let Some(texts) = entry.texts {
                    // A run that is followed goes on for hours, and one of training has tens of thousands of rollouts.
                    let is_one_of_many = reading.is_followed || row.recorded_tokens.is_some();
                    library
                        .search
                        .insert_document(texts, &row.id, is_one_of_many);
                }
                Item {
                    row,
                    held: Held::InFile(at),
                    again: None,
                    is_new,
                }
            });
            reading::add(library, reading, batch.collect()).await;
        }
    }
}
