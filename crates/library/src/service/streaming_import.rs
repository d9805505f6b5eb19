//! Imports large files without holding them in memory. Their episodes are opened in place.

use std::rc::Rc;

use futures_util::future::join;
use volary_formats::archive::is_archive;
use volary_formats::import::NoteLevel;
use volary_formats::import::index::torch_dump::TorchDump;
use volary_formats::import::index::{
    InPlace, LARGE_GROWING, LARGE_PACKED, Progress, directory, is_large,
};
use volary_parquet::is_parquet;

use super::annotations::ImportedAnnotations;
use super::continuation::Continuation;
use super::known_files::{identify, keep_file, note_uncopied, tell_again};
use super::large_file::{Beginning, LargeFile};
use super::partial_preview::PartialEpisode;
use super::running_import::{FileOutcome, RunningImport, kept};
use super::state::LibraryService;
use super::{listing, partial_preview, running_import};
use crate::error::LibraryError;
use crate::repository::KnownFile;
use crate::source::{Source, Window, end_of};

/// Imports a file in place, if it is large and its format allows that.
pub(super) async fn read_in_place<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    file: &Rc<dyn Source>,
    annotations: Option<&ImportedAnnotations>,
) -> Result<FileOutcome, LibraryError> {
    let size = file.size();
    let is_growing = file.is_growing();
    if size < LARGE_PACKED && !(is_growing && size >= LARGE_GROWING) {
        return Ok(FileOutcome::Whole);
    }
    let start = file.read(0..4).await?;
    let is_packed = is_archive(&start);
    let is_whole = !is_packed && reading.steps.is_whole(file);
    if is_whole || !is_large(size, &start, is_growing) || is_parquet(&start) {
        return Ok(FileOutcome::Whole);
    }
    let annotated = match annotations.filter(|_| !is_packed) {
        Some(annotations) => annotations.behind(library, file).await,
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
        let reader = if is_packed {
            let trained = match trained {
                Some(trained) => Some(&*trained.files),
                None => (!reading.steps.is_whole(own)).then_some(&[][..]),
            };
            begin_archive(library, own, file, trained).await?
        } else {
            let readers = library.code.readers().await?;
            let mappings = library.mappings.borrow().clone();
            // The annotations behind the traces are not indexed.
            Some(readers.begin_slices(Rc::<dyn Source>::clone(file), size, mappings))
        };
        Ok::<_, LibraryError>(match reader {
            Some(reader) => Some(Beginning::of(library, reading, reader).await?),
            None => None,
        })
    };
    let (identified, beginning) = join(identified, beginning).await;
    let beginning = beginning?;
    let (id, end) = match identified {
        Ok(identified) => identified,
        Err(reason) => {
            partial_preview::keep_partial(library, reading, partial(beginning)).await;
            return Err(reason.into());
        }
    };
    let name = file.name();
    let fields = beginning
        .as_ref()
        .and_then(|beginning| beginning.reader.fields().cloned());
    let window = match fields {
        Some(_) => Rc::new(Window::on(Rc::clone(file)).read_by(fields.clone())),
        None => window,
    };
    // With another mapping it is another reading.
    let is_known = end.is_some() && {
        let store = running_import::store_for(library, reading.origin);
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
        partial_preview::end_partial(library, reading, partial(beginning).zip(first));
        let text = format!("{name} is in the library and its trajectories can be opened.");
        reading.note(NoteLevel::Read, &name, text);
        return Ok(FileOutcome::Taken);
    }
    let large = LargeFile {
        library,
        reading,
        id: &id,
        source: file,
        annotated: annotated.as_ref(),
    };
    let outcome = match beginning {
        Some(beginning) => large.read_to_end(beginning).await,
        None => Ok(FileOutcome::Whole),
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

/// Begins an archive: a rollout dump or a log. `source` is the file with the training dumps behind it; without them, a dump is
/// read as a whole. `None` if all of it must be read as a whole.
async fn begin_archive(
    library: &LibraryService,
    file: &Rc<dyn Source>,
    source: &Rc<dyn Source>,
    trained: Option<&[Rc<dyn Source>]>,
) -> Result<Option<Box<dyn InPlace>>, LibraryError> {
    let Some((members, parts)) = directory(&**file).await? else {
        return Ok(None);
    };
    let Some(mut dump) = TorchDump::of(Rc::<dyn Source>::clone(source), file.size(), &members)
    else {
        let readers = library.code.readers().await?;
        return Ok(readers.begin_log(Rc::<dyn Source>::clone(source), &members, parts));
    };
    let Some(trained) = trained else {
        return Ok(None);
    };
    let mut behind = Vec::with_capacity(trained.len());
    for file in trained {
        let Some((members, _)) = directory(&**file).await? else {
            return Ok(None);
        };
        behind.push((file.size(), members));
    }
    let is_joined = dump.join_with(behind).await?;
    Ok(is_joined.then(|| Box::new(dump) as Box<dyn InPlace>))
}

/// Reads on in a file that has grown, through the window, so that each byte is fetched once.
pub(super) async fn read_on<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    window: Window,
    continuation: Continuation,
) -> Result<FileOutcome, LibraryError> {
    let start = Some(continuation.start());
    let Continuation {
        file: id,
        at,
        indexer,
        ..
    } = continuation;
    let fields = indexer.fields().cloned();
    let source = Rc::clone(window.source());
    let window = Rc::new(window.read_by(fields.clone()));
    library
        .windows
        .borrow_mut()
        .insert(id.clone(), Rc::clone(&window));
    let readers = library.code.readers().await?;
    let mut reader = readers.go_on(Rc::<Window>::clone(&window), indexer, at);
    reader.keep_texts(true);
    let beginning = Beginning {
        reader,
        progress: Some(Progress::More),
        entries: Vec::new(),
        partial: None,
        start,
    };
    let file = Rc::clone(&window) as Rc<dyn Source>;
    let large = LargeFile {
        library,
        reading,
        id: &id,
        source: &file,
        annotated: None,
    };
    let outcome = large.read_to_end(beginning).await;
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

/// Takes the partial episode of a file that is not read further.
fn partial(beginning: Option<Beginning>) -> Option<PartialEpisode> {
    beginning?.partial
}
