//! The full-text search: which query is the current one, and what the page shows of it.
//!
//! Invariant: only replies to the latest query change what is shown, in whichever order they arrive.

use std::sync::Arc;

use volary_protocol::library::Event;

use super::Effect;

/// Identifies a query. Numbers count up.
pub type SearchNumber = u32;

/// The state of the search.
#[derive(Debug, Default)]
pub struct Search {
    latest: SearchNumber,
    /// Whether the latest query has not been answered.
    is_open: bool,
}

impl Search {
    /// Starts a query. Returns its number, or `None` for an empty query, which ends the search.
    pub fn begin(&mut self, words: &str) -> (Option<SearchNumber>, Vec<Effect>) {
        self.latest = self.latest.wrapping_add(1);
        self.is_open = !words.trim().is_empty();
        if self.is_open {
            (Some(self.latest), Vec::new())
        } else {
            (None, vec![Effect::Searching(None), Effect::Matches(None)])
        }
    }

    /// Whether a query has not been answered.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Handles a reply to a query.
    pub fn handle(&mut self, number: SearchNumber, event: Event) -> Vec<Effect> {
        if number != self.latest || !self.is_open {
            return Vec::new();
        }
        match event {
            Event::Progress { doing, .. } => vec![Effect::Searching(Some(doing))],
            Event::Found { matches } => {
                self.is_open = false;
                vec![
                    Effect::Searching(None),
                    Effect::Matches(Some(Arc::new(matches))),
                ]
            }
            _ => Vec::new(),
        }
    }

    /// Handles the loss of the worker: an open query gets no answer.
    pub fn lose_worker(&mut self) -> Vec<Effect> {
        if std::mem::take(&mut self.is_open) {
            vec![Effect::Searching(None)]
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_protocol::library::Match;

    use super::*;

    fn found(id: &str) -> Event {
        let id = id.into();
        Event::Found {
            matches: vec![Match {
                id,
                ..Match::default()
            }],
        }
    }

    fn progress() -> Event {
        Event::Progress {
            doing: "Indexing".into(),
            done: None,
        }
    }

    #[test]
    fn answers_to_an_older_query_are_ignored() {
        let mut search = Search::default();
        let first = search.begin("fee").0.unwrap();
        let second = search.begin("refund").0.unwrap();
        assert_eq!(search.handle(first, progress()), []);
        assert_eq!(search.handle(first, found("a")), []);
        let shown = search.handle(second, progress());
        assert_eq!(shown, [Effect::Searching(Some("Indexing".into()))]);
        let shown = search.handle(second, found("b"));
        assert_eq!(shown[0], Effect::Searching(None));
        let [_, Effect::Matches(Some(matches))] = &shown[..] else {
            panic!("{shown:?}");
        };
        assert_eq!(&*matches[0].id, "b");
        assert_eq!(search.handle(second, progress()), [], "it was answered");
    }

    #[test]
    fn an_empty_query_shows_all_trajectories() {
        let mut search = Search::default();
        let open = search.begin("fee").0.unwrap();
        let (number, shown) = search.begin("  ");
        assert_eq!(number, None);
        assert_eq!(shown, [Effect::Searching(None), Effect::Matches(None)]);
        assert_eq!(search.handle(open, found("a")), [], "the box is empty");
    }

    #[test]
    fn a_query_ends_with_its_worker() {
        let mut search = Search::default();
        assert_eq!(search.lose_worker(), []);
        let open = search.begin("fee").0.unwrap();
        search.handle(open, progress());
        assert_eq!(search.lose_worker(), [Effect::Searching(None)]);
        assert_eq!(search.handle(open, progress()), []);
        let again = search.begin("fee").0.unwrap();
        assert_eq!(search.handle(again, found("a")).len(), 2);
    }
}
