//! A large file during its import: what is read of it becomes rows, until its end.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::maybe_done;
use volary_core::json::Text;
use volary_formats::import::index::{Entry, InPlace, LARGEST_WHOLE, Progress};
use volary_protocol::library::Origin;

use super::annotations::AnnotatedTraces;
use super::continuation::{Continuation, Start};
use super::finding::SETTLED;
use super::naming;
use super::partial_preview::{self, PartialEpisode};
use super::running_import::{self, FileOutcome, RunningImport};
use super::state::{BATCH, LibraryService};
use crate::error::LibraryError;
use crate::repository::{Held, InFile, Item, KnownFile};
use crate::source::{ReadError, Source};

/// Files are copied from this byte on: the part before it is displayed first.
const COPIED_FROM: u64 = 8 << 20;

/// The beginning of a file, which is read before it is known whether the file is in the library.
pub(super) struct Beginning {
    pub reader: Box<dyn InPlace>,
    /// `None` if the import was cancelled.
    pub progress: Option<Progress>,
    /// The episodes that end in it.
    pub entries: Vec<Entry>,
    /// The first episode, if it does not end in it.
    pub partial: Option<PartialEpisode>,
    /// The digest of the first bytes, if the reading goes on from an earlier one.
    pub start: Option<Start>,
}

/// A large file that is being imported.
pub(super) struct LargeFile<'b, 'a> {
    pub library: &'a LibraryService,
    pub reading: &'b RunningImport<'a>,
    pub id: &'b Text,
    /// The file, with what is behind it.
    pub source: &'b Rc<dyn Source>,
    /// The annotations behind it, if there are any.
    pub annotated: Option<&'b AnnotatedTraces<'b>>,
}

impl Beginning {
    /// Reads the beginning of a file, and shows the partial episode in it. Nothing is stored yet.
    pub async fn of(
        library: &LibraryService,
        reading: &RunningImport<'_>,
        mut reader: Box<dyn InPlace>,
    ) -> Result<Beginning, ReadError> {
        reader.keep_texts(true);
        // The loop over what follows handles a cancellation.
        let progress = library.cancelled.unless(reading.number, reader.next());
        let progress = progress.await.transpose()?;
        let entries = reader.take_entries();
        let mut partial = None;
        if entries.is_empty() {
            partial_preview::show_partial(library, reading, &*reader, &mut partial);
        }
        Ok(Beginning {
            reader,
            progress,
            entries,
            partial,
            start: None,
        })
    }
}

impl LargeFile<'_, '_> {
    /// Reads the file to its end, and adds its episodes.
    pub async fn read_to_end(&self, beginning: Beginning) -> Result<FileOutcome, LibraryError> {
        let LargeFile {
            library,
            reading,
            id,
            source,
            annotated,
        } = *self;
        let Beginning {
            mut reader,
            mut progress,
            mut entries,
            mut partial,
            start,
        } = beginning;
        let name = source.name();
        let mut copying = None;
        let before = library.known.borrow().episodes.len();
        loop {
            if progress == Some(Progress::Whole) {
                if source.size() > LARGEST_WHOLE {
                    // It will not be read, but it can be once its members are mapped.
                    let unmapped = reader.unmapped().cloned();
                    reading.unmapped.borrow_mut().extend(unmapped);
                }
                return Ok(FileOutcome::Whole);
            }
            if !entries.is_empty() {
                self.take(entries).await;
                partial_preview::complete(library, reading, &mut partial).await;
            } else if reading.found.get() == 0 {
                partial_preview::show_partial(library, reading, &*reader, &mut partial);
            }
            let done = reader.done();
            reading.progress(&name, done);
            let found = library.known.borrow().episodes.len().saturating_sub(before);
            reader.keep_texts(before + reader.expected(found) <= SETTLED);
            if found > 0 && done >= COPIED_FROM {
                // The file is copied meanwhile. The result is awaited at the end.
                let known = || KnownFile {
                    id: id.clone(),
                    name: name.clone(),
                    size: source.size(),
                    whole: false,
                    end: None,
                    fields: reader.fields().cloned(),
                    source: Some(Rc::clone(source)),
                };
                let store = running_import::store_for(library, reading.origin);
                let copy = || maybe_done(store.keep_file(known()));
                let _ = copying.get_or_insert_with(copy).now_or_never();
            }
            if progress == Some(Progress::End) {
                break;
            }
            let next = library.cancelled.unless(reading.number, reader.next());
            progress = match next.await {
                Some(Ok(progress)) => Some(progress),
                Some(Err(reason)) => {
                    partial_preview::keep_partial(library, reading, partial).await;
                    return Err(reason.into());
                }
                None => {
                    partial_preview::keep_partial(library, reading, partial).await;
                    return Ok(FileOutcome::Cancelled);
                }
            };
            entries = reader.take_entries();
        }
        if let Some(copying) = copying {
            // Everything was read; cancelling now only skips the copy.
            library.cancelled.unless(reading.number, copying).await;
        }
        if reading.origin == Origin::Published
            && annotated.is_none()
            && let Some(next) = Continuation::of(id, &**source, &*reader, start).await
        {
            library.continuations.borrow_mut().insert(name, next);
        }
        reader.finish();
        self.take(reader.take_entries()).await;
        partial_preview::complete(library, reading, &mut partial).await;
        partial_preview::keep_partial(library, reading, partial).await;
        reading.report.borrow_mut().extend(reader.notes());
        Ok(FileOutcome::Taken)
    }

    /// Adds the episodes that were found.
    async fn take(&self, mut entries: Vec<Entry>) {
        let LargeFile {
            library,
            reading,
            id,
            ..
        } = *self;
        if let Some(annotated) = self.annotated {
            for entry in &mut entries {
                annotated.join(library, entry).await;
            }
        }
        let name = self.source.name();
        // The first one is likely to be opened next.
        let mut is_first = reading.found.get() == 0;
        let mut entries = entries.into_iter().peekable();
        while entries.peek().is_some() {
            let batch = entries.by_ref().take(BATCH).map(|entry| {
                let at = InFile {
                    file: id.clone(),
                    range: entry.range,
                };
                let mut row = running_import::stamped(reading, entry.row, entry.bytes);
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
            running_import::add(library, reading, batch.collect()).await;
        }
    }
}
