//! Imports large files in slices. Their episodes are opened in place.

use std::rc::Rc;
use volary_protocol::library::Origin;

use futures_util::FutureExt;
use futures_util::future::{join, maybe_done};
use volary_core::json::Text;
use volary_parquet::is_parquet;
use volary_trajectory::archive::is_archive;
use volary_trajectory::import::NoteLevel;
use volary_trajectory::import::fields::FieldMapping;
use volary_trajectory::import::index::{Entry, Indexer};

use super::annotations::{AnnotatedTraces, ImportedAnnotations};
use super::continuation::{Continuation, Start};
use super::finding::SETTLED;
use super::known_files::{identify, keep_file, note_uncopied, tell_again};
use super::packed::{Dumps, Packed};
use super::partial_preview::Begun;
use super::reading::{FileOutcome, RunningImport, kept};
use super::whole_file_import::LARGEST_WHOLE;
use super::{BATCH, LibraryService, listing, naming, packed, partial_preview, reading};
use crate::library::repository::{Held, InFile, Item, KnownFile};
use crate::library::source::{Source, Window, end_of};

/// The minimum size of files whose episodes are not copied, if they can be read in slices…
pub(super) const LARGE: u64 = 4 << 20;
/// …that of archives, which unpack to about ten times as much…
pub(super) const LARGE_PACKED: u64 = 1 << 18;
/// …and that of files that are being written to: what is appended to them is read on from their last line.
const LARGE_GROWING: u64 = 1 << 16;
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

/// The part of a file that is read before it is known whether the file is in the library.
enum Beginning {
    Slices(Box<FirstSlice>),
    /// The directory and the first sample; `None` if it is neither a log nor a rollout dump.
    Packed(Option<Packed>),
}

impl Beginning {
    /// The mapping by which the file is read, if it is.
    fn fields(&self) -> Option<FieldMapping> {
        match self {
            Beginning::Slices(first) => first.indexer.fields().cloned(),
            Beginning::Packed(_) => None,
        }
    }

    fn take_begun(&mut self) -> Option<Begun> {
        match self {
            Beginning::Slices(first) => first.begun.take(),
            Beginning::Packed(_) => None,
        }
    }
}

/// The first slice of a file.
struct FirstSlice {
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

/// Imports a file in slices, if it is large and its format allows that.
pub(super) async fn read_in_place<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    file: &Rc<dyn Source>,
    annotations: Option<&ImportedAnnotations>,
) -> Result<FileOutcome, String> {
    let size = file.size();
    let large = match file.is_growing() {
        true => LARGE_GROWING,
        false => LARGE,
    };
    if size < large.min(LARGE_PACKED) {
        return Ok(FileOutcome::Whole);
    }
    let start = file.read(0..4).await?;
    let is_packed = is_archive(&start);
    let large = if is_packed { LARGE_PACKED } else { large };
    if size < large || is_parquet(&start) {
        return Ok(FileOutcome::Whole);
    }
    let annotated = match annotations.filter(|_| !is_packed) {
        Some(annotations) => annotations.behind(file).await,
        None => None,
    };
    let own = file;
    let trained = reading.steps.of_rollouts(file);
    let file = match (&annotated, trained) {
        (Some(annotated), _) => &annotated.source,
        (None, Some(trained)) => &trained.source,
        (None, None) => file,
    };
    let whole_size = file.size();
    let window = Rc::new(Window::on(Rc::clone(file)));
    // Identifying the file and reading its beginning run concurrently, so that the beginning is visible sooner.
    let identified = async {
        listing::ready(library).await;
        identify(library, reading, &**file).await
    };
    let beginning = async {
        match is_packed {
            true => {
                let dumps = match trained {
                    Some(trained) => Dumps::With(&trained.files),
                    None if reading.steps.is_whole(own) => Dumps::Not,
                    None => Dumps::With(&[]),
                };
                let opened = packed::open_packed(&window, &**own, dumps).await;
                opened.map(Beginning::Packed)
            }
            false => read_beginning(library, reading, file).await,
        }
    };
    let (identified, beginning) = join(identified, beginning).await;
    let mut beginning = beginning?;
    let (id, end) = match identified {
        Ok(identified) => identified,
        Err(reason) => {
            partial_preview::keep_begun(library, reading, beginning.take_begun()).await;
            return Err(reason);
        }
    };
    let name = file.name();
    let fields = beginning.fields();
    let window = match fields {
        Some(_) => Rc::new(Window::on(Rc::clone(file)).read_by(fields.clone())),
        None => window,
    };
    // With another mapping it is another reading.
    let is_known = end.is_some() && {
        let store = reading::stock_for(library, reading.origin);
        let known = store.file(&id).await;
        known.is_some_and(|known| known.fields == fields)
    };
    let mut known = KnownFile {
        id: id.clone(),
        name: name.clone(),
        size: whole_size,
        whole: true,
        end,
        fields,
        source: Some(Rc::clone(file)),
    };
    library
        .windows
        .borrow_mut()
        .insert(id.clone(), Rc::clone(&window));
    if is_known {
        window.release();
        keep_file(library, reading, known).await;
        let first = tell_again(library, reading, &id).await;
        partial_preview::end_begun(library, reading, beginning.take_begun().zip(first));
        let text = format!("{name} is in the library and its trajectories can be opened.");
        reading.note(NoteLevel::Read, &name, text);
        return Ok(FileOutcome::Taken);
    }
    let outcome = match beginning {
        Beginning::Packed(None) => Ok(FileOutcome::Whole),
        Beginning::Packed(Some(Packed::Log(log))) => {
            packed::read_packed(library, reading, &id, &window, *log).await
        }
        Beginning::Packed(Some(Packed::Dump(dump))) => {
            packed::read_dump(library, reading, &id, *dump).await
        }
        Beginning::Slices(first) => {
            read_slices(library, reading, &id, file, annotated.as_ref(), *first).await
        }
    };
    let end = match &outcome {
        Ok(FileOutcome::Taken) => end_of(&**file).await.map(Some),
        _ => Ok(None),
    };
    // Of many files, what was read ahead would add up.
    window.release();
    known.end = end?;
    match &outcome {
        Ok(FileOutcome::Whole) => {
            library.windows.borrow_mut().remove(&id);
        }
        // No episodes of the file are known.
        Ok(FileOutcome::Taken | FileOutcome::Cancelled) | Err(_) if !library.is_wanted(&id) => {
            library.windows.borrow_mut().remove(&id);
        }
        Ok(FileOutcome::Taken) => {
            kept(reading).await;
            // If rows are missing, the next import must read the file again.
            known.whole = !reading.is_unkept.get();
            keep_file(library, reading, known).await;
        }
        Ok(FileOutcome::Cancelled) | Err(_) => {
            // A cancelled or unreadable file is not copied further.
            (known.whole, known.source) = (false, None);
            keep_file(library, reading, known).await;
            note_uncopied(library, reading, &id, &name).await;
        }
    }
    outcome
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
    let file = window as Rc<dyn Source>;
    let outcome = read_slices(library, reading, &id, &file, None, first).await;
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
async fn read_beginning(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    file: &Rc<dyn Source>,
) -> Result<Beginning, String> {
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
    Ok(Beginning::Slices(Box::new(first)))
}

async fn read_slices<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    id: &Text,
    file: &Rc<dyn Source>,
    annotated: Option<&AnnotatedTraces<'_>>,
    first: FirstSlice,
) -> Result<FileOutcome, String> {
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
            take(library, reading, id, entries).await;
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
                || maybe_done(reading::stock_for(library, reading.origin).keep_file(known()));
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
    take(library, reading, id, entries).await;
    partial_preview::grown(library, reading, &mut begun).await;
    partial_preview::keep_begun(library, reading, begun).await;
    reading
        .notes
        .borrow_mut()
        .extend_from_slice(indexer.notes());
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

/// Adds the episodes found in a file.
pub(super) async fn take<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    file: &Text,
    entries: Vec<Entry>,
) {
    let name = library
        .windows
        .borrow()
        .get(file)
        .map(|window| window.source().name());
    // The first one is likely to be opened next.
    let mut is_first = reading.found.get() == 0;
    let mut entries = entries.into_iter().peekable();
    while entries.peek().is_some() {
        let batch = entries.by_ref().take(BATCH).map(|entry| {
            let at = InFile {
                file: file.clone(),
                place: entry.place,
            };
            let mut row = reading::stamped(reading, entry.row, entry.bytes);
            let is_new;
            (row.id, is_new) = naming::free_id(library, &row.id, &at);
            library.remember(&row, Some(at.clone()));
            if let Some(name) = &name {
                library.came_from(&row.id, name);
            }
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
                held: Held::At(at),
                again: None,
                is_new,
            }
        });
        reading::add(library, reading, batch.collect()).await;
    }
}
