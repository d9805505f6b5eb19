//! Per-step amounts that can be drawn as curves: reward, tokens and cost.

use volary_analysis::timeline::{Curve, rewards, tokens, usage};
use volary_core::quantity::large_count_text;
use volary_episode::Episode;

use super::asking::cost_text;
use super::summary::reward_text;

/// An amount that each step has.
pub struct StepMeasure {
    pub name: &'static str,
    /// The amounts by step.
    pub amounts: fn(&Episode) -> Vec<f64>,
    /// Whether any amount is known.
    pub is_known: fn(&Episode) -> bool,
    /// An amount in words.
    pub words: fn(f64) -> String,
}

/// Rewards. A reward for the whole episode is shown at the last step.
pub const REWARD: StepMeasure = StepMeasure {
    name: "Reward",
    amounts: |episode| amounts(rewards(episode)),
    is_known: |episode| !rewards(episode).is_unknown(),
    words: reward_text,
};

/// Tokens, input and output.
pub const TOKENS: StepMeasure = StepMeasure {
    name: "Tokens",
    amounts: |episode| amounts(tokens(episode)),
    is_known: |episode| !tokens(episode).is_unknown(),
    words: |tokens| large_count_text(tokens as u64),
};

/// Cost in US dollars.
pub const COST: StepMeasure = StepMeasure {
    name: "Cost",
    amounts: |episode| amounts(usage(episode, |usage| usage.cost)),
    is_known: |episode| !usage(episode, |usage| usage.cost).is_unknown(),
    words: cost_text,
};

fn amounts(curve: Curve) -> Vec<f64> {
    let amounts = curve.values.into_iter();
    amounts.map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::{Outcome, Rewards, StepRecord, Usage};

    use super::*;

    #[test]
    fn a_reward_of_the_whole_episode_is_at_the_last_step() {
        let mut step = StepRecord::new(
            Message::user("act").into(),
            Outcome::Observed {
                messages: Vec::new(),
                reward: 0.0,
                done: false,
                truncated: false,
            },
        );
        step.details.usage = Some(Usage {
            input: Some(3),
            output: Some(4),
            ..Usage::default()
        });
        let episode = Episode {
            steps: vec![step.clone(), step],
            rewards: Rewards::Whole(1.0),
            ..Episode::default()
        };
        assert_eq!((REWARD.amounts)(&episode), [0.0, 1.0]);
        assert_eq!((TOKENS.amounts)(&episode), [7.0, 7.0]);
        assert!((REWARD.is_known)(&episode) && !(COST.is_known)(&episode));
        assert_eq!((TOKENS.words)(1234.0), "1,234");
    }
}
