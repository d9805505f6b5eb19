//! Rollouts as ordinary trajectories: with real calls and replies, a recipe that replays them, and the tokens as a trainer
//! records them. Review shows them as a training run.

use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_core::{Step, TokenStream, object};
use volary_episode::episode::{Ending, Episode, Outcome, Recipe, Rewards, Score, StepRecord};
use volary_episode::token_record::{Alignment, LossMask, TokenPart, TokenRecordBuilder};

use crate::knobs::Knobs;
use crate::learnable::Learnable;
use crate::play::{AttemptEnding, PlayedTurn};
use crate::rollout::Rollout;
use crate::run::Update;

const POLICY: &str = "school";

/// The trajectories of an update, in the order of groups and samples.
pub fn episodes(learnable: &dyn Learnable, knobs: &Knobs, update: &Update) -> Vec<Episode> {
    let rollouts = update.rollouts.iter();
    rollouts
        .map(|rollout| episode(learnable, knobs, update.metrics.update, rollout))
        .collect()
}

/// The trajectory of a rollout.
pub fn episode(
    learnable: &dyn Learnable,
    knobs: &Knobs,
    update: u32,
    rollout: &Rollout,
) -> Episode {
    let (group, sample) = (rollout.group, rollout.sample);
    let score = |name: &str, value: f64| Score {
        name: name.into(),
        value: value.into(),
        ..Score::default()
    };
    let mut scores = vec![score("graded", rollout.reward.graded)];
    if knobs.call_price > 0.0 {
        scores.push(score("price of calls", -rollout.reward.calls));
    }
    if knobs.length_price > 0.0 {
        scores.push(score("price of tokens", -rollout.reward.length));
    }
    scores.push(Score {
        name: "behaviour".into(),
        value: Json::from(rollout.behaviour.label()),
        ..Score::default()
    });
    let integer = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let mut episode = Episode {
        id: format!(
            "{}-{}-{update}-{group}-{sample}",
            knobs.environment, knobs.seed
        )
        .into(),
        name: format!(
            "{} · {update} · {group} · {sample}",
            rollout.exercise.prompt
        )
        .into(),
        recipe: Some(Recipe {
            environment: learnable.environment().into(),
            configuration: rollout.exercise.configuration.clone(),
            seed: rollout.seed,
            task: None,
        }),
        policy: Some(POLICY.into()),
        tools: rollout
            .attempt
            .reset
            .tools
            .iter()
            .map(|tool| (**tool).clone())
            .collect(),
        start: rollout.attempt.reset.messages.clone(),
        steps: rollout.attempt.turns.iter().map(step).collect(),
        ending: ending(rollout),
        rewards: Rewards::Whole(rollout.reward.total()),
        scores,
        metadata: metadata(update, integer(group), integer(sample), rollout.advantage),
        ..Episode::default()
    };
    episode.tokens = tokens(learnable, knobs, rollout).map(Arc::new);
    episode
}

fn metadata(update: u32, group: i64, sample: i64, advantage: f64) -> Object {
    object!({
        "step": (i64::from(update)),
        "group": group,
        "sample": sample,
        "advantage": advantage,
        "weight_versions": (vec![Text::from(update.to_string())])
    })
}

fn step(turn: &PlayedTurn) -> StepRecord {
    let Step {
        messages,
        reward,
        done,
        truncated,
    } = turn.step.clone();
    let outcome = Outcome::Observed {
        messages,
        reward,
        done,
        truncated,
    };
    StepRecord::new(turn.action.clone(), outcome)
}

fn ending(rollout: &Rollout) -> Ending {
    let truncated = |reason: &str| Ending::Truncated {
        reason: reason.into(),
    };
    match rollout.attempt.ending {
        AttemptEnding::Open => Ending::Open,
        AttemptEnding::Done => Ending::Done,
        AttemptEnding::Malformed => truncated("The policy wrote something that is no action."),
        AttemptEnding::TooLong => truncated("The context was full."),
    }
}

/// The tokens, with the range of each message. The mask is that of the update.
fn tokens(
    learnable: &dyn Learnable,
    knobs: &Knobs,
    rollout: &Rollout,
) -> Option<volary_episode::token_record::TokenRecord> {
    let alphabet = learnable.alphabet();
    let ids = rollout
        .tokens
        .iter()
        .map(|token| alphabet.recorded_id(*token))
        .collect();
    let mask = if knobs.has_mask {
        rollout.mask.clone()
    } else {
        (0..rollout.tokens.len())
            .map(|token| token >= rollout.prompt)
            .collect()
    };
    let advantages: TokenStream = mask
        .iter()
        .map(|is_trained| is_trained.then_some(rollout.advantage))
        .collect();
    let mask = LossMask::Response(mask[rollout.prompt..].to_vec());
    let mut builder = TokenRecordBuilder::new(ids, mask).ok()?;
    let sampled = |value: &dyn Fn(usize) -> f64| -> TokenStream {
        let tokens = rollout.mask.iter().enumerate();
        tokens
            .map(|(token, is_sampled)| is_sampled.then(|| value(token)))
            .collect()
    };
    let log_probs = sampled(&|token| f64::from(rollout.log_probs[token]));
    builder.stream("rollout_log_probs", &log_probs, Alignment::Full);
    builder.stream("advantages", &advantages, Alignment::Full);
    let entropies = sampled(&|token| f64::from(rollout.entropies[token]));
    builder.stream("entropy", &entropies, Alignment::Full);
    let mut parts = vec![TokenPart {
        step: 0,
        message: 0,
        range: 0..rollout.prompt,
    }];
    let mut start = rollout.prompt;
    for (index, turn) in rollout.attempt.turns.iter().enumerate() {
        // The episode may have ended before a reply was read as a whole.
        for (message, text) in [(0, &turn.text), (1, &turn.reply)] {
            let end = (start + text.len()).min(rollout.tokens.len());
            if start < end {
                parts.push(TokenPart {
                    step: index + 1,
                    message,
                    range: start..end,
                });
            }
            start = end;
        }
    }
    Some(builder.with_parts(parts))
}
