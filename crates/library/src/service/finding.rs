//! Full-text search in all episodes, and in one.

use std::rc::Rc;
use volary_protocol::RequestId;
use volary_protocol::library::Event;

use volary_analysis::search::{Document, Hit, Query};
use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_episode::Episode;

use super::state::{BATCH, KnownEpisode, LibraryService, Output, Send};
use super::{listing, opening};
use crate::error::LibraryError;
use crate::findings::{EpisodeMatch, Match, find};

/// The number of characters of context on each side of a match.
const AROUND: usize = 40;
/// The maximum number of matches with context; further matches are only listed.
const MOST_SHOWN: usize = 1000;
/// The maximum number of episodes that are indexed before the first search.
pub(super) const SETTLED: usize = 20_000;

/// Indexes missing episodes while the worker is idle.
pub(super) async fn settle(library: &LibraryService) {
    listing::ready(library).await;
    if missing(library).len() <= SETTLED && !library.search.is_settling.replace(true) {
        index_all(library, None, &|_| {}).await;
        library.search.is_settling.set(false);
    }
}

/// Returns the episodes that the index lacks, in the order of their positions in files.
fn missing(library: &LibraryService) -> Vec<(Text, KnownEpisode)> {
    let (known, indexed) = (library.known.borrow(), library.search.indexed.borrow());
    let missing = known
        .episodes
        .iter()
        .filter(|(id, _)| !indexed.contains(*id));
    let mut missing: Vec<(Text, KnownEpisode)> = missing
        .map(|(id, known_episode)| (id.clone(), known_episode.clone()))
        .collect();
    missing.sort_by_cached_key(|(id, known_episode)| match &known_episode.location {
        None => (None, 0, id.clone()),
        Some(at) => {
            let start = at.range.parts.first().map_or(0, |part| part.start);
            (Some(at.file.clone()), start, id.clone())
        }
    });
    missing
}

/// Indexes missing episodes for a search. Returns false once another search supersedes it.
async fn index_all(library: &LibraryService, search: Option<RequestId>, send: Send<'_>) -> bool {
    let missing = missing(library);
    for (index, (id, known_episode)) in missing.iter().enumerate() {
        if search.is_some_and(|number| number != library.search.last.get()) {
            return false;
        }
        if search.is_some() && index > 0 && index.is_multiple_of(BATCH) {
            send(Output::Event(Event::Progress {
                doing: format!("Reading {index} of {} for the search", missing.len()).into(),
                done: Some(index as f64 / missing.len() as f64),
            }));
        }
        // It was indexed or deleted meanwhile.
        if library.search.is_indexed(id) || library.known_episode(id).is_none() {
            continue;
        }
        let episode = searched(library, id, known_episode).await;
        if library.known_episode(id).is_none() {
            // It was deleted meanwhile.
            continue;
        }
        match episode {
            Ok(episode) => library.search.insert(&episode, id),
            // Marked, so that later searches do not try it again.
            Err(_) => library.search.skip(id),
        }
    }
    true
}

/// Reads an episode for indexing. The row of an episode in a file is not looked up.
pub(super) async fn searched(
    library: &LibraryService,
    id: &Text,
    known_episode: &KnownEpisode,
) -> Result<Episode, LibraryError> {
    match &known_episode.location {
        None => opening::episode(library, id).await,
        Some(at) => {
            let row = Row {
                id: id.clone(),
                name: known_episode.name.clone(),
                ..Row::default()
            };
            opening::open_at(library, at, &row).await
        }
    }
}

/// Finds matches in an episode. Its texts are cached, because people type letter by letter.
pub(super) async fn find_in_episode(
    library: &LibraryService,
    id: &Text,
    words: &Text,
) -> Vec<EpisodeMatch> {
    let query = Query::parse(words);
    if query.is_empty() {
        return Vec::new();
    }
    let known = library
        .search
        .document
        .borrow()
        .clone()
        .filter(|known| known.0 == *id);
    let (_, document) = match known {
        Some(known) => known,
        None => {
            let Ok(episode) = opening::episode(library, id).await else {
                return Vec::new();
            };
            let known = (id.clone(), Rc::new(Document::of(&episode)));
            // A partial episode is not cached, because it grows.
            if !library.previews.has_partial(id) {
                *library.search.document.borrow_mut() = Some(known.clone());
            }
            known
        }
    };
    find(&document, &query)
}

pub(super) async fn search(
    library: &LibraryService,
    number: RequestId,
    words: &Text,
    send: Send<'_>,
) {
    library.search.last.set(number);
    listing::ready(library).await;
    if !index_all(library, Some(number), send).await {
        return;
    }
    let query = Query::parse(words);
    let (mut found, unsure) = {
        let index = library.search.index.borrow();
        let matches = index.search(&query);
        let found = matches.found.iter().enumerate();
        let found: Vec<Match> = found
            .filter_map(|(rank, (id, hit))| {
                if rank < MOST_SHOWN {
                    Some(found_in(id, index.document(id)?, hit))
                } else {
                    Some(Match {
                        id: id.clone(),
                        step: hit.position.step as u64,
                        ..Match::default()
                    })
                }
            })
            .collect();
        (found, matches.unsure)
    };
    for (index, id) in unsure.iter().enumerate() {
        if number != library.search.last.get() {
            return;
        }
        if index > 0 && index.is_multiple_of(BATCH) {
            send(Output::Event(Event::Progress {
                doing: format!("Searching {index} of {} again", unsure.len()).into(),
                done: Some(index as f64 / unsure.len() as f64),
            }));
        }
        let Some(known_episode) = library.known_episode(id) else {
            continue;
        };
        let document = searched(library, id, &known_episode).await;
        let document = document.map(|episode| Document::of(&episode));
        if let Ok(document) = document
            && let Some(hit) = document.first(&query)
        {
            found.push(found_in(id, &document, &hit));
        }
    }
    send(Output::Event(Event::Found { matches: found }));
}

fn found_in(id: &Text, document: &Document, hit: &Hit) -> Match {
    let snippet = document.snippet(hit, AROUND);
    Match {
        id: id.clone(),
        step: hit.position.step as u64,
        before: snippet.before.into(),
        hit: snippet.hit.into(),
        after: snippet.after.into(),
    }
}
