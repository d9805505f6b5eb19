//! What the steps of an episode brought and cost, added up as it grows: ten thousand steps are not gone
//! through again for each new one.

use volary_trajectory::{Episode, Rewards, StepRecord, Usage};

/// The sums of an episode's steps so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What each step brought.
    pub rewards: Vec<f64>,
    total: f64,
    usage: Usage,
    /// Whether a model was asked whose price is not known.
    is_part: bool,
    edition: u32,
}

impl Tally {
    /// Takes over what is new. In another edition steps that were there are other ones.
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

    /// The reward of the whole, as [`Episode::reward`] has it.
    pub fn reward(&self, episode: &Episode) -> Option<f64> {
        match episode.rewards {
            Rewards::Steps => Some(self.total),
            Rewards::Whole(_) | Rewards::Unknown => episode.reward(),
        }
    }

    /// What all of it cost, as [`Episode::usage`] has it, and whether the cost is that of the whole.
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
    use volary_trajectory::Outcome;

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
        fn says_what_the_episode_says_however_it_came_about(
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
