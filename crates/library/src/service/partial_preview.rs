//! A preview of the first episode of a file that is still being read: the part read so far can be opened.
//!
//! Invariant: the partial episode is not stored until the reading ends. Then the complete episode replaces it; if the
//! file breaks off, the partial episode itself is stored.

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_formats::import::NoteLevel;
use volary_formats::import::index::InPlace;
use volary_protocol::library::Event;

use super::naming::Named;
use super::running_import::{RunningImport, kept};
use super::state::{LibraryService, Output};
use super::{naming, running_import};
use crate::repository::{Held, Item};

/// The outcome in the row of a partial episode.
const OUTCOME: &str = "importing";

/// The minimum number of seconds between updates of a preview…
const PAUSE: f64 = 2.0;
/// …which is also at least this many times the duration of the last update.
const SHARE: f64 = 10.0;

/// What is shown of an episode whose file is still being read.
pub(super) struct PartialEpisode {
    /// Its provisional id.
    id: Text,
    /// The id in the file.
    own: Text,
    /// The time of the next update.
    due: f64,
}

/// Shows the first part of the first episode of a file, and updates it when an update is due.
pub(super) fn show_partial(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    reader: &dyn InPlace,
    partial: &mut Option<PartialEpisode>,
) {
    let start = library.clock.now();
    let is_due = partial.as_ref().is_none_or(|partial| start >= partial.due);
    let Some(mut episode) = is_due.then(|| reader.partial_episode()).flatten() else {
        return;
    };
    let own = episode.id.clone();
    let row = running_import::stamped(reading, Row::of(&episode, Vec::new()), 0);
    let has_answered = library.known.borrow().is_whole;
    let is_free =
        |id: &Text| library.known_episode(id).is_none() && !library.previews.has_partial(id);
    let id = match partial {
        Some(known) if known.own != own => return,
        // It is now known that its own id is free.
        Some(known) if has_answered && known.id != row.id && is_free(&row.id) => row.id.clone(),
        Some(known) => known.id.clone(),
        None => {
            let id = if has_answered {
                row.id.clone()
            } else {
                // The free ids are unknown until the store has been listed.
                format!("{} (reading {})", row.id, reading.number).into()
            };
            if !is_free(&id) {
                return;
            }
            id
        }
    };
    episode.id = id.clone();
    library.previews.begin(id.clone(), episode);
    let row = Row {
        id: id.clone(),
        outcome: OUTCOME.into(),
        // These values are not final.
        reward: None,
        tokens: None,
        cost: None,
        seconds: None,
        bytes: None,
        ..row
    };
    (reading.send)(Output::Event(Event::PartialRow { row: Box::new(row) }));
    if let Some(former) = partial.take_if(|known| known.id != id) {
        announce_complete(library, reading, former, id.clone());
    }
    reading.first.take();
    library.in_flight.notify();
    let now = library.clock.now();
    let due = now + PAUSE + SHARE * (now - start);
    *partial = Some(PartialEpisode { id, own, due });
}

/// Handles the complete episode.
pub(super) async fn complete<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    partial: &mut Option<PartialEpisode>,
) {
    if partial.is_none() || reading.found.get() == 0 {
        return;
    }
    kept(reading).await;
    if let Some((partial, into)) = partial.take().zip(reading.first.take()) {
        announce_complete(library, reading, partial, into);
    }
}

/// Stores the partial episode: the rest will not arrive.
pub(super) async fn keep_partial<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    partial: Option<PartialEpisode>,
) {
    let Some(partial) = partial else { return };
    let episode = library.previews.partial(&partial.id);
    let Some(mut episode) = episode else { return };
    episode.id = partial.own.clone();
    let Named {
        episode,
        text,
        is_new,
    } = naming::named(library, reading.origin, episode, &[]).await;
    let row = Row::of(&episode, Vec::new());
    let row = running_import::stamped(reading, row, text.len() as u64);
    library.remember(&row, None);
    let held = Held::Text(text);
    running_import::add(
        library,
        reading,
        vec![Item {
            row,
            held,
            again: None,
            is_new,
        }],
    )
    .await;
    kept(reading).await;
    let into = reading.first.take().unwrap_or(episode.id);
    let message = "Only the beginning of a trajectory was read. The library contains that part.";
    reading.note(NoteLevel::Unreadable, &"".into(), message.to_owned());
    announce_complete(library, reading, partial, into);
}

/// Replaces the preview by the first episode of the file, which is in the library already.
pub(super) fn end_partial(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    partial: Option<(PartialEpisode, Text)>,
) {
    if let Some((partial, first)) = partial {
        announce_complete(library, reading, partial, first);
    }
}

fn announce_complete(
    library: &LibraryService,
    reading: &RunningImport<'_>,
    partial: PartialEpisode,
    into: Text,
) {
    let PartialEpisode { id, .. } = partial;
    library.previews.complete(&id, &into);
    (reading.send)(Output::Event(Event::Renamed { id, into }));
}
