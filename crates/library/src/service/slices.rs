//! Reads a large file of lines, or of one list, in slices. Part of the readers' code (`readers`).

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::maybe_done;
use volary_formats::import::fields::FieldMapping;
use volary_formats::import::index::{Entry, Indexer};
use volary_protocol::library::Origin;

use super::annotations::AnnotatedTraces;
use super::continuation::{Continuation, Start};
use super::finding::SETTLED;
use super::known_files::keep_file;
use super::large_file::{Beginning, FileRead, LargeFile};
use super::partial_preview::Begun;
use super::reading::{FileOutcome, RunningImport, kept};
use super::whole_file_import::LARGEST_WHOLE;
use super::{LibraryService, partial_preview, reading};
use crate::repository::KnownFile;
use crate::source::{Source, Window};

/// The size of a slice: small enough for visible progress…
const SLICE: u64 = 2 << 20;
/// …and smaller at the start, so that something is visible soon.
const FIRST_SLICE: u64 = 1 << 18;
/// Files are copied from this byte on: the part before it is displayed first.
const COPIED_FROM: u64 = 8 << 20;

/// The end of the slice that starts at a byte.
fn slice_end(start: u64, size: u64) -> u64 {
    size.min(start + (start + FIRST_SLICE).min(SLICE))
}

/// The first slice of a file.
pub(super) struct FirstSlice {
    /// The offset of its end.
    at: u64,
    indexer: Indexer,
    /// The episodes that end in it.
    entries: Vec<Entry>,
    /// The first episode, if it does not end in this slice.
    begun: Option<Begun>,
    /// The beginning of the file, if the reading goes on from an earlier one.
    start: Option<Start>,
}

impl Beginning for FirstSlice {
    fn fields(&self) -> Option<FieldMapping> {
        self.indexer.fields().cloned()
    }

    fn take_begun(&mut self) -> Option<Begun> {
        self.begun.take()
    }

    fn read_to_end<'b>(self: Box<Self>, file: LargeFile<'b, '_>) -> FileRead<'b> {
        read_slices(file, *self).boxed_local()
    }
}

/// Reads on in a file that has grown, through the window, so that each byte is fetched once.
pub(super) async fn read_on<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    window: Window,
    continuation: Continuation,
) -> Result<FileOutcome, String> {
    let start = Some(continuation.start());
    let Continuation {
        file: id,
        at,
        mut indexer,
        ..
    } = continuation;
    let fields = indexer.fields().cloned();
    let source = Rc::clone(window.source());
    let window = Rc::new(window.read_by(fields.clone()));
    library
        .windows
        .borrow_mut()
        .insert(id.clone(), Rc::clone(&window));
    indexer.keep_texts(true);
    let first = FirstSlice {
        at,
        indexer,
        entries: Vec::new(),
        begun: None,
        start,
    };
    let file = Rc::clone(&window) as Rc<dyn Source>;
    let large = LargeFile {
        library,
        reading,
        id: &id,
        source: &file,
        window: &window,
        annotated: None,
    };
    let outcome = read_slices(large, first).await;
    file.release();
    let outcome = outcome?;
    if let FileOutcome::Taken = outcome {
        kept(reading).await;
        let known = KnownFile {
            id,
            name: file.name(),
            size: file.size(),
            // Its end, by which it would be recognised, has changed and changes again.
            whole: false,
            end: None,
            fields,
            source: Some(source),
        };
        keep_file(library, reading, known).await;
    }
    Ok(outcome)
}

/// Reads the first slice of a file, and shows the partial episode in it. Nothing is stored yet.
pub(super) async fn begin(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    file: &Rc<dyn Source>,
) -> Result<FirstSlice, String> {
    let mut indexer = Indexer::new(file.name());
    indexer.keep_texts(true);
    indexer.map_fields(library.mappings.borrow().clone());
    let mut first = FirstSlice {
        at: 0,
        entries: Vec::new(),
        begun: None,
        start: None,
        indexer,
    };
    let end = slice_end(0, file.size());
    file.read_through(0);
    let slice = library.cancelled.unless(reading.number, file.read(0..end));
    // The loop over the next slices handles a cancellation.
    if let Some(bytes) = slice.await {
        first.at = end;
        first.indexer.feed(&bytes?);
        first.entries = first.indexer.take_entries();
        if first.entries.is_empty() {
            partial_preview::show_begun(library, reading, &first.indexer, &mut first.begun);
        }
    }
    Ok(first)
}

async fn read_slices(large: LargeFile<'_, '_>, first: FirstSlice) -> Result<FileOutcome, String> {
    let LargeFile {
        library,
        reading,
        id,
        source: file,
        annotated,
        ..
    } = large;
    let FirstSlice {
        mut at,
        mut entries,
        mut indexer,
        mut begun,
        start,
    } = first;
    // The annotations behind the traces are not indexed.
    let size = annotated.map_or(file.size(), |annotated| annotated.size);
    let name = file.name();
    let mut copying = None;
    let before = library.known.borrow().episodes.len();
    let mut coming = file.read(at..slice_end(at, size));
    loop {
        if at >= size {
            indexer.recognise_at_end();
        }
        if indexer.is_held() {
            if size > LARGEST_WHOLE {
                // It will not be read, but it can be once its members are mapped.
                let unmapped = indexer.unmapped().cloned();
                reading.unmapped.borrow_mut().extend(unmapped);
            }
            return Ok(FileOutcome::Whole);
        }
        if !entries.is_empty() {
            join_annotations(annotated, &mut entries).await;
            large.take(entries).await;
            partial_preview::grown(library, reading, &mut begun).await;
        } else if reading.found.get() == 0 {
            partial_preview::show_begun(library, reading, &indexer, &mut begun);
        }
        reading.progress(&name, at);
        // The expected number of episodes, estimated from those found so far.
        let found = library.known.borrow().episodes.len().saturating_sub(before);
        let expected = found as f64 * size as f64 / at.max(1) as f64;
        indexer.keep_texts(before + expected as usize <= SETTLED);
        if found > 0 && at >= COPIED_FROM {
            // The file is copied meanwhile. The result is awaited at the end.
            let known = || KnownFile {
                id: id.clone(),
                name: name.clone(),
                size: file.size(),
                whole: false,
                end: None,
                fields: indexer.fields().cloned(),
                source: Some(Rc::clone(file)),
            };
            let copy =
                || maybe_done(reading::store_for(library, reading.origin).keep_file(known()));
            let _ = copying.get_or_insert_with(copy).now_or_never();
        }
        if at >= size {
            break;
        }
        let came = library.cancelled.unless(reading.number, &mut coming).await;
        let bytes = match came {
            Some(Ok(bytes)) => bytes,
            Some(Err(reason)) => {
                partial_preview::keep_begun(library, reading, begun).await;
                return Err(reason);
            }
            None => {
                partial_preview::keep_begun(library, reading, begun).await;
                return Ok(FileOutcome::Cancelled);
            }
        };
        at = slice_end(at, size);
        // The next slice is read while this one is indexed.
        coming = file.read(at..slice_end(at, size));
        indexer.feed(&bytes);
        entries = indexer.take_entries();
    }
    if let Some(copying) = copying {
        // Everything was read; cancelling now only skips the copy.
        library.cancelled.unless(reading.number, copying).await;
    }
    if reading.origin == Origin::Published
        && annotated.is_none()
        && let Some(next) = Continuation::of(id, &**file, &indexer, start).await
    {
        library.continuations.borrow_mut().insert(name, next);
    }
    indexer.finish();
    let mut entries = indexer.take_entries();
    join_annotations(annotated, &mut entries).await;
    large.take(entries).await;
    partial_preview::grown(library, reading, &mut begun).await;
    partial_preview::keep_begun(library, reading, begun).await;
    let notes = indexer.notes().iter().cloned();
    reading.report.borrow_mut().extend(notes);
    Ok(FileOutcome::Taken)
}

/// Joins the annotations of episodes, if there are any.
async fn join_annotations(annotated: Option<&AnnotatedTraces<'_>>, entries: &mut [Entry]) {
    if let Some(annotated) = annotated {
        for entry in entries {
            annotated.join(entry).await;
        }
    }
}
