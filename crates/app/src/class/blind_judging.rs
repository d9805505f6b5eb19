//! Judging trajectories in pairs without knowing who acted.
//!
//! Invariants: a name is known only after the judgement of its pair. A judged pair stays until the next one is asked
//! for, and is judged once. The result contains the judgements so far, also if not all pairs were judged.

use volary_classroom::blind::{Contest, Pair, Preference, Tally};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Judge(Preference),
    /// Shows the next pair.
    Next,
    /// Shows the result.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSide {
    A,
    B,
}

/// The pairs of a comparison, and how far the judge is.
#[derive(Clone, Debug)]
pub struct BlindJudging {
    names: Vec<String>,
    contest: Contest,
    /// The index of the shown pair.
    place: usize,
    is_stopped: bool,
}

impl BlindJudging {
    /// All pairs of these entrants, in an order that follows from the seed.
    pub fn new(names: Vec<String>, seed: u64) -> BlindJudging {
        BlindJudging {
            contest: Contest::new(names.len(), seed),
            names,
            place: 0,
            is_stopped: false,
        }
    }

    pub fn update(&mut self, event: Event) {
        match event {
            Event::Judge(preference) if !self.is_judged() && !self.is_over() => {
                self.contest.judge(preference);
            }
            Event::Next if self.is_judged() => self.place += 1,
            Event::Stop => self.is_stopped = true,
            Event::Judge(_) | Event::Next => {}
        }
    }

    /// Whether the result is shown in place of a pair.
    pub fn is_over(&self) -> bool {
        self.is_stopped || self.place >= self.contest.count()
    }

    /// Whether the shown pair was judged.
    pub fn is_judged(&self) -> bool {
        self.contest.judged() > self.place
    }

    /// The shown pair, as indices of entrants.
    pub fn pair(&self) -> Option<Pair> {
        self.contest.pair(self.place).filter(|_| !self.is_over())
    }

    /// How far the judge is.
    pub fn progress(&self) -> String {
        let count = self.contest.count();
        format!(
            "Comparison {} of {count}. Who acted is shown after your choice.",
            self.place + 1
        )
    }

    /// The heading of a side: its letter, and who acted once the pair is judged.
    pub fn heading(&self, side: PairSide) -> String {
        let letter = match side {
            PairSide::A => "A",
            PairSide::B => "B",
        };
        let entrant = self.pair().map(|pair| match side {
            PairSide::A => pair.left,
            PairSide::B => pair.right,
        });
        match entrant.and_then(|entrant| self.names.get(entrant)) {
            Some(name) if self.is_judged() => format!("{letter}: {name}"),
            _ => letter.to_owned(),
        }
    }

    /// The judgements on each entrant, the most wins first.
    pub fn result(&self) -> Vec<(String, Tally)> {
        let mut lines: Vec<_> = self
            .names
            .iter()
            .cloned()
            .zip(self.contest.tally())
            .collect();
        lines.sort_by_key(|(_, tally)| std::cmp::Reverse((tally.won, tally.equal)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judging(names: &[&str]) -> BlindJudging {
        BlindJudging::new(names.iter().map(|name| (*name).to_owned()).collect(), 7)
    }

    /// Judges the shown pair so that the entrant with the smaller index wins.
    fn prefer_first(judging: &mut BlindJudging) {
        let pair = judging.pair().expect("a pair is shown");
        judging.update(Event::Judge(if pair.left < pair.right {
            Preference::Left
        } else {
            Preference::Right
        }));
    }

    #[test]
    fn names_appear_after_the_judgement() {
        let mut judging = judging(&["Ada", "gpt"]);
        assert_eq!(judging.heading(PairSide::A), "A");
        assert_eq!(judging.heading(PairSide::B), "B");
        assert!(judging.progress().starts_with("Comparison 1 of 1."));
        judging.update(Event::Judge(Preference::Equal));
        let heads = [PairSide::A, PairSide::B].map(|side| judging.heading(side));
        assert!(
            heads == ["A: Ada", "B: gpt"] || heads == ["A: gpt", "B: Ada"],
            "{heads:?}"
        );
    }

    #[test]
    fn a_judged_pair_stays_until_the_next_is_asked_for() {
        let mut judging = judging(&["Ada", "Ben", "Cem"]);
        let first = judging.pair();
        judging.update(Event::Next);
        assert_eq!(judging.pair(), first, "it is not judged yet");
        prefer_first(&mut judging);
        assert_eq!(judging.pair(), first);
        judging.update(Event::Next);
        assert_ne!(judging.pair(), first);
        assert!(!judging.is_judged());
        assert_eq!(judging.heading(PairSide::A), "A", "names are hidden again");
    }

    #[test]
    fn a_second_judgement_of_a_pair_changes_nothing() {
        let mut judging = judging(&["Ada", "Ben", "Cem"]);
        prefer_first(&mut judging);
        let before = judging.result();
        judging.update(Event::Judge(Preference::Equal));
        assert_eq!(judging.result(), before);
        judging.update(Event::Next);
        assert!(!judging.is_judged(), "the next pair is still open");
    }

    #[test]
    fn the_result_has_the_most_wins_first() {
        let mut judging = judging(&["Ada", "Ben", "Cem"]);
        for _ in 0..3 {
            prefer_first(&mut judging);
            judging.update(Event::Next);
        }
        assert!(judging.is_over());
        assert_eq!(judging.pair(), None);
        let result = judging.result();
        let wins: Vec<_> = result
            .iter()
            .map(|(name, tally)| (name.as_str(), tally.won))
            .collect();
        assert_eq!(wins, [("Ada", 2), ("Ben", 1), ("Cem", 0)]);
    }

    #[test]
    fn stopping_shows_what_was_judged_so_far() {
        let mut judging = judging(&["Ada", "Ben", "Cem"]);
        prefer_first(&mut judging);
        judging.update(Event::Stop);
        assert!(judging.is_over());
        let won: usize = judging.result().iter().map(|(_, tally)| tally.won).sum();
        assert_eq!(won, 1);
        judging.update(Event::Judge(Preference::Equal));
        let equal: usize = judging.result().iter().map(|(_, tally)| tally.equal).sum();
        assert_eq!(equal, 0, "nothing is judged after the end");
    }

    #[test]
    fn a_single_entrant_has_no_pair() {
        let judging = judging(&["Ada"]);
        assert!(judging.is_over());
        assert_eq!(judging.result().len(), 1);
    }

    proptest! {
        #[test]
        fn every_judgement_counts_for_two_entrants(count in 0usize..6, events in proptest::collection::vec(0u8..5, 0..60)) {
            let names = (0..count).map(|name| name.to_string()).collect();
            let mut judging = BlindJudging::new(names, 3);
            for event in events {
                judging.update(match event {
                    0 => Event::Judge(Preference::Left),
                    1 => Event::Judge(Preference::Equal),
                    2 => Event::Judge(Preference::Right),
                    3 => Event::Next,
                    _ if count == 3 => Event::Stop,
                    _ => Event::Next,
                });
                let result = judging.result();
                let total = |of: fn(&Tally) -> usize| result.iter().map(|(_, tally)| of(tally)).sum::<usize>();
                prop_assert_eq!(result.len(), count);
                prop_assert_eq!(total(|tally| tally.won), total(|tally| tally.lost));
                prop_assert_eq!(total(|tally| tally.equal) % 2, 0);
                prop_assert_eq!(judging.pair().is_none(), judging.is_over());
            }
        }
    }
}
