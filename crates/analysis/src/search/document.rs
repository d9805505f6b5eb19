//! The concatenated, folded texts of one episode, and the hits of a query in them.

use std::ops::Range;

use volary_episode::episode::Episode;
use volary_episode::passages::{TextPosition, passages};

use super::casefold::{Folded, Folding};

use super::query::Query;

/// The separator between texts; a query never contains it.
const BETWEEN: &str = "\0";
/// The maximum size of folded texts, whose offsets have 32 bits. Further text is not searched.
const MOST_BYTES: usize = u32::MAX as usize / 4;
/// The number of steps from which the total length is computed in advance: a buffer that grows needs up to three times
/// the memory.
const MANY: usize = 500;

/// The searchable texts of one episode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    folded: Folded,
    /// The start offset and position of each text.
    starts: Vec<(u32, TextPosition)>,
}

/// An occurrence of a term or phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of the text that contains it.
    pub position: TextPosition,
    /// The index of its first character in that text.
    pub start: usize,
    /// Its length in characters.
    pub length: usize,
    /// Its byte offset in the document.
    at: usize,
    end: usize,
}

/// A hit with its context, in the original spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The preceding text; starts with "…" if it was truncated.
    pub before: String,
    pub hit: String,
    /// The following text; ends with "…" if it was truncated.
    pub after: String,
}

impl Document {
    /// Builds the document of an episode.
    pub fn of(episode: &Episode) -> Self {
        let length = if episode.steps.len() > MANY {
            passages(episode)
                .map(|(_, text)| text.len() + BETWEEN.len())
                .sum()
        } else {
            0
        };
        let mut folding = Folding::with_capacity(length.min(MOST_BYTES));
        let mut starts = Vec::new();
        for (position, text) in passages(episode) {
            if folding.len() + text.len() > MOST_BYTES {
                break;
            }
            starts.push((folding.len() as u32, position));
            folding.push(&text);
            folding.push(BETWEEN);
        }
        starts.shrink_to_fit();
        Document {
            folded: folding.done(),
            starts,
        }
    }

    /// The memory in bytes.
    pub fn bytes(&self) -> usize {
        self.folded.bytes() + self.starts.len() * size_of::<(u32, TextPosition)>()
    }

    pub(super) fn folded(&self) -> &str {
        self.folded.text()
    }

    /// The most relevant hit, if the document contains all terms: the first one of all terms as a phrase, otherwise of
    /// the longest term, which is more specific than words such as "the".
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

    /// All hits of all terms in order, at most `limit`; none unless the document contains all terms.
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

    /// A hit with up to `around` characters of context on either side, from the same text.
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
        let start = hit.at - first.map_or(0, |(offset, _)| before.len() - offset);
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
        let (start, position) = *self.starts.get(self.index_of(range.start))?;
        let text = self.folded.text();
        Some(Hit {
            position,
            start: text.get(start as usize..range.start)?.chars().count(),
            length: text.get(range.clone())?.chars().count(),
            at: range.start,
            end: range.end,
        })
    }
}
