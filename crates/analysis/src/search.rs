//! Full-text search over all episodes, fast enough for search-as-you-type.
//!
//! All texts of an episode form one case-folded text ([`Document`]), which is scanned; a trigram filter skips episodes
//! that cannot match. There is no inverted index: for ten thousand episodes the scan is as fast, needs a quarter of the
//! memory, finds substrings, and adds and removes episodes at no cost.
//!
//! - [`query`]: the search terms. [`document`]: the folded text of an episode, and hits with their positions.
//! - [`casefold`]: reversible case folding. [`trigram`]: a filter that rules out most texts.
//!   [`raw`]: one that rules out JSON that is not parsed yet.
//!
//! Invariants: the hits are those of a plain case-insensitive search. Memory is bounded: beyond the limit texts are not
//! stored, and a search returns the ids of the episodes that must be opened to decide. The texts of episodes of which there
//! may be very many, such as the rollouts of a training run, have a smaller limit of their own.

mod casefold;
pub mod document;
pub mod query;
mod raw;
mod trigram;

use std::collections::BTreeMap;

use volary_core::json::Text;
use volary_episode::episode::Episode;

pub use document::{Document, Hit, Snippet};
pub use query::Query;
pub use raw::RawFilter;
use trigram::TrigramFilter;

/// The index of all episodes, by id.
#[derive(Clone, Debug)]
pub struct SearchIndex {
    entries: BTreeMap<Text, Entry>,
    all: Usage,
    /// The part of episodes of which there may be very many.
    many: Usage,
}

/// The size of stored texts in bytes.
#[derive(Clone, Copy, Debug)]
struct Usage {
    bytes: usize,
    limit: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    filter: TrigramFilter,
    /// `None` beyond the memory limit.
    document: Option<Document>,
    is_one_of_many: bool,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// The matching episodes, by id, each with its first hit.
    pub found: Vec<(Text, Hit)>,
    /// Episodes that may match but whose text is not stored: open them, build a [`Document`], and search it.
    pub unsure: Vec<Text>,
}

impl Default for SearchIndex {
    /// With a limit of 256 MB of text, of which 32 MB are of episodes that are among many.
    fn default() -> Self {
        SearchIndex::new(256 << 20, 32 << 20)
    }
}

impl SearchIndex {
    /// Creates an index that stores at most `limit` bytes of text, and at most `many` of episodes of which there may be
    /// very many.
    pub fn new(limit: usize, many: usize) -> Self {
        let usage = |limit| Usage { bytes: 0, limit };
        SearchIndex {
            entries: BTreeMap::new(),
            all: usage(limit),
            many: usage(many),
        }
    }

    /// The number of indexed episodes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no episode is indexed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The size of the stored texts in bytes.
    pub fn bytes(&self) -> usize {
        self.all.bytes
    }

    /// Adds an episode, replacing one with the same id.
    pub fn insert(&mut self, id: Text, episode: &Episode) {
        self.insert_document(id, Document::of(episode), false);
    }

    /// Adds the texts of an episode, replacing those with the same id.
    pub fn insert_document(&mut self, id: Text, document: Document, is_one_of_many: bool) {
        self.remove(&id);
        let filter = TrigramFilter::of(document.folded());
        let bytes = document.bytes();
        let fits = self.all.has_room(bytes) && (!is_one_of_many || self.many.has_room(bytes));
        let entry = Entry {
            filter,
            document: fits.then_some(document),
            is_one_of_many,
        };
        self.usages_of(&entry, |usage, bytes| usage.bytes += bytes);
        self.entries.insert(id, entry);
    }

    /// Calls a function with the usages that an entry is part of, and its size.
    fn usages_of(&mut self, entry: &Entry, change: impl Fn(&mut Usage, usize)) {
        let bytes = entry.document.as_ref().map_or(0, Document::bytes);
        change(&mut self.all, bytes);
        if entry.is_one_of_many {
            change(&mut self.many, bytes);
        }
    }

    /// Removes an episode; returns whether it was indexed.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(entry) = self.entries.remove(id) else {
            return false;
        };
        self.usages_of(&entry, |usage, bytes| usage.bytes -= bytes);
        true
    }

    /// The episodes that contain all words and phrases of the query. An empty query matches none.
    pub fn search(&self, query: &Query) -> Matches {
        let mut matches = Matches::default();
        if query.is_empty() {
            return matches;
        }
        for (id, entry) in &self.entries {
            if !query.may_match(&entry.filter) {
                continue;
            }
            match &entry.document {
                None => matches.unsure.push(id.clone()),
                Some(document) => {
                    if let Some(hit) = document.first(query) {
                        matches.found.push((id.clone(), hit));
                    }
                }
            }
        }
        matches
    }

    /// The folded texts of an episode, if they are stored; for snippets and for the list of all hits.
    pub fn document(&self, id: &str) -> Option<&Document> {
        self.entries.get(id)?.document.as_ref()
    }
}

impl Usage {
    fn has_room(self, bytes: usize) -> bool {
        self.bytes.saturating_add(bytes) <= self.limit
    }
}
