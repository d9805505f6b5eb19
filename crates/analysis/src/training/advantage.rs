//! Whether the advantages of a group follow from its rewards, and how.

use super::run::{SampleGroup, TrainingRun};
use super::sample::rollouts;

/// How the advantages of a group follow from its rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdvantageRule {
    /// No sample has an advantage.
    Absent,
    /// Some samples have an advantage, others or their rewards are missing.
    Partial,
    /// Advantages differ from token to token, as with a critic.
    PerToken,
    /// All rewards are equal, and all advantages are 0: the group trains nothing.
    NoSignal,
    /// All advantages are equal although the rewards differ.
    Constant(f64),
    /// Reward minus the mean, divided by the standard deviation (GRPO).
    Standardized {
        /// Whether the deviation is that of the samples (n − 1), not of the population.
        is_of_samples: bool,
    },
    /// Reward minus the mean of the group.
    Centered,
    /// Reward minus the mean of the other samples.
    LeaveOneOut,
    /// The reward itself.
    Reward,
    /// Reward minus the mean of the group, times a factor.
    Scaled(f64),
    /// None of these: the rewards were shaped, clipped or normalised over more than the group.
    Other,
}

/// The reward of a sample, and its lowest and highest advantage.
type Pair = (Option<f64>, Option<(f64, f64)>);

/// The summand that trainers add to the deviation.
const EPSILON: f64 = 1e-6;
/// Advantages are written as 32-bit or 16-bit floats.
const TOLERANCE: f64 = 2e-3;

impl AdvantageRule {
    /// The rule of a group, and the number of samples that it does not cover, because they lack a reward or an advantage.
    /// Branches of a rollout count once, as they do for trainers.
    pub fn of(run: &TrainingRun, group: &SampleGroup) -> (AdvantageRule, usize) {
        let samples = run.samples_of(&group.samples);
        let pairs: Vec<Pair> = rollouts(samples)
            .map(|sample| (sample.reward, sample.advantage()))
            .collect();
        AdvantageRule::of_pairs(&pairs)
    }

    fn of_pairs(pairs: &[Pair]) -> (AdvantageRule, usize) {
        let known = pairs.iter().filter_map(|(_, advantage)| *advantage);
        if known.clone().next().is_none() {
            return (AdvantageRule::Absent, 0);
        }
        if known.into_iter().any(|(low, high)| !is_close(low, high)) {
            return (AdvantageRule::PerToken, 0);
        }
        let whole = pairs.iter().filter_map(|(reward, advantage)| {
            let reward = reward.filter(|reward| reward.is_finite())?;
            let (advantage, _) = advantage.filter(|(low, _)| low.is_finite())?;
            Some((reward, advantage))
        });
        let whole: Vec<(f64, f64)> = whole.collect();
        let left_out = pairs.len() - whole.len();
        match whole.as_slice() {
            [] => (AdvantageRule::Partial, 0),
            // An aborted sample has no reward, and trainers leave it out of the group.
            [_, _, ..] if left_out > 0 => match AdvantageRule::of_whole(&whole) {
                AdvantageRule::Other => (AdvantageRule::Partial, 0),
                rule => (rule, left_out),
            },
            _ if left_out > 0 => (AdvantageRule::Partial, 0),
            _ => (AdvantageRule::of_whole(&whole), 0),
        }
    }

    fn of_whole(pairs: &[(f64, f64)]) -> AdvantageRule {
        let n = pairs.len() as f64;
        let mean = pairs.iter().map(|(reward, _)| reward).sum::<f64>() / n;
        let squares: f64 = pairs
            .iter()
            .map(|(reward, _)| (reward - mean).powi(2))
            .sum();
        let all = |expected: &dyn Fn(f64) -> f64| {
            pairs
                .iter()
                .all(|(reward, advantage)| is_close(*advantage, expected(*reward)))
        };
        let (_, first) = pairs[0];
        let deviation = (squares / n).sqrt();
        if deviation <= EPSILON * mean.abs().max(1.0) {
            return if all(&|_| 0.0) {
                AdvantageRule::NoSignal
            } else if all(&|reward| reward) {
                AdvantageRule::Reward
            } else {
                AdvantageRule::Other
            };
        }
        if all(&|_| first) {
            return AdvantageRule::Constant(first);
        }
        let of_samples = (squares / (n - 1.0)).sqrt();
        if all(&|reward| reward - mean) {
            return AdvantageRule::Centered;
        }
        for (deviation, is_of_samples) in [(of_samples, true), (deviation, false)] {
            if all(&|reward| (reward - mean) / (deviation + EPSILON)) {
                return AdvantageRule::Standardized { is_of_samples };
            }
        }
        if all(&|reward| (reward - mean) * n / (n - 1.0)) {
            return AdvantageRule::LeaveOneOut;
        }
        if all(&|reward| reward) {
            return AdvantageRule::Reward;
        }
        // The factor that fits best.
        let product: f64 = pairs
            .iter()
            .map(|(reward, advantage)| (reward - mean) * advantage)
            .sum();
        let factor = product / squares;
        if factor.abs() > EPSILON && all(&|reward| (reward - mean) * factor) {
            AdvantageRule::Scaled(factor)
        } else {
            AdvantageRule::Other
        }
    }

    /// A sentence that says how the advantages follow.
    pub fn sentence(&self) -> String {
        match self {
            AdvantageRule::Absent => "No advantages were recorded.".to_owned(),
            AdvantageRule::Partial => {
                "Some samples lack a reward or an advantage, so the rule cannot be checked.".to_owned()
            }
            AdvantageRule::PerToken => {
                "Advantages differ from token to token, so they do not follow from the reward alone.".to_owned()
            }
            AdvantageRule::NoSignal => {
                "All rewards are equal and all advantages are 0: this group trains nothing.".to_owned()
            }
            AdvantageRule::Constant(value) => {
                format!("All advantages are {value:.3}, although the rewards differ.")
            }
            AdvantageRule::Standardized { is_of_samples } => {
                let which = if *is_of_samples {
"n − 1"
} else {
"n"
};
                format!(
                    "Advantages follow from the rewards: (reward − group mean) / standard deviation with {which}, as in GRPO."
                )
            }
            AdvantageRule::Centered => {
                "Advantages follow from the rewards: reward − group mean, without the standard deviation.".to_owned()
            }
            AdvantageRule::LeaveOneOut => {
                "Advantages follow from the rewards: reward − mean of the other samples (leave one out).".to_owned()
            }
            AdvantageRule::Reward => "Advantages are the rewards, without a baseline.".to_owned(),
            AdvantageRule::Scaled(factor) => {
                format!("Advantages are proportional to reward − group mean, by a factor of {factor:.3}.")
            }
            AdvantageRule::Other => {
                "Advantages do not follow from the rewards of this group alone: rewards were shaped, clipped, or normalised over more than the group.".to_owned()
            }
        }
    }
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pairs: &[(f64, f64)]) -> AdvantageRule {
        let pairs = pairs
            .iter()
            .map(|(reward, advantage)| (Some(*reward), Some((*advantage, *advantage))));
        AdvantageRule::of_pairs(&pairs.collect::<Vec<_>>()).0
    }

    #[test]
    fn rules_of_common_estimators() {
        // Three of four succeed: mean 0.75, deviation 0.5 (n − 1) or 0.433 (n).
        let with = |success: f64, failure: f64| {
            rule(&[
                (1.0, success),
                (1.0, success),
                (1.0, success),
                (0.0, failure),
            ])
        };
        assert_eq!(
            with(0.499_999, -1.499_997),
            AdvantageRule::Standardized {
                is_of_samples: true
            }
        );
        assert_eq!(
            with(0.577_35, -1.732_05),
            AdvantageRule::Standardized {
                is_of_samples: false
            }
        );
        assert_eq!(with(0.25, -0.75), AdvantageRule::Centered);
        assert_eq!(with(1.0 / 3.0, -1.0), AdvantageRule::LeaveOneOut);
        assert_eq!(with(1.0, 0.0), AdvantageRule::Reward);
        assert_eq!(with(0.3, 0.3), AdvantageRule::Constant(0.3));
        assert!(
            matches!(with(2.5, -7.5), AdvantageRule::Scaled(factor) if (factor - 10.0).abs() < 1e-9)
        );
        assert_eq!(with(1.0, 1.5), AdvantageRule::Other);
    }

    #[test]
    fn groups_without_variance_train_nothing() {
        assert_eq!(rule(&[(1.0, 0.0), (1.0, 0.0)]), AdvantageRule::NoSignal);
        assert_eq!(rule(&[(0.5, 0.5), (0.5, 0.5)]), AdvantageRule::Reward);
        assert_eq!(rule(&[(1.0, 0.2), (1.0, 0.2)]), AdvantageRule::Other);
    }

    #[test]
    fn missing_values_are_reported() {
        let of = |pairs: &[Pair]| AdvantageRule::of_pairs(pairs).0;
        assert_eq!(
            of(&[(Some(1.0), None), (Some(0.0), None)]),
            AdvantageRule::Absent
        );
        assert_eq!(of(&[]), AdvantageRule::Absent);
        let zero = Some((0.0, 0.0));
        assert_eq!(
            of(&[(Some(1.0), zero), (None, zero)]),
            AdvantageRule::Partial
        );
        assert_eq!(
            of(&[(Some(1.0), zero), (Some(f64::NAN), zero)]),
            AdvantageRule::Partial
        );
        assert_eq!(
            of(&[(Some(1.0), Some((-1.0, 1.0)))]),
            AdvantageRule::PerToken
        );
        let known = |reward, advantage| (Some(reward), Some((advantage, advantage)));
        let centered = [known(1.0, 0.5), known(0.0, -0.5), (None, zero)];
        assert_eq!(
            AdvantageRule::of_pairs(&centered),
            (AdvantageRule::Centered, 1)
        );
        let others = [known(1.0, 0.5), known(0.0, 3.0), (None, zero)];
        assert_eq!(of(&others), AdvantageRule::Partial);
        assert!(AdvantageRule::Other.sentence().ends_with("the group."));
    }
}
