//! The settings of a run, their limits, and planted failures.

use serde::{Deserialize, Serialize};

/// How advantages follow from rewards, as the papers name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// Group relative policy optimisation (Shao et al. 2024): (reward − group mean) / (standard deviation + 1e-6), the
    /// deviation with n − 1, as slime and TRL have it.
    #[default]
    Grpo,
    /// Dr. GRPO (Liu et al. 2025): reward − group mean. With [`Aggregation::Constant`] it is that of the paper.
    DrGrpo,
    /// REINFORCE (Williams 1992): the reward itself.
    Reinforce,
    /// REINFORCE with the mean reward of the batch as its baseline.
    ReinforceBaseline,
}

/// How the losses of tokens become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The mean over all trained tokens: long samples weigh more.
    #[default]
    Tokens,
    /// The mean over samples of their means over tokens, as in GRPO's paper: tokens of long samples weigh less.
    Samples,
    /// The sum over tokens, divided by the number of samples and the length of the context, as in Dr. GRPO.
    Constant,
}

/// Who gives rewards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grader {
    /// The reward of the environment itself.
    #[default]
    Honest,
    /// A grader with a leak; see [`leaky_reward`](crate::Learnable::leaky_reward).
    Leaky,
}

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Knobs {
    /// The environment; see [`learnables`](crate::learnables).
    pub environment: String,
    /// The seed of tasks and samples. Below 2^53, so that every JSON reader preserves it.
    pub seed: u64,
    /// The number of prompts of an update.
    pub prompts: usize,
    /// The number of samples of a prompt.
    pub group: usize,
    pub estimator: Estimator,
    pub aggregation: Aggregation,
    /// ε: the ratio of new to old probability counts only from 1 − ε to 1 + ε.
    pub clip: f64,
    /// β: the weight of the divergence from the warm start, by the k3 estimator.
    pub kl: f64,
    /// The temperature of sampling and of the loss.
    pub temperature: f64,
    /// What a call costs.
    pub call_price: f64,
    /// What a sampled token costs.
    pub length_price: f64,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// The number of steps of the optimiser with one batch. Only from the second on, something can be clipped.
    pub updates_per_batch: usize,
    /// Whether only tokens that the policy sampled are trained. Otherwise the replies of the environment are, too.
    pub has_mask: bool,
    pub grader: Grader,
}

impl Default for Knobs {
    fn default() -> Self {
        Knobs {
            environment: "calculator".to_owned(),
            seed: 1,
            prompts: 16,
            group: 8,
            estimator: Estimator::default(),
            aggregation: Aggregation::default(),
            clip: 0.2,
            kl: 0.0,
            temperature: 1.0,
            call_price: 0.0,
            length_price: 0.0,
            learning_rate: 1e-3,
            updates_per_batch: 1,
            has_mask: true,
            grader: Grader::default(),
        }
    }
}

/// A knob outside of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KnobError {
    #[error("{knob} is {value}; it must be from {low} to {high}.")]
    OutOfRange {
        knob: &'static str,
        value: f64,
        low: f64,
        high: f64,
    },
    #[error(
        "{samples} samples an update are too many: at most {limit}. Lower the number of prompts or the group size."
    )]
    TooManySamples { samples: usize, limit: usize },
    #[error("There is no environment `{0}` in the school. Choose calculator, counter or hands.")]
    Environment(String),
}

impl Knobs {
    /// The largest number of samples in an update.
    pub const MOST_SAMPLES: usize = 4096;

    /// Checks all ranges.
    ///
    /// # Errors
    ///
    /// Names the first knob outside of its range.
    pub fn check(&self) -> Result<(), KnobError> {
        if crate::learnable(&self.environment).is_none() {
            return Err(KnobError::Environment(self.environment.clone()));
        }
        // The largest seed is 2^53 − 1.
        let seed = if self.seed < 1 << 53 {
            0.0
        } else {
            self.seed as f64
        };
        for (knob, value, low, high) in [
            ("The seed", seed, 0.0, 9_007_199_254_740_991.0),
            ("The number of prompts", self.prompts as f64, 1.0, 512.0),
            ("The group size", self.group as f64, 1.0, 256.0),
            ("The clipping range ε", self.clip, 0.01, 10.0),
            ("The weight of the divergence β", self.kl, 0.0, 10.0),
            ("The temperature", self.temperature, 0.05, 5.0),
            ("The price of a call", self.call_price, 0.0, 1.0),
            ("The price of a token", self.length_price, 0.0, 1.0),
            ("The learning rate", self.learning_rate, 0.0, 1.0),
            (
                "The number of updates a batch",
                self.updates_per_batch as f64,
                1.0,
                16.0,
            ),
        ] {
            // NaN is in no range.
            if !(low..=high).contains(&value) {
                return Err(KnobError::OutOfRange {
                    knob,
                    value,
                    low,
                    high,
                });
            }
        }
        let samples = self.prompts * self.group;
        if samples > Self::MOST_SAMPLES {
            return Err(KnobError::TooManySamples {
                samples,
                limit: Self::MOST_SAMPLES,
            });
        }
        Ok(())
    }
}

/// A failure that is planted into the knobs, to be found by its effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// The grader pays for something easier, and the policy finds it: reward rises, success does not.
    LeakyGrader,
    /// The policy is also trained on what the environment writes.
    MaskOff,
    /// In a pair both samples are often equally good, and then teach nothing.
    GroupsOfTwo,
    /// Rewards are never negative, so that everything that was sampled is encouraged.
    NoBaseline,
    /// Samples of a prompt are nearly equal, so that nothing new is found.
    ColdSampling,
}

impl Preset {
    pub const ALL: [Preset; 5] = [
        Preset::LeakyGrader,
        Preset::MaskOff,
        Preset::GroupsOfTwo,
        Preset::NoBaseline,
        Preset::ColdSampling,
    ];

    /// The name in links and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::LeakyGrader => "leaky-grader",
            Preset::MaskOff => "mask-off",
            Preset::GroupsOfTwo => "groups-of-two",
            Preset::NoBaseline => "no-baseline",
            Preset::ColdSampling => "cold-sampling",
        }
    }

    /// The preset with a name.
    pub fn of_name(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Plants the failure.
    pub fn plant(self, knobs: &mut Knobs) {
        match self {
            Preset::LeakyGrader => knobs.grader = Grader::Leaky,
            Preset::MaskOff => knobs.has_mask = false,
            // As many samples as before.
            Preset::GroupsOfTwo => {
                knobs.prompts = (knobs.prompts * knobs.group / 2).clamp(1, 512);
                knobs.group = 2;
            }
            Preset::NoBaseline => knobs.estimator = Estimator::Reinforce,
            Preset::ColdSampling => knobs.temperature = 0.2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_outside_of_their_range_are_named() {
        assert_eq!(Knobs::default().check(), Ok(()));
        let refuse = |knobs: Knobs| knobs.check().unwrap_err().to_string();
        let cold = Knobs {
            temperature: 0.0,
            ..Knobs::default()
        };
        assert_eq!(
            refuse(cold),
            "The temperature is 0; it must be from 0.05 to 5."
        );
        let rate = Knobs {
            learning_rate: f64::NAN,
            ..Knobs::default()
        };
        assert!(refuse(rate).starts_with("The learning rate is NaN"));
        let many = Knobs {
            prompts: 512,
            group: 256,
            ..Knobs::default()
        };
        assert!(refuse(many).starts_with("131072 samples"));
        let other = Knobs {
            environment: "dummy".to_owned(),
            ..Knobs::default()
        };
        assert!(refuse(other).contains("`dummy`"));
        let seed = Knobs {
            seed: 1 << 53,
            ..Knobs::default()
        };
        assert!(refuse(seed).starts_with("The seed"));
    }

    #[test]
    fn every_planted_failure_is_a_possible_run() {
        for preset in Preset::ALL {
            let mut knobs = Knobs::default();
            preset.plant(&mut knobs);
            assert_ne!(knobs, Knobs::default());
            assert_eq!(knobs.check(), Ok(()));
            assert_eq!(Preset::of_name(preset.name()), Some(preset));
        }
    }

    #[test]
    fn knobs_are_read_with_defaults_and_without_unknown_ones() {
        let knobs: Knobs = serde_json::from_str(r#"{"group": 4, "estimator": "dr_grpo"}"#).unwrap();
        let expected = Knobs {
            group: 4,
            estimator: Estimator::DrGrpo,
            ..Knobs::default()
        };
        assert_eq!(knobs, expected);
        assert!(serde_json::from_str::<Knobs>(r#"{"groups": 4}"#).is_err());
    }
}
