//! Large files that the library knows: recognised by their contents when they are imported again, and kept with their
//! episodes.
//!
//! Invariant: a file whose end was not read, or some of whose rows were not stored, is never taken for known.

use std::rc::Rc;

use volary_core::json::Text;
use volary_formats::import::NoteLevel;
use volary_protocol::library::Event;

use super::running_import;
use super::running_import::RunningImport;
use super::state::{BATCH, LibraryService, Output};
use crate::repository::{InFile, KnownFile};
use crate::source::{ReadError, Source, end_of, start_of};

/// Returns the id of a file. If all of it is in the library already, also returns the value that distinguishes it
/// from files with the same beginning.
///
/// A file may still be downloading, so its end is read only if another file has the same beginning.
pub(super) async fn identify(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    file: &dyn Source,
) -> Result<(Text, Option<Text>), ReadError> {
    let store = running_import::store_for(library, reading.origin);
    let start = start_of(file).await?;
    let Some(known) = store.file(&start).await.filter(|file| file.whole) else {
        return Ok((start, None));
    };
    let end = end_of(file).await?;
    if known.end.as_ref() == Some(&end) {
        return Ok((start, Some(end)));
    }
    let id: Text = format!("{start}{end}").into();
    let is_whole = store.file(&id).await.is_some_and(|file| file.whole);
    Ok((id, is_whole.then_some(end)))
}

/// Sends the rows of a known file again, in order, at most one batch. Returns the id of the first.
pub(super) async fn tell_again(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    file: &Text,
) -> Option<Text> {
    let mut ids: Vec<(Rc<InFile>, Text)> = {
        let known = library.known.borrow();
        let locations = known.episodes.iter().filter_map(|(id, known_episode)| {
            let location = known_episode.location.as_ref()?;
            (location.file == *file).then(|| (Rc::clone(location), id.clone()))
        });
        locations.collect()
    };
    ids.sort_by_key(|(at, _)| {
        let start = at.range.parts.first().map(|part| part.start);
        (start, at.range.number)
    });
    let ids: Vec<Text> = ids.into_iter().take(BATCH).map(|(_, id)| id).collect();
    let first = ids.first().cloned();
    let rows = library.rows_of(&ids).await;
    (reading.send)(Output::Event(Event::Added { rows }));
    first
}

pub(super) async fn keep_file(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    file: KnownFile,
) {
    let (id, name) = (file.id.clone(), file.name.clone());
    reading.progress(&name, file.size);
    let is_copied = file.source.is_some();
    let keeping = running_import::store_for(library, reading.origin).keep_file(file);
    let kept = if is_copied {
        library.cancelled.unless(reading.number, keeping).await
    } else {
        Some(keeping.await)
    };
    match kept {
        Some(Ok(())) => {}
        Some(Err(error)) => reading.note(NoteLevel::Unreadable, &name, error.to_string()),
        None => note_uncopied(library, reading, &id, &name).await,
    }
}

/// Notes that a file could not be copied into the browser.
pub(super) async fn note_uncopied(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    id: &Text,
    name: &Text,
) {
    let store = running_import::store_for(library, reading.origin);
    let is_here = |file: KnownFile| file.source.is_some();
    if library.is_wanted(id) && !store.file(id).await.is_some_and(is_here) {
        let text = format!(
            "{name} was not copied into this browser. What was read can be opened until you \
             leave this page. After that, import the file again."
        );
        reading.note(NoteLevel::Unreadable, name, text);
    }
}
