//! The list of all episodes: read once from the store, then updated by the change feed.

use std::collections::BTreeSet;

use volary_analysis::table::Row;
use volary_analysis::table::order::newest_first;
use volary_app::notice::Notice;
use volary_core::json::Text;
use volary_protocol::library::Event;

use super::state::{BATCH, LibraryService, Output, Send};
use super::unstored;
use crate::error::LibraryError;
use crate::repository::EpisodeStore;
use volary_protocol::ChangedEpisodes;

/// Handles a change of the store by any tab.
pub(crate) async fn handle_changes(
    library: &LibraryService,
    changed: ChangedEpisodes,
    send: Send<'_>,
) {
    for start in &changed.gone_from {
        handle_deleted_prefix(library, start, send).await;
    }
    handle_deleted(library, &changed.gone, send).await;
    handle_stored(library, &changed.kept, send).await;
}

/// Handles stored episodes.
pub(crate) async fn handle_stored(library: &LibraryService, ids: &[Text], send: Send<'_>) {
    loaded(library).await;
    unstored::stored(library, ids).await;
    if !library.known.borrow().is_whole {
        // The list will contain them.
        return;
    }
    let mut rows = Vec::new();
    for (row, location) in library.store.rows_of(ids).await {
        // An episode that this tab only shows may have the same id. It stays.
        if library.in_memory.has(&row.id) {
            continue;
        }
        library.remember(&row, location);
        library.search.changed(&row.id);
        rows.push(row);
    }
    if !rows.is_empty() {
        send(Output::Event(Event::Changed { rows }));
    }
}

/// Handles the deletion of all episodes whose ids have a prefix.
pub(crate) async fn handle_deleted_prefix(library: &LibraryService, start: &str, send: Send<'_>) {
    loaded(library).await;
    let gone: Vec<Text> = {
        let known = library.known.borrow();
        let gone = known.episodes.keys().filter(|id| id.starts_with(start));
        gone.cloned().collect()
    };
    handle_deleted(library, &gone, send).await;
}

/// Handles deleted episodes. News may be late: what was stored again meanwhile is not gone, and neither are episodes that
/// this tab only shows.
pub(crate) async fn handle_deleted(library: &LibraryService, ids: &[Text], send: Send<'_>) {
    loaded(library).await;
    let stored = library.store.rows_of(ids).await.into_iter();
    let stored: BTreeSet<Text> = stored.map(|(row, _)| row.id).collect();
    let gone = ids
        .iter()
        .filter(|id| !stored.contains(*id) && !library.in_memory.has(id))
        .filter(|id| library.lose(id).is_some());
    let ids: Vec<Text> = gone.cloned().collect();
    if !ids.is_empty() {
        send(Output::Event(Event::Gone { ids }));
    }
}

pub(super) async fn list(library: &LibraryService, send: Send<'_>) {
    let mut rows = load(library).await.unwrap_or_else(|error| {
        let reason = error.to_string().into();
        send(Output::Event(Event::NotRead { reason }));
        Vec::new()
    });
    // Reading from memory cannot fail.
    let in_memory = library.in_memory.rows().await.unwrap_or_default();
    // An earlier state of an episode may be stored.
    rows.retain(|row| !library.in_memory.has(&row.id));
    rows.extend(in_memory.into_iter().map(|(row, _)| row));
    rows.sort_by(newest_first);
    for rows in rows.chunks(BATCH) {
        let rows = rows.to_vec();
        send(Output::Event(Event::Added { rows }));
    }
    if let Some(Notice { what, why, advice }) = library.store.notice() {
        let [what, why, advice] = [what, why, advice].map(Text::from);
        send(Output::Event(Event::Notice { what, why, advice }));
    }
    send(Output::Event(Event::Listed));
}

/// Reads the rows of all stored episodes; an error says why they cannot be read. Tasks that wait in [`loaded`] then
/// continue.
async fn load(library: &LibraryService) -> Result<Vec<Row>, LibraryError> {
    library.has_asked.set(true);
    let rows = library.store.rows().await;
    for (row, location) in rows.iter().flatten() {
        library.remember(row, location.clone());
    }
    library.known.borrow_mut().is_whole = true;
    library.in_flight.notify();
    Ok(rows?.into_iter().map(|(row, _)| row).collect())
}

/// Waits until all episodes are known.
pub(super) async fn ready(library: &LibraryService) {
    loaded(library).await;
    if !library.known.borrow().is_whole {
        // The request to list reports the error.
        let _ = load(library).await;
    }
}

/// Waits while the store is being read. Changes are applied after that, because the store may have taken its
/// snapshot before them.
pub(super) async fn loaded(library: &LibraryService) {
    while library.has_asked.get() && !library.known.borrow().is_whole {
        let state = library.in_flight.state();
        library.in_flight.changed(state).await;
    }
}
