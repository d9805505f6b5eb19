//! Running totals of reward and usage. They are updated as an episode grows, so a new step does not visit ten thousand
//! previous ones.

use volary_episode::{Episode, Rewards, StepRecord, Usage};

/// The totals of an episode's steps so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The reward of each step.
    pub rewards: Vec<f64>,
    total: f64,
    usage: Usage,
    /// Whether the cost of some request is unknown.
    is_part: bool,
    edition: u32,
}

impl Tally {
    /// Adds new steps. If the edition changed, all steps are added from the start, because existing ones may differ.
    pub fn follow(&mut self, episode: &Episode, edition: u32) {
        if self.edition != edition || self.rewards.len() > episode.steps.len() {
            *self = Tally {
                edition,
                ..Tally::default()
            };
        }
        for step in episode.steps.iter().skip(self.rewards.len()) {
            self.add(step);
        }
    }

    fn add(&mut self, step: &StepRecord) {
        let reward = step.reward().unwrap_or_default();
        self.rewards.push(reward);
        self.total += reward;
        if let Some(usage) = step.details.usage {
            self.usage = self.usage.plus(usage);
            self.is_part |= usage.cost.is_none();
        }
    }

    /// The total reward, equal to [`Episode::reward`].
    pub fn reward(&self, episode: &Episode) -> Option<f64> {
        match episode.rewards {
            Rewards::Steps => Some(self.total),
            Rewards::Whole(_) | Rewards::Unknown => episode.reward(),
        }
    }

    /// The total usage, equal to [`Episode::usage`], and whether its cost is complete.
    pub fn usage(&self, episode: &Episode) -> (Usage, bool) {
        match episode.total_usage {
            Some(usage) => (usage, true),
            None => (self.usage, !self.is_part),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::message::Message;
    use volary_episode::Outcome;

    use super::*;

    fn step((reward, cost): (u8, Option<u8>)) -> StepRecord {
        let observed = Outcome::Observed {
            messages: Vec::new(),
            reward: reward.into(),
            done: false,
            truncated: false,
        };
        let mut step = StepRecord::new(Message::user("act").into(), observed);
        step.details.usage = cost.map(|cost| Usage {
            cost: (cost > 0).then_some(cost.into()),
            ..Usage::default()
        });
        step
    }

    proptest! {
        #[test]
        fn the_tally_matches_the_episode_however_it_was_built(
            ways in prop::collection::vec(
                (prop::collection::vec((any::<u8>(), any::<Option<u8>>()), 0..9), any::<bool>()),
                0..9,
            )
        ) {
            let mut episode = Episode::default();
            let mut tally = Tally::default();
            let mut edition = 0;
            for (steps, goes_on) in ways {
                if !goes_on {
                    episode.steps.clear();
                    edition += 1;
                }
                episode.steps.extend(steps.into_iter().map(step));
                tally.follow(&episode, edition);
                prop_assert_eq!(tally.rewards.len(), episode.steps.len());
                prop_assert_eq!(tally.reward(&episode), episode.reward());
                prop_assert_eq!(tally.usage(&episode).0, episode.usage());
            }
        }
    }
}
