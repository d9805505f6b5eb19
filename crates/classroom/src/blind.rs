//! A blind comparison: trajectories are judged in pairs, and who acted is shown after each judgement.
//!
//! Invariants: each pair of entrants occurs once. The order of the pairs and the sides are random, and follow from the
//! seed.

use volary_core::json::Object;
use volary_core::random::Random;
use volary_episode::Episode;

/// The maximum number of pairs. More entrants are not all compared with each other.
pub const MOST_PAIRS: usize = 200;

/// Removes what tells who acted from an episode: models, token counts, requests, and the notes of the scripted student.
/// Messages, rewards and errors of calls stay.
pub fn anonymize(episode: &mut Episode) {
    episode.model = None;
    episode.policy = None;
    episode.total_usage = None;
    for step in &mut episode.steps {
        step.details.model = None;
        step.details.usage = None;
        step.details.errors.retain(|error| error.call.is_some());
        step.extras = Object::new();
    }
}

/// Two entrants, by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub left: usize,
    pub right: usize,
}

/// A judgement on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    Left,
    Equal,
    Right,
}

/// The judgements on an entrant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub won: usize,
    pub equal: usize,
    pub lost: usize,
}

/// The pairs, and the judgements so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contest {
    entrants: usize,
    pairs: Vec<Pair>,
    verdicts: Vec<Preference>,
}

impl Contest {
    /// All pairs of some entrants, in random order.
    pub fn new(entrants: usize, seed: u64) -> Contest {
        let mut random = Random::new(seed);
        let mut pairs = Vec::new();
        for left in 0..entrants {
            for right in left + 1..entrants {
                pairs.push(if random.bool() {
                    Pair { left, right }
                } else {
                    Pair {
                        left: right,
                        right: left,
                    }
                });
            }
        }
        random.shuffle(&mut pairs);
        pairs.truncate(MOST_PAIRS);
        Contest {
            entrants,
            pairs,
            verdicts: Vec::new(),
        }
    }

    /// The number of pairs.
    pub fn count(&self) -> usize {
        self.pairs.len()
    }

    /// The number of judged pairs.
    pub fn judged(&self) -> usize {
        self.verdicts.len()
    }

    /// A pair, in the order of judging.
    pub fn pair(&self, place: usize) -> Option<Pair> {
        self.pairs.get(place).copied()
    }

    /// Judges the next pair.
    pub fn judge(&mut self, verdict: Preference) {
        if self.verdicts.len() < self.pairs.len() {
            self.verdicts.push(verdict);
        }
    }

    /// The judgements on each entrant.
    pub fn tally(&self) -> Vec<Tally> {
        let mut tallies = vec![Tally::default(); self.entrants];
        for (pair, verdict) in self.pairs.iter().zip(&self.verdicts) {
            for (entrant, side) in [
                (pair.left, Preference::Left),
                (pair.right, Preference::Right),
            ] {
                if let Some(tally) = tallies.get_mut(entrant) {
                    match verdict {
                        Preference::Equal => tally.equal += 1,
                        verdict if *verdict == side => tally.won += 1,
                        _ => tally.lost += 1,
                    }
                }
            }
        }
        tallies
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use volary_core::message::Message;
    use volary_episode::{Outcome, StepError, StepRecord};

    use super::*;

    #[test]
    fn each_pair_is_judged_once_and_sides_are_mixed() {
        let contest = Contest::new(8, 7);
        let pairs: Vec<Pair> = (0..contest.count())
            .filter_map(|place| contest.pair(place))
            .collect();
        let sorted = pairs
            .iter()
            .map(|pair| (pair.left.min(pair.right), pair.left.max(pair.right)));
        assert_eq!(sorted.collect::<BTreeSet<_>>().len(), 28);
        assert!(pairs.iter().any(|pair| pair.left > pair.right));
        assert!(pairs.iter().any(|pair| pair.left < pair.right));
        assert_eq!(Contest::new(1, 7).count(), 0);
        assert_eq!(Contest::new(40, 7).count(), MOST_PAIRS);
        assert_eq!(contest, Contest::new(8, 7));
    }

    #[test]
    fn an_anonymous_episode_contains_no_names() {
        let outcome = Outcome::Failed {
            message: "It failed.".into(),
        };
        let mut step = StepRecord::new(Message::user("act").into(), outcome);
        step.details.model = Some("gpt".into());
        let error = |call: Option<&str>, message: &str| StepError {
            call: call.map(Into::into),
            message: message.into(),
        };
        step.details.errors = vec![
            error(None, "Fault: loop."),
            error(Some("1"), "No such tool."),
        ];
        step.extras.insert("exchanges", "gpt");
        let mut episode = Episode {
            policy: Some("student".into()),
            model: Some("gpt".into()),
            steps: vec![step],
            ..Episode::default()
        };
        anonymize(&mut episode);
        let told = format!("{episode:?}");
        for word in ["gpt", "student", "Fault"] {
            assert!(!told.contains(word), "{word}");
        }
        assert!(told.contains("No such tool."));
    }

    #[test]
    fn verdicts_count_for_both_sides() {
        let mut contest = Contest::new(2, 1);
        let pair = contest.pair(0).unwrap();
        contest.judge(Preference::Right);
        // There is no other pair.
        contest.judge(Preference::Left);
        assert_eq!(contest.judged(), 1);
        let tally = contest.tally();
        assert_eq!((tally[pair.right].won, tally[pair.left].lost), (1, 1));
        let mut contest = Contest::new(2, 1);
        contest.judge(Preference::Equal);
        assert!(contest.tally().iter().all(|tally| tally.equal == 1));
    }
}
