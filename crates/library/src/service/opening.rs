//! Opens an episode from where it is stored.

use std::rc::Rc;

use volary_analysis::annotations::tags;
use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_episode::{Episode, native};
use volary_formats::import::index::torch_dump;
use volary_protocol::library::TaggedEpisode;

use super::listing;
use super::state::{KnownEpisode, LibraryService};
use crate::error::LibraryError;
use crate::repository::{EpisodeStore, InFile};
use crate::source::{Source, Window};

/// Opens an episode.
pub(super) async fn episode(library: &LibraryService, id: &Text) -> Result<Episode, LibraryError> {
    // The provisional id of a partial episode may have been assigned to another episode.
    let is_free = library.known_episode(id).is_none();
    let completed = library.previews.completed(id).filter(|_| is_free);
    let id = completed.as_ref().unwrap_or(id);
    if let Some(partial) = library.previews.partial(id) {
        return Ok(partial);
    }
    let known_episode = awaited(library, id).await;
    if let Some(partial) = library.previews.partial(id) {
        return Ok(partial);
    }
    let known_episode = known_episode.ok_or(LibraryError::UnknownEpisode)?;
    if let Some(episode) = library.previews.take_held(id) {
        return Ok(episode);
    }
    match &known_episode.location {
        Some(location) => {
            let row = library.store_of(id).row(id).await;
            let (row, _) = row.ok_or(LibraryError::UnknownEpisode)?;
            open_at(library, location, &row).await
        }
        None => {
            let text = library.store_of(id).text(id).await?;
            let text = text.ok_or(LibraryError::UnknownEpisode)?;
            let reading = native::read(&text).map_err(|error| LibraryError::DamagedRecord {
                why: error.to_string(),
            })?;
            let first = reading.episodes.into_iter().next();
            first.ok_or(LibraryError::EmptyRecord)
        }
    }
}

/// Looks an episode up. If it is unknown, waits for the files that are being read.
async fn awaited(library: &LibraryService, id: &Text) -> Option<KnownEpisode> {
    listing::ready(library).await;
    loop {
        let state = library.in_flight.state();
        let known_episode = library.known_episode(id);
        if !library.in_flight.is_any() || library.previews.has_partial(id) {
            return known_episode;
        }
        // An episode is shown shortly before it is stored.
        if known_episode.is_some() && library.store_of(id).row(id).await.is_some() {
            return known_episode;
        }
        library.in_flight.changed(state).await;
    }
}

/// Waits until episodes that are already shown are stored.
pub(super) async fn wait_until_stored(library: &LibraryService, ids: &[Text]) {
    listing::ready(library).await;
    for id in ids {
        if library.in_flight.is_any() && library.known_episode(id).is_some() {
            awaited(library, id).await;
        }
    }
}

/// Opens an episode, with its tags in its metadata.
pub(super) async fn tagged(
    library: &LibraryService,
    chosen: &TaggedEpisode,
) -> Result<Episode, LibraryError> {
    let mut episode = episode(library, &chosen.id).await?;
    tags::put(&mut episode, chosen.tags.clone());
    Ok(episode)
}

/// Opens an episode from its range in a file.
pub(super) async fn open_at(
    library: &LibraryService,
    at: &InFile,
    row: &Row,
) -> Result<Episode, LibraryError> {
    let window = window(library, &at.file).await?;
    let mut parts = Vec::with_capacity(at.range.parts.len());
    for part in &at.range.parts {
        parts.push(window.read(part.clone()).await?);
    }
    let name = window.source().name();
    let episode = if torch_dump::is_sample(&at.range, &parts) {
        torch_dump::open_sample(&name, &parts, &at.range, row)
    } else {
        let readers = library.code.readers().await?;
        readers.open(&name, parts, &at.range, row, window.fields())
    };
    episode.ok_or(LibraryError::ChangedFile { file: name })
}

async fn window(library: &LibraryService, id: &Text) -> Result<Rc<Window>, LibraryError> {
    for (other, window) in &*library.windows.borrow() {
        // Of many files, what was read ahead would add up.
        if other != id {
            window.release();
        }
    }
    if let Some(window) = library.windows.borrow().get(id) {
        return Ok(Rc::clone(window));
    }
    let file = match library.in_memory.file(id).await {
        None => library.store.file(id).await,
        known => known,
    };
    let Some(file) = file else {
        return Err(LibraryError::UnknownFile);
    };
    let Some(source) = file.source else {
        return Err(LibraryError::NotCopied {
            file: file.name,
            bytes: file.size,
        });
    };
    let window = Rc::new(Window::on(source).read_by(file.fields));
    let mut windows = library.windows.borrow_mut();
    windows.insert(id.clone(), Rc::clone(&window));
    Ok(window)
}
