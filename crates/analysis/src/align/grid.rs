//! Compares several episodes: what they have in common at each step, the totals of each, and their sort order.
//!
//! Invariants: the totals of a step count only episodes that reach it; sorting never loses or repeats an episode, and
//! episodes without a value come last in either direction.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::HashMap;

use volary_episode::episode::{Episode, Rewards, StepRecord};

use super::Keys;
use crate::table::order::{Direction, natural};
use crate::timeline::errors;

/// Totals over the episodes at one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTotal {
    /// The number of episodes that reach the step.
    pub present: usize,
    /// The size of the largest group of episodes with the same action.
    pub alike: usize,
    /// The sum of the rewards; `None` if no episode has rewards by step.
    pub reward: Option<f64>,
}

/// The totals of each step, up to the longest episode.
pub fn step_totals(episodes: &[impl Borrow<Episode>]) -> Vec<StepTotal> {
    let lengths = episodes.iter().map(|episode| episode.borrow().steps.len());
    let longest = lengths.max().unwrap_or_default();
    let mut keys = Keys::default();
    let totals = (0..longest).map(|index| {
        let mut total = StepTotal::default();
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for episode in episodes {
            let episode = episode.borrow();
            let Some(step) = episode.steps.get(index) else {
                continue;
            };
            total.present += 1;
            *counts.entry(keys.of(step).action).or_default() += 1;
            if episode.rewards == Rewards::Steps {
                let reward = step.reward().unwrap_or_default();
                *total.reward.get_or_insert(0.0) += reward;
            }
        }
        total.alike = counts.into_values().max().unwrap_or_default();
        total
    });
    totals.collect()
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpisodeTotal {
    /// The reward of the whole episode.
    pub reward: Option<f64>,
    /// The number of steps.
    pub steps: usize,
    /// The number of calls.
    pub calls: usize,
    /// The number of errors.
    pub errors: usize,
    /// The sum of the step durations in seconds; `None` if none is known.
    pub seconds: Option<f64>,
}

impl EpisodeTotal {
    /// Computes the totals of an episode.
    pub fn of(episode: &Episode) -> EpisodeTotal {
        let times = episode
            .steps
            .iter()
            .filter_map(|step: &StepRecord| step.seconds);
        let times: Vec<f64> = times.collect();
        let sum = (!times.is_empty()).then(|| times.iter().sum());
        EpisodeTotal {
            reward: episode.reward(),
            steps: episode.steps.len(),
            calls: episode.calls(),
            errors: errors(episode),
            seconds: episode.seconds.or(sum),
        }
    }
}

/// Sort keys of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridOrder {
    /// The order in which the user chose the episodes.
    #[default]
    Chosen,
    /// By name.
    Name,
    /// By reward.
    Reward,
    /// By the number of steps.
    Steps,
    /// By the number of errors.
    Errors,
}

impl GridOrder {
    pub const ALL: [GridOrder; 5] = [
        GridOrder::Chosen,
        GridOrder::Name,
        GridOrder::Reward,
        GridOrder::Steps,
        GridOrder::Errors,
    ];

    /// The indices of the episodes in this order.
    pub fn indices(self, episodes: &[impl Borrow<Episode>], direction: Direction) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..episodes.len()).collect();
        let turned = |order: Ordering| match direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        };
        let of = |index: usize| {
            let episode: &Episode = episodes[index].borrow();
            episode
        };
        let number = |index: usize| match self {
            GridOrder::Chosen | GridOrder::Name => None,
            GridOrder::Reward => of(index).reward().filter(|reward| !reward.is_nan()),
            GridOrder::Steps => Some(of(index).steps.len() as f64),
            GridOrder::Errors => Some(errors(of(index)) as f64),
        };
        match self {
            GridOrder::Chosen => {
                if direction == Direction::Descending {
                    indices.reverse();
                }
            }
            GridOrder::Name => {
                indices.sort_by(|one, other| turned(natural(&of(*one).name, &of(*other).name)));
            }
            _ => {
                let numbers: Vec<Option<f64>> =
                    indices.iter().map(|index| number(*index)).collect();
                indices.sort_by(|one, other| match (numbers[*one], numbers[*other]) {
                    (Some(one), Some(other)) => turned(one.total_cmp(&other)),
                    (one, other) => other.is_some().cmp(&one.is_some()),
                });
            }
        }
        indices
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, Role};
    use volary_episode::episode::Outcome;

    use super::*;

    fn episode(name: &str, said: &[&str], rewards: Rewards) -> Episode {
        let steps = said.iter().map(|said| {
            let outcome = Outcome::Observed {
                messages: Vec::new(),
                reward: 0.5,
                done: false,
                truncated: false,
            };
            StepRecord::new(Message::new(Role::Assistant, *said).into(), outcome)
        });
        Episode {
            name: name.into(),
            steps: steps.collect(),
            rewards,
            ..Episode::default()
        }
    }

    #[test]
    fn steps_and_episodes_have_totals() {
        let episodes = [
            episode("b", &["x", "y", "z"], Rewards::Steps),
            episode("a", &["x", "w"], Rewards::Steps),
            episode("c", &["x"], Rewards::Whole(0.25)),
        ];
        let totals = step_totals(&episodes);
        let told: Vec<(usize, usize, Option<f64>)> = totals
            .iter()
            .map(|total| (total.present, total.alike, total.reward))
            .collect();
        assert_eq!(
            told,
            [(3, 3, Some(1.0)), (2, 1, Some(1.0)), (1, 1, Some(0.5))]
        );
        let total = EpisodeTotal::of(&episodes[0]);
        assert_eq!((total.reward, total.steps, total.errors), (Some(1.5), 3, 0));
        assert!(step_totals(&[] as &[Episode]).is_empty());
    }

    #[test]
    fn episodes_are_sorted_and_what_is_unknown_is_last() {
        let episodes = [
            episode("b", &["x"], Rewards::Unknown),
            episode("a10", &["x", "y"], Rewards::Whole(0.0)),
            episode("a9", &[], Rewards::Whole(1.0)),
        ];
        use Direction::{Ascending, Descending};
        for (order, direction, expected) in [
            (GridOrder::Chosen, Ascending, [0, 1, 2]),
            (GridOrder::Chosen, Descending, [2, 1, 0]),
            (GridOrder::Name, Ascending, [2, 1, 0]),
            (GridOrder::Reward, Ascending, [1, 2, 0]),
            (GridOrder::Reward, Descending, [2, 1, 0]),
            (GridOrder::Steps, Descending, [1, 0, 2]),
            (GridOrder::Errors, Ascending, [0, 1, 2]),
        ] {
            assert_eq!(order.indices(&episodes, direction), expected, "{order:?}");
        }
    }
}
