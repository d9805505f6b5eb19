//! What looks wrong in a run, found in its figures alone: what was sampled, rewarded and trained, not how the knobs are set.
//!
//! A finding needs [`IN_A_ROW`] updates that show it, each or on average, so that a single odd batch is none.

use serde::{Deserialize, Serialize};

use crate::knobs::{Estimator, Grader, Knobs};
use crate::record::UpdateMetrics;

/// The number of latest updates that must show something.
pub const IN_A_ROW: usize = 5;

/// What looks wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The grader pays for more than the solved tasks.
    RewardWithoutSuccess,
    /// More tokens were trained than the policy sampled.
    TrainedOnReplies,
    /// Most groups have equal rewards, so that they teach nothing, although tasks are left to learn.
    DeadGroups,
    /// Nothing was discouraged, although samples failed.
    NothingDiscouraged,
    /// The policy is sure of what it does, and it is mostly wrong.
    SureAndWrong,
}

impl Finding {
    pub const ALL: [Finding; 5] = [
        Finding::RewardWithoutSuccess,
        Finding::TrainedOnReplies,
        Finding::DeadGroups,
        Finding::NothingDiscouraged,
        Finding::SureAndWrong,
    ];

    /// The name in a list of checks.
    pub fn label(self) -> &'static str {
        match self {
            Finding::RewardWithoutSuccess => "Reward without success",
            Finding::TrainedOnReplies => "Trained on replies",
            Finding::DeadGroups => "Dead groups",
            Finding::NothingDiscouraged => "Nothing is discouraged",
            Finding::SureAndWrong => "Sure, and wrong",
        }
    }

    /// What the finding means, and where to look.
    pub fn explanation(self) -> &'static str {
        match self {
            Finding::RewardWithoutSuccess => {
                "The grader rewards samples that did not solve their task: the policy learns what is paid, not what is meant. \
                 Read the samples with a reward that are not right."
            }
            Finding::TrainedOnReplies => {
                "More tokens are trained than the policy wrote: the loss mask is off, so the policy also learns to write the \
                 environment's replies itself. With replies as short as here the curve hardly shows it, so it is easily missed; \
                 with long ones most of what is learned would be the environment's text."
            }
            Finding::DeadGroups => {
                "In most groups all samples have the same reward. Their advantages are 0, so that these samples teach nothing. \
                 Small groups and cold sampling cause it, and so \
                 does a policy that always does the same."
            }
            Finding::NothingDiscouraged => {
                "Samples fail, yet no advantage is negative: without a baseline the update makes everything that has a reward \
                 more probable and nothing less probable."
            }
            Finding::SureAndWrong => {
                "The entropy is low and most samples fail: the policy hardly tries anything new, so that nothing better is \
                 found. A higher temperature explores more."
            }
        }
    }

    /// Whether updates show it.
    fn is_shown_by(self, updates: &[UpdateMetrics]) -> bool {
        let all = |shows: &dyn Fn(&UpdateMetrics) -> bool| updates.iter().all(shows);
        let mean = |figure: &dyn Fn(&UpdateMetrics) -> f64| {
            updates.iter().map(figure).sum::<f64>() / updates.len().max(1) as f64
        };
        let success = mean(&|update| update.success);
        match self {
            Finding::RewardWithoutSuccess => all(&|update| update.graded > update.success + 0.1),
            Finding::TrainedOnReplies => all(&|update| {
                let sampled = update.length * update.samples as f64;
                update.trained_tokens as f64 > sampled + 0.5
            }),
            Finding::DeadGroups => {
                let dead = |update: &UpdateMetrics| {
                    update.dead_groups as f64 / update.groups.max(1) as f64
                };
                // With a high success, groups are dead because there is little left to learn.
                success < 0.9 && mean(&dead) > 0.6
            }
            Finding::NothingDiscouraged => all(&|update| {
                update.discouraged == 0
                    && update.dead_groups < update.groups
                    && update.success < 0.95
            }),
            Finding::SureAndWrong => {
                all(&|update| update.success < 0.5) && mean(&|update| update.entropy) < 0.2
            }
        }
    }

    /// Changes the knobs that cause it back to what works.
    pub fn repair(self, knobs: &mut Knobs) {
        let good = Knobs::default();
        match self {
            Finding::RewardWithoutSuccess => knobs.grader = Grader::Honest,
            Finding::TrainedOnReplies => knobs.has_mask = true,
            Finding::DeadGroups => {
                if knobs.group < good.group {
                    (knobs.prompts, knobs.group) = (good.prompts, good.group);
                }
                knobs.temperature = knobs.temperature.max(good.temperature);
            }
            Finding::NothingDiscouraged => knobs.estimator = Estimator::Grpo,
            Finding::SureAndWrong => knobs.temperature = knobs.temperature.max(good.temperature),
        }
    }
}

/// What the latest updates show.
pub fn findings(history: &[UpdateMetrics]) -> Vec<Finding> {
    let Some(latest) = history.len().checked_sub(IN_A_ROW) else {
        return Vec::new();
    };
    let latest = &history[latest..];
    let shown = |finding: &Finding| finding.is_shown_by(latest);
    Finding::ALL.into_iter().filter(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::Preset;
    use crate::run::Run;
    use crate::shipped;

    /// Updates of a run.
    fn history(knobs: Knobs, updates: usize) -> Vec<UpdateMetrics> {
        let start = shipped(&knobs.environment).unwrap();
        let mut run = Run::new(knobs, start).unwrap();
        (0..updates)
            .map(|_| run.update().unwrap().metrics)
            .collect()
    }

    #[test]
    fn a_sound_run_has_no_findings() {
        let history = history(Knobs::default(), 10);
        for length in 0..=history.len() {
            assert_eq!(findings(&history[..length]), []);
        }
    }

    #[test]
    fn every_planted_failure_is_found_and_repaired() {
        for (preset, expected, updates) in [
            (Preset::LeakyGrader, Finding::RewardWithoutSuccess, 5),
            (Preset::MaskOff, Finding::TrainedOnReplies, 5),
            (Preset::GroupsOfTwo, Finding::DeadGroups, 5),
            (Preset::NoBaseline, Finding::NothingDiscouraged, 5),
            (Preset::ColdSampling, Finding::DeadGroups, 5),
        ] {
            let mut knobs = Knobs::default();
            preset.plant(&mut knobs);
            let found = findings(&history(knobs.clone(), updates));
            assert!(found.contains(&expected), "{preset:?}: {found:?}");
            for finding in found {
                finding.repair(&mut knobs);
            }
            assert_eq!(knobs, Knobs::default(), "{preset:?}");
        }
    }
}
