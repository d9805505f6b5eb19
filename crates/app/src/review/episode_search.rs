//! The search in the open episode: the words, the hits, and the one that is shown.
//!
//! Invariants: only the hits of the last words are shown, and only in the episode that was searched. While new words are
//! looked for, the hits of the former ones stay, so that a page does not flicker while the user types.

use volary_protocol::library::EpisodeMatch;

/// Identifies a search. Numbers count up.
pub type EpisodeSearchNumber = u32;

/// What the page shall do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchEffect {
    /// Look for these words, and call [`EpisodeSearch::found`] with this number.
    Find {
        number: EpisodeSearchNumber,
        words: String,
    },
    /// Show this hit.
    Show(EpisodeMatch),
}

/// What is known about the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitPosition {
    /// Nothing is looked for.
    Idle,
    /// No hits are known yet.
    Searching,
    NotFound,
    /// A hit is shown: its index, and the number of hits, of which there is at least one.
    At {
        at: usize,
        count: usize,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeSearch {
    words: String,
    last: EpisodeSearchNumber,
    /// Whether the hits of the last search have not arrived yet.
    is_running: bool,
    hits: Vec<EpisodeMatch>,
    at: usize,
}

impl EpisodeSearch {
    /// The words as the user typed them.
    pub fn words(&self) -> &str {
        &self.words
    }

    pub fn is_wanted(&self) -> bool {
        !self.words.trim().is_empty()
    }

    /// The hits, in the order of the episode.
    pub fn hits(&self) -> &[EpisodeMatch] {
        &self.hits
    }

    /// The index of the shown hit; of no meaning without hits.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn position(&self) -> HitPosition {
        match self.hits.len() {
            _ if !self.is_wanted() => HitPosition::Idle,
            0 if self.is_running => HitPosition::Searching,
            0 => HitPosition::NotFound,
            count => HitPosition::At { at: self.at, count },
        }
    }

    /// Handles that the user typed other words.
    pub fn look_for(&mut self, words: String) -> Option<SearchEffect> {
        self.words = words;
        self.last = self.last.wrapping_add(1);
        self.is_running = self.is_wanted();
        if !self.is_running {
            self.hits = Vec::new();
            self.at = 0;
        }
        self.is_running.then(|| SearchEffect::Find {
            number: self.last,
            words: self.words.clone(),
        })
    }

    /// Handles the hits of a search. The first one is shown.
    pub fn found(
        &mut self,
        number: EpisodeSearchNumber,
        hits: Vec<EpisodeMatch>,
    ) -> Option<SearchEffect> {
        if !self.is_running || number != self.last {
            return None;
        }
        self.is_running = false;
        self.hits = hits;
        self.at = 0;
        self.shown()
    }

    /// Goes to the next or the previous hit, from the last to the first.
    pub fn go(&mut self, forward: bool) -> Option<SearchEffect> {
        let count = self.hits.len();
        self.at = match forward {
            _ if count == 0 => return None,
            true => (self.at + 1) % count,
            false => (self.at + count - 1) % count,
        };
        self.shown()
    }

    /// Handles that another episode is shown.
    pub fn leave(&mut self) {
        self.look_for(String::new());
    }

    fn shown(&self) -> Option<SearchEffect> {
        self.hits.get(self.at).cloned().map(SearchEffect::Show)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Some hits, told apart by their starts.
    fn hits(starts: &[usize]) -> Vec<EpisodeMatch> {
        let hits = starts.iter().map(|start| EpisodeMatch {
            start: *start,
            ..EpisodeMatch::default()
        });
        hits.collect()
    }

    fn looks_for(search: &mut EpisodeSearch, words: &str) -> EpisodeSearchNumber {
        match search.look_for(words.to_owned()) {
            Some(SearchEffect::Find {
                number,
                words: sent,
            }) if sent == words => number,
            other => panic!("{other:?}"),
        }
    }

    fn shows(effect: Option<SearchEffect>) -> Option<usize> {
        match effect? {
            SearchEffect::Show(hit) => Some(hit.start),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_hit_is_shown_and_others_follow_in_a_circle() {
        let mut search = EpisodeSearch::default();
        assert_eq!(search.position(), HitPosition::Idle);
        let number = looks_for(&mut search, "fee");
        assert_eq!(search.position(), HitPosition::Searching);
        assert_eq!(shows(search.found(number, hits(&[10, 20, 30]))), Some(10));
        assert_eq!(search.position(), HitPosition::At { at: 0, count: 3 });
        assert_eq!(shows(search.go(true)), Some(20));
        assert_eq!(shows(search.go(true)), Some(30));
        assert_eq!(shows(search.go(true)), Some(10));
        assert_eq!(shows(search.go(false)), Some(30));
        assert_eq!(search.position(), HitPosition::At { at: 2, count: 3 });
        assert_eq!(search.at(), 2);
    }

    #[test]
    fn words_that_are_not_there_are_not_found() {
        let mut search = EpisodeSearch::default();
        let number = looks_for(&mut search, "fee");
        assert_eq!(search.found(number, Vec::new()), None);
        assert_eq!(search.position(), HitPosition::NotFound);
        assert_eq!(search.go(true), None);
        assert_eq!(search.go(false), None);
    }

    #[test]
    fn hits_stay_until_those_of_the_next_words_arrive() {
        let mut search = EpisodeSearch::default();
        let number = looks_for(&mut search, "f");
        search.found(number, hits(&[1, 2]));
        search.go(true);
        let number = looks_for(&mut search, "fe");
        assert_eq!(search.position(), HitPosition::At { at: 1, count: 2 });
        assert_eq!(search.hits().len(), 2);
        assert_eq!(shows(search.found(number, hits(&[5]))), Some(5));
        assert_eq!(search.position(), HitPosition::At { at: 0, count: 1 });
    }

    #[test]
    fn a_late_answer_is_ignored() {
        let mut search = EpisodeSearch::default();
        let first = looks_for(&mut search, "f");
        let second = looks_for(&mut search, "fe");
        assert_eq!(search.found(first, hits(&[1])), None);
        assert_eq!(search.position(), HitPosition::Searching);
        assert_eq!(shows(search.found(second, hits(&[2]))), Some(2));
        assert_eq!(search.found(first, hits(&[1])), None);
        // An answer counts once.
        assert_eq!(search.found(second, hits(&[3])), None);
        assert_eq!(search.hits(), hits(&[2]));
    }

    #[test]
    fn the_same_words_are_looked_for_again() {
        let mut search = EpisodeSearch::default();
        let first = looks_for(&mut search, "f");
        let second = looks_for(&mut search, "f");
        assert_ne!(first, second);
        assert_eq!(search.found(first, hits(&[1])), None);
    }

    #[test]
    fn blanks_are_no_words() {
        let mut search = EpisodeSearch::default();
        let number = looks_for(&mut search, "f");
        search.found(number, hits(&[1]));
        assert_eq!(search.look_for("  ".to_owned()), None);
        assert_eq!(search.words(), "  ", "as typed");
        assert_eq!(search.hits(), []);
        assert_eq!(search.position(), HitPosition::Idle);
    }

    #[test]
    fn hits_of_another_episode_are_never_shown() {
        let mut search = EpisodeSearch::default();
        let number = looks_for(&mut search, "f");
        search.leave();
        assert_eq!(search.found(number, hits(&[1])), None);
        // The same words in the next episode.
        let next = looks_for(&mut search, "f");
        assert_eq!(search.found(number, hits(&[1])), None);
        assert_eq!(shows(search.found(next, hits(&[2]))), Some(2));
        search.leave();
        assert_eq!((search.words(), search.hits()), ("", hits(&[]).as_slice()));
        assert_eq!(search.go(true), None);
    }

    #[derive(Clone, Debug)]
    enum Act {
        Type(String),
        /// One of the searches so far is answered, with this number of hits.
        Answer(usize, usize),
        Go(bool),
        Leave,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            "[ a]{0,2}".prop_map(Act::Type),
            (0_usize..6, 0_usize..4).prop_map(|(search, count)| Act::Answer(search, count)),
            any::<bool>().prop_map(Act::Go),
            Just(Act::Leave),
        ];
        proptest::collection::vec(act, 0..24)
    }

    proptest! {
        #[test]
        fn only_the_answer_to_the_last_words_is_shown(acts in acts()) {
            let mut search = EpisodeSearch::default();
            // Hits start at the number of their search.
            let mut asked: Vec<EpisodeSearchNumber> = Vec::new();
            let mut awaited = None;
            for act in acts {
                match act {
                    Act::Type(words) => {
                        awaited = match search.look_for(words) {
                            Some(SearchEffect::Find { number, .. }) => {
                                asked.push(number);
                                Some(number)
                            }
                            _ => None,
                        };
                    }
                    Act::Answer(place, count) => {
                        let Some(number) = asked.get(place).copied() else { continue };
                        let answer = hits(&vec![number as usize; count]);
                        let effect = search.found(number, answer.clone());
                        if awaited == Some(number) {
                            awaited = None;
                            prop_assert_eq!(search.hits(), answer);
                        } else {
                            prop_assert_eq!(effect, None);
                        }
                    }
                    Act::Go(forward) => {
                        let effect = search.go(forward);
                        prop_assert_eq!(effect.is_some(), !search.hits().is_empty());
                    }
                    Act::Leave => {
                        search.leave();
                        awaited = None;
                    }
                }
                match search.position() {
                    HitPosition::At { at, count } => prop_assert!(at < count),
                    HitPosition::Searching => prop_assert!(awaited.is_some()),
                    HitPosition::NotFound => prop_assert!(awaited.is_none()),
                    HitPosition::Idle => prop_assert!(search.hits().is_empty()),
                }
            }
        }
    }
}
