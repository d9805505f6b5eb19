//! `search_trajectories`: full-text search, with the messages that contain the words.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use volary_analysis::search::{Document, Query};
use volary_analysis::sensitive;
use volary_analysis::table::Row;
use volary_ask::Rendered;
use volary_episode::Episode;

use super::{Library, ToolReply, short};
use crate::mcp::failure::ToolFailure;
use crate::mcp::selection::{Conditions, RowFilter};

/// The numbers of trajectories and of hits in each, unless asked for, and their maxima.
const USUAL: usize = 20;
const MOST: usize = 100;
const USUAL_HITS: usize = 3;
const MOST_HITS: usize = 20;
/// The number of characters of context on either side of a hit.
const AROUND: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchArguments {
    /// Words, all of which a trajectory must contain; put phrases in double quotes. Case does not matter
    query: String,
    /// Conditions that the trajectories must meet
    #[serde(default)]
    filter: Vec<RowFilter>,
    /// The number of matching trajectories to skip
    #[serde(default)]
    offset: usize,
    /// The maximum number of trajectories: 20 by default, 100 at most
    #[serde(default)]
    limit: Option<usize>,
    /// The maximum number of hits in each trajectory: 3 by default, 20 at most
    #[serde(default)]
    hits: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResults {
    trajectories: Vec<FoundTrajectory>,
    /// There are more matching trajectories: pass this as `offset` to get them
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundTrajectory {
    id: String,
    file: String,
    name: String,
    hits: Vec<FoundHit>,
    /// There are more hits in this trajectory: ask for more `hits`
    has_more_hits: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundHit {
    /// 0 is the start
    step: usize,
    /// The number of the message, for read_trajectory; left out if the words are in no message
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<usize>,
    before: String,
    hit: String,
    after: String,
}

pub fn search(
    library: &Library,
    arguments: SearchArguments,
    cancelled: &CancellationToken,
) -> Result<ToolReply<SearchResults>, ToolFailure> {
    let query = Query::parse(&arguments.query);
    if query.is_empty() {
        return Err(ToolFailure::NoQuery);
    }
    let listing = library.catalog.listing()?;
    let conditions = Conditions::of(&arguments.filter, &listing)?;
    let limit = arguments.limit.unwrap_or(USUAL).clamp(1, MOST);
    let most_hits = arguments.hits.unwrap_or(USUAL_HITS).clamp(1, MOST_HITS);
    let matches = |episode: &Episode| {
        Document::of(episode).first(&query).is_some()
            && (arguments.filter.is_empty() || conditions.pass(&Row::of(episode, Vec::new())))
    };
    let mut skipped = 0;
    let mut results = SearchResults {
        trajectories: Vec::new(),
        next_offset: None,
    };
    library
        .catalog
        .search(&query, cancelled, &matches, &mut |entry, episode| {
            // Masked before it is cut, so that no part of a secret remains. Words that were masked are no hit.
            let Some(episode) = shown(library, episode) else {
                return true;
            };
            let hits = hits(library, &episode, &query, most_hits + 1);
            if hits.is_empty() {
                return true;
            }
            if skipped < arguments.offset {
                skipped += 1;
                return true;
            }
            if results.trajectories.len() == limit {
                results.next_offset = Some(arguments.offset + limit);
                return false;
            }
            let has_more_hits = hits.len() > most_hits;
            results.trajectories.push(FoundTrajectory {
                id: entry.row.id.to_string(),
                file: entry.file,
                name: short(&entry.row.name),
                hits: hits.into_iter().take(most_hits).collect(),
                has_more_hits,
            });
            true
        })?;
    let mut text = String::new();
    for found in &results.trajectories {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}: {}", found.id, found.name);
        for hit in &found.hits {
            let message = hit.message.map(|message| format!(", message {message}"));
            let _ = writeln!(
                text,
                "  step {}{}: {}{}{}",
                hit.step,
                message.unwrap_or_default(),
                hit.before,
                hit.hit,
                hit.after
            );
        }
        if found.has_more_hits {
            text.push_str("  more hits: ask for more `hits`.\n");
        }
    }
    match results.next_offset {
        Some(next) => {
            let _ = writeln!(
                text,
                "More trajectories match: call again with offset {next}."
            );
        }
        None if results.trajectories.is_empty() => text.push_str("Nothing was found.\n"),
        None => {}
    }
    Ok(ToolReply {
        text,
        value: results,
    })
}

/// The episode as it may be shown; `None` if it could not be masked.
fn shown(library: &Library, episode: Episode) -> Option<Episode> {
    if library.is_masked() {
        sensitive::masked(&episode).ok()
    } else {
        Some(episode)
    }
}

fn hits(library: &Library, episode: &Episode, query: &Query, most: usize) -> Vec<FoundHit> {
    let document = Document::of(episode);
    let hits = document.hits(query, most);
    if hits.is_empty() {
        return Vec::new();
    }
    let rendered = Rendered::of(episode, &library.render_options());
    let hits = hits.iter().map(|hit| {
        let snippet = document.snippet(hit, AROUND);
        let is_in = |message: &volary_ask::render::RenderedMessage| {
            let mut passages = message.passages.iter();
            passages.any(|passage| passage.position == hit.position)
        };
        FoundHit {
            step: hit.position.step,
            message: rendered.messages.iter().position(is_in),
            before: snippet.before,
            hit: snippet.hit,
            after: snippet.after,
        }
    });
    hits.collect()
}
