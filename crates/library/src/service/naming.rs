//! Ids of episodes. No episode replaces another one, and an episode that is imported again keeps its id.
//!
//! Ids in files are often plain numbers, so they are made unique among the episodes that this worker knows.
//! Another tab may store an episode with the same id before either is notified of the other; the store then rejects
//! ours, which gets another id.

use std::collections::HashMap;

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_episode::{Episode, native};
use volary_formats::import::ids::variants;
use volary_protocol::library::Origin;

use super::running_import;
use super::state::LibraryService;
use crate::repository::{Held, InFile, Item, ListedRow};

/// An episode with its id.
pub(super) struct Named {
    pub(super) episode: Episode,
    pub(super) text: String,
    /// Whether no such episode is stored, as far as is known.
    pub(super) is_new: bool,
}

/// The episode that has an id already, compared with a new one.
enum IdUse {
    Free,
    Same,
    Another,
}

/// Assigns an id that no other episode has.
pub(super) async fn named(
    library: &LibraryService,
    origin: Origin,
    mut episode: Episode,
    batch: &[Item],
) -> Named {
    let mut ids = variants(&episode.id);
    loop {
        if let Some(id) = ids.next() {
            episode.id = id;
        }
        let text = native::to_text(&episode);
        let is_new = match id_use(library, &episode.id, &text, batch).await {
            IdUse::Another => continue,
            IdUse::Free => true,
            // An episode of the site may be stored as well, and another tab may have stored another one.
            IdUse::Same => {
                let store = running_import::store_for(library, origin);
                match store.row(&episode.id).await {
                    None => true,
                    Some((_, Some(_))) => continue,
                    Some(_) if store.has_other_text(&episode.id, &text).await => continue,
                    Some(_) => false,
                }
            }
        };
        return Named {
            episode,
            text,
            is_new,
        };
    }
}

async fn id_use(library: &LibraryService, id: &Text, text: &str, batch: &[Item]) -> IdUse {
    let same = |is_same| if is_same { IdUse::Same } else { IdUse::Another };
    let Some(known_episode) = library.known_episode(id) else {
        return IdUse::Free;
    };
    if known_episode.location.is_some() {
        return IdUse::Another;
    }
    if let Some(waiting) = batch.iter().find(|item| item.row.id == *id) {
        return same(matches!(&waiting.held, Held::Text(known) if known == text));
    }
    // Another reading may be about to store it. The row is then missing, and the store decides.
    let store = library.store_of(id);
    match store.row(id).await {
        None => IdUse::Free,
        Some(_) => same(!store.has_other_text(id, text).await),
    }
}

/// Returns a free id for the episode at a location, and whether it is new.
pub(super) fn free_id(library: &LibraryService, wanted: &Text, at: &InFile) -> (Text, bool) {
    let known = library.known.borrow();
    let mut free = variants(wanted).filter_map(|id| match known.episodes.get(&id) {
        None => Some((id, true)),
        Some(known_episode) => {
            let is_same = known_episode.location.as_deref() == Some(at);
            is_same.then_some((id, false))
        }
    });
    free.next().unwrap_or_else(|| (wanted.clone(), true))
}

/// Adds the stored tags to the rows of episodes that are imported again: the user may have given them.
pub(super) async fn keep_tags(library: &LibraryService, origin: Origin, batch: &mut [Item]) {
    let again = batch.iter_mut().filter(|item| !item.is_new);
    let mut rows: HashMap<Text, &mut Row> = again
        .map(|item| (item.row.id.clone(), &mut item.row))
        .collect();
    let ids: Vec<Text> = rows.keys().cloned().collect();
    for (known, _) in running_import::store_for(library, origin)
        .rows_of(&ids)
        .await
    {
        let Some(row) = rows.get_mut(&known.id) else {
            continue;
        };
        for tag in known.tags {
            if !row.tags.contains(&tag) {
                row.tags.push(tag);
            }
        }
    }
}

/// Assigns new ids to the episodes whose ids are taken, and remembers the episodes that have those ids.
pub(super) async fn renamed(
    library: &LibraryService,
    origin: Origin,
    mut batch: Vec<Item>,
) -> Vec<Item> {
    let ids: Vec<Text> = batch.iter().map(|item| item.row.id.clone()).collect();
    let others = running_import::store_for(library, origin)
        .rows_of(&ids)
        .await
        .into_iter();
    let mut others: HashMap<Text, ListedRow> =
        others.map(|other| (other.0.id.clone(), other)).collect();
    let mut taken = Vec::new();
    for (number, item) in batch.iter_mut().enumerate() {
        let other = others.remove(&item.row.id).filter(|_| item.is_new);
        if let Some((row, location)) = other {
            library.lose(&row.id);
            library.remember(&row, location);
            // The item has no id until it gets a new one.
            taken.push((number, std::mem::take(&mut item.row.id)));
        }
    }
    if taken.is_empty() {
        // The records with these ids cannot be read, or were deleted only in this page: they may be replaced.
        batch.iter_mut().for_each(|item| item.is_new = false);
    }
    for (number, wanted) in taken {
        let (id, held, is_new) = match &batch[number].held {
            Held::InFile(at) => {
                let (id, is_new) = free_id(library, &wanted, at);
                (id, Held::InFile(at.clone()), is_new)
            }
            Held::Text(text) => {
                let mut episode = rewritten(text);
                episode.id = wanted;
                let named = named(library, origin, episode, &batch).await;
                (named.episode.id, Held::Text(named.text), named.is_new)
            }
        };
        let location = match &held {
            Held::InFile(at) => Some(at.clone()),
            Held::Text(_) => None,
        };
        let item = &mut batch[number];
        (item.row.id, item.held, item.is_new) = (id, held, is_new);
        // It was of the text with the other id.
        item.again = None;
        library.remember(&item.row, location);
    }
    keep_tags(library, origin, &mut batch).await;
    batch
}

/// Decodes a text that was just encoded, which cannot fail.
fn rewritten(text: &str) -> Episode {
    let read = native::read(text).map(|reading| reading.episodes.into_iter().next());
    read.ok().flatten().unwrap_or_default()
}
