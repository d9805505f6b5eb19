//! What an update shows, as data for a page or a file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::learnable::{Behaviour, Learnable};
use crate::rollout::Rollout;

/// The figures of an update. Means are over the samples of its batch, before the update.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UpdateMetrics {
    /// The number of the update, from 0. The batch of update `n` was sampled by the policy after `n` updates.
    pub update: u32,
    pub samples: usize,
    /// The number of prompts.
    pub groups: usize,
    /// The mean reward, after prices.
    pub reward: f64,
    /// The mean of what the grader gave, before prices.
    pub graded: f64,
    /// The number of samples that the update made less probable: those with a negative advantage.
    pub discouraged: usize,
    /// The share of samples that solved their task, whatever the reward says.
    pub success: f64,
    /// The share of samples without a call.
    pub without_tool: f64,
    /// The number of samples by what they did.
    pub behaviours: BTreeMap<Behaviour, usize>,
    /// The mean entropy of sampled tokens, in nats.
    pub entropy: f64,
    /// The mean number of sampled tokens.
    pub length: f64,
    /// The mean number of priced calls.
    pub calls: f64,
    /// The number of groups whose rewards are all equal.
    pub dead_groups: usize,
    /// The number of trained tokens.
    pub trained_tokens: usize,
    /// The share of trained tokens whose ratio was clipped, over all steps of the optimiser.
    pub clipped: f64,
    /// The mean divergence from the warm start (k3); `None` if it was not computed, because β is 0.
    pub divergence: Option<f64>,
    /// The norm of the gradient of the first step.
    pub gradient_norm: f64,
    /// The hash of the weights after the update, in hexadecimal: equal hashes mean equal weights.
    pub weights: String,
}

/// A sample, for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    pub group: usize,
    pub sample: usize,
    /// Prompt, turns and replies; a character for each token.
    pub text: String,
    /// The length of the prompt.
    pub prompt: usize,
    pub mask: Vec<bool>,
    pub log_probs: Vec<f32>,
    pub behaviour: Behaviour,
    /// By the grader, before prices.
    pub graded: f64,
    pub reward: f64,
    pub advantage: f64,
}

/// A group, and what one update did to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupRecord {
    pub prompt: String,
    pub samples: Vec<SampleRecord>,
    pub mean: f64,
    /// With n − 1; 0 for a single sample.
    pub deviation: f64,
    /// For each sample and token the log probability before and after the update, at the temperature of the run; 0 for the
    /// first token, which nothing predicts.
    pub before: Vec<Vec<f32>>,
    pub after: Vec<Vec<f32>>,
}

impl SampleRecord {
    pub fn of(learnable: &dyn Learnable, rollout: &Rollout) -> Self {
        SampleRecord {
            group: rollout.group,
            sample: rollout.sample,
            text: learnable.alphabet().text(&rollout.tokens),
            prompt: rollout.prompt,
            mask: rollout.mask.clone(),
            log_probs: rollout.log_probs.clone(),
            behaviour: rollout.behaviour,
            graded: rollout.reward.graded,
            reward: rollout.reward.total(),
            advantage: rollout.advantage,
        }
    }
}

impl UpdateMetrics {
    /// The figures of a batch; those of the update itself are still missing.
    pub fn of_batch(
        learnable: &dyn Learnable,
        update: u32,
        group: usize,
        batch: &[Rollout],
    ) -> Self {
        let samples = batch.len();
        let mean = |of: &dyn Fn(&Rollout) -> f64| {
            batch.iter().map(of).sum::<f64>() / samples.max(1) as f64
        };
        let mut behaviours: BTreeMap<Behaviour, usize> = Behaviour::ALL
            .into_iter()
            .map(|behaviour| (behaviour, 0))
            .collect();
        for rollout in batch {
            *behaviours.entry(rollout.behaviour).or_default() += 1;
        }
        let sampled: usize = batch.iter().map(Rollout::sampled).sum();
        let entropy: f64 = batch
            .iter()
            .flat_map(|rollout| &rollout.entropies)
            .map(|entropy| f64::from(*entropy))
            .sum();
        let is_dead = |group: &&[Rollout]| {
            let first = group.first().map(|rollout| rollout.reward.total());
            group
                .iter()
                .all(|rollout| Some(rollout.reward.total()) == first)
        };
        UpdateMetrics {
            update,
            samples,
            groups: batch.chunks(group.max(1)).count(),
            reward: mean(&|rollout| rollout.reward.total()),
            graded: mean(&|rollout| rollout.reward.graded),
            discouraged: batch
                .iter()
                .filter(|rollout| rollout.advantage < 0.0)
                .count(),
            success: mean(&|rollout| f64::from(u8::from(rollout.behaviour == Behaviour::Right))),
            without_tool: mean(&|rollout| f64::from(u8::from(rollout.calls(learnable) == 0))),
            behaviours,
            entropy: entropy / sampled.max(1) as f64,
            length: sampled as f64 / samples.max(1) as f64,
            calls: mean(&|rollout| rollout.calls(learnable) as f64),
            dead_groups: batch.chunks(group.max(1)).filter(is_dead).count(),
            ..UpdateMetrics::default()
        }
    }
}
