//! The lines that a search leaves out, before they are parsed: those that lack its words.
//!
//! Readers make some names, such as "Conversation 3", so a word may be in an episode and not in its line. The first lines of a
//! file are therefore parsed whatever they have, and show whether its lines can be left out.

use volary_analysis::search::{Document, Query, RawFilter};

use super::Entry;

/// The number of bytes at the start of a file that are parsed whatever they have.
const TRIAL: u64 = 256 << 10;

/// Leaves out lines that lack the words of a search.
#[derive(Clone, Debug)]
pub struct LineFilter {
    query: Query,
    raw: RawFilter,
}

impl LineFilter {
    /// The filter of a query. `None` if it can leave out nothing.
    pub fn of(query: &Query) -> Option<LineFilter> {
        Some(LineFilter {
            query: query.clone(),
            raw: RawFilter::of(query)?,
        })
    }

    /// Whether the lines from this offset on can be left out.
    pub(super) fn rules_out(&self, lines: &[u8], at: u64) -> bool {
        at >= TRIAL && !self.raw.may_match(lines)
    }

    /// Whether what was read from a line at this offset shows that lines cannot be left out: it has the words, and the line
    /// lacks them.
    pub(super) fn is_refuted(&self, line: &[u8], at: u64, found: &[Entry]) -> bool {
        let finds = |entry: &Entry| {
            let episode = entry.episode.as_ref();
            episode.is_some_and(|episode| Document::of(episode).first(&self.query).is_some())
        };
        at < TRIAL && !self.raw.may_match(line) && found.iter().any(finds)
    }
}
