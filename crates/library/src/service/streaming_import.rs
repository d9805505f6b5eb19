//! Imports large files without holding them in memory. Their episodes are opened in place.

use std::rc::Rc;

use futures_util::future::join;
use volary_formats::archive::is_archive;
use volary_formats::import::NoteLevel;
use volary_parquet::is_parquet;

use super::annotations::ImportedAnnotations;
use super::known_files::{identify, keep_file, note_uncopied, tell_again};
use super::large_file::{Beginning, LargeFile};
use super::packed::Dumps;
use super::partial_preview::Begun;
use super::reading::{FileOutcome, RunningImport, kept};
use super::{LibraryService, listing, packed, partial_preview, readers, reading};
use crate::repository::KnownFile;
use crate::source::{Source, Window, end_of};

/// The minimum size of files whose episodes are not copied, if they can be read in slices…
pub(super) const LARGE: u64 = 4 << 20;
/// …that of archives, which unpack to about ten times as much…
pub(super) const LARGE_PACKED: u64 = 1 << 18;
/// …and that of files that are being written to: what is appended to them is read on from their last line.
const LARGE_GROWING: u64 = 1 << 16;

/// Imports a file in place, if it is large and its format allows that.
pub(super) async fn read_in_place<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    file: &Rc<dyn Source>,
    annotations: Option<&ImportedAnnotations>,
) -> Result<FileOutcome, String> {
    let size = file.size();
    let large = if file.is_growing() {
        LARGE_GROWING
    } else {
        LARGE
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
        if is_packed {
            let dumps = match trained {
                Some(trained) => Dumps::With(&trained.files),
                None if reading.steps.is_whole(own) => Dumps::Not,
                None => Dumps::With(&[]),
            };
            packed::begin(library, &window, &**own, dumps).await
        } else {
            let readers = readers::load(&*library.code).await?;
            readers.begin_slices(library, reading, file).await
        }
    };
    let (identified, beginning) = join(identified, beginning).await;
    let beginning = beginning?;
    let (id, end) = match identified {
        Ok(identified) => identified,
        Err(reason) => {
            partial_preview::keep_begun(library, reading, begun(beginning)).await;
            return Err(reason);
        }
    };
    let name = file.name();
    let fields = beginning.as_ref().and_then(|beginning| beginning.fields());
    let window = match fields {
        Some(_) => Rc::new(Window::on(Rc::clone(file)).read_by(fields.clone())),
        None => window,
    };
    // With another mapping it is another reading.
    let is_known = end.is_some() && {
        let store = reading::store_for(library, reading.origin);
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
        partial_preview::end_begun(library, reading, begun(beginning).zip(first));
        let text = format!("{name} is in the library and its trajectories can be opened.");
        reading.note(NoteLevel::Read, &name, text);
        return Ok(FileOutcome::Taken);
    }
    let large = LargeFile {
        library,
        reading,
        id: &id,
        source: file,
        window: &window,
        annotated: annotated.as_ref(),
    };
    let outcome = match beginning {
        Some(beginning) => beginning.read_to_end(large).await,
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

/// Takes the partial episode of a file that is not read further.
fn begun(beginning: Option<Box<dyn Beginning>>) -> Option<Begun> {
    beginning?.take_begun()
}
