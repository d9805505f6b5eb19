//! Full-text search in one episode. Pure.

use std::collections::HashMap;

use volary_analysis::search::{Document, Query};
use volary_core::json::Text;
use volary_episode::passages::TextPosition;
pub use volary_protocol::library::{EpisodeMatch, Match};

/// The maximum number of matches: nobody looks through more.
pub const MOST: usize = 5_000;

/// Finds all matches of a query in an episode, in order, at most [`MOST`].
pub fn find(document: &Document, query: &Query) -> Vec<EpisodeMatch> {
    // The number of previous matches of the same characters in the same text.
    let mut counts: HashMap<(TextPosition, String), usize> = HashMap::new();
    let findings = document.hits(query, MOST).into_iter().map(|hit| {
        let matched: Text = document.snippet(&hit, 0).hit.into();
        let count = counts
            .entry((hit.position, matched.to_lowercase()))
            .or_default();
        *count += 1;
        EpisodeMatch {
            place: hit.position,
            start: hit.start,
            length: hit.length,
            before: *count - 1,
            words: matched,
        }
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::Episode;

    use super::*;

    #[test]
    fn findings_have_their_index_among_equal_ones() {
        let episode = Episode {
            name: "An ant".into(),
            start: vec![Message::user("Ant, ant and ANT.").into()],
            ..Episode::default()
        };
        let found = find(&Document::of(&episode), &Query::parse("ant"));
        let short: Vec<_> = found
            .iter()
            .map(|found| (found.start, &*found.words, found.before))
            .collect();
        assert_eq!(
            short,
            [(3, "ant", 0), (0, "Ant", 0), (5, "ant", 1), (13, "ANT", 2)]
        );
    }
}
