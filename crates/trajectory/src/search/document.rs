//! The texts of one episode, folded, one after the other; and what is found in them.

use std::ops::Range;

use super::casefold::{Folded, Folding};

use super::query::Query;
use crate::episode::Episode;
use crate::passages::{Place, passages};

/// The separator between texts; a query never contains it.
const BETWEEN: &str = "\0";
/// Folded texts hold places of 32 bits. Text past this is not searched.
const MOST_BYTES: usize = u32::MAX as usize / 4;
/// Of an episode with more steps the length is added up first: texts that grow take three times their room.
const MANY: usize = 500;

/// The texts of one episode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    folded: Folded,
    /// Where each text begins, and whose it is.
    starts: Vec<(u32, Place)>,
}

/// A word or phrase that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of the text that contains it.
    pub place: Place,
    /// Its first character in that text, counted in characters.
    pub start: usize,
    /// How many characters it has.
    pub length: usize,
    /// Its byte offset in the document.
    at: usize,
    end: usize,
}

/// A hit with its context, in the original spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text before it; begins with "…" if it was shortened.
    pub before: String,
    pub hit: String,
    /// The text after it; ends with "…" if it was shortened.
    pub after: String,
}

impl Document {
    /// The texts of an episode.
    pub fn of(episode: &Episode) -> Self {
        let length = match episode.steps.len() > MANY {
            true => passages(episode)
                .map(|(_, text)| text.len() + BETWEEN.len())
                .sum(),
            false => 0,
        };
        let mut folding = Folding::with_capacity(length.min(MOST_BYTES));
        let mut starts = Vec::new();
        for (place, text) in passages(episode) {
            if folding.len() + text.len() > MOST_BYTES {
                break;
            }
            starts.push((folding.len() as u32, place));
            folding.push(&text);
            folding.push(BETWEEN);
        }
        starts.shrink_to_fit();
        Document {
            folded: folding.done(),
            starts,
        }
    }

    /// What it takes in memory.
    pub fn bytes(&self) -> usize {
        self.folded.bytes() + self.starts.len() * size_of::<(u32, Place)>()
    }

    pub(super) fn folded(&self) -> &str {
        self.folded.text()
    }

    /// The hit that shows best why the document matches, if all terms are there: the first one of the terms as a
    /// phrase, or else of the longest term, which says more than words such as "the".
    pub fn first(&self, query: &Query) -> Option<Hit> {
        let text = self.folded.text();
        let mut firsts = query.terms.iter().map(|term| term.ranges(text).next());
        let longest = firsts.next()??;
        if firsts.any(|range| range.is_none()) {
            return None;
        }
        let phrase = query.phrase.as_ref();
        self.hit(
            phrase
                .and_then(|phrase| phrase.ranges(text).next())
                .unwrap_or(longest),
        )
    }

    /// All hits of all terms in order, at most `limit`; none unless all terms are there.
    pub fn hits(&self, query: &Query, limit: usize) -> Vec<Hit> {
        let mut ranges = Vec::new();
        for term in &query.terms {
            let before = ranges.len();
            ranges.extend(term.ranges(self.folded.text()).take(limit));
            if ranges.len() == before {
                return Vec::new();
            }
        }
        ranges.sort_by_key(|range| (range.start, range.end));
        ranges.dedup();
        ranges.truncate(limit);
        ranges
            .into_iter()
            .filter_map(|range| self.hit(range))
            .collect()
    }

    /// A hit with up to `around` characters on either side, from the same text.
    pub fn snippet(&self, hit: &Hit, around: usize) -> Snippet {
        let text = self.folded.text();
        let index = self.index_of(hit.at);
        let from = self
            .starts
            .get(index)
            .map_or(0, |(start, _)| *start as usize);
        let next = self
            .starts
            .get(index + 1)
            .map_or(text.len(), |(start, _)| *start as usize);
        let to = next.saturating_sub(BETWEEN.len());
        let (Some(before), Some(after)) = (text.get(from..hit.at), text.get(hit.end..to)) else {
            return Snippet::default();
        };
        let first = before.char_indices().rev().take(around).last();
        let start = hit.at - first.map_or(0, |(place, _)| before.len() - place);
        let end = hit.end
            + after
                .chars()
                .take(around)
                .map(char::len_utf8)
                .sum::<usize>();
        let ellipsis = |cut: bool| if cut { "…" } else { "" };
        Snippet {
            before: format!(
                "{}{}",
                ellipsis(start > from),
                self.folded.original(start..hit.at)
            ),
            hit: self.folded.original(hit.at..hit.end),
            after: format!(
                "{}{}",
                self.folded.original(hit.end..end),
                ellipsis(end < to)
            ),
        }
    }

    fn index_of(&self, at: usize) -> usize {
        let after = self
            .starts
            .partition_point(|(start, _)| *start as usize <= at);
        after.saturating_sub(1)
    }

    fn hit(&self, range: Range<usize>) -> Option<Hit> {
        let (start, place) = *self.starts.get(self.index_of(range.start))?;
        let text = self.folded.text();
        Some(Hit {
            place,
            start: text.get(start as usize..range.start)?.chars().count(),
            length: text.get(range.clone())?.chars().count(),
            at: range.start,
            end: range.end,
        })
    }
}
