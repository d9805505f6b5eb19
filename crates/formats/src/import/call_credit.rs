//! What a trainer assigned to each call of a rollout: a reward and an advantage.
//!
//! verifiers copies the reward of the rollout to all calls unless the environment assigned some of its own, so the rewards of
//! calls are those of steps only if they add up to that of the rollout. Otherwise they are metadata of the steps.

use volary_core::json::{Json, Object};
use volary_episode::episode::{Episode, Outcome, Rewards, StepRecord};

use super::members::number;
use super::reader::{NOT_FINITE, Sink};

/// The members of a call that are about credit.
const MEMBERS: [&str; 2] = ["reward", "advantage"];

/// Adds the rewards and advantages of calls to the steps of their rollout, or to the other members if they cannot be assigned.
pub(super) fn assign(
    calls: &[Json],
    episode: &mut Episode,
    rest: &mut Object,
    sink: &mut Sink<'_>,
) {
    let mut credits: Vec<Object> = calls.iter().map(credit).collect();
    if credits.iter().all(Object::is_empty) {
        return;
    }
    for reward in calls.iter().filter_map(reward) {
        if !reward.is_finite() {
            sink.lost(NOT_FINITE);
        }
    }
    if credits.len() != episode.steps.len() {
        sink.kept(format!(
            "A rollout has {} calls and {} steps, so the rewards and advantages of the calls are kept as `call_credits`.",
            credits.len(),
            episode.steps.len()
        ));
        let credits = credits.into_iter().map(Json::Object).collect();
        rest.insert("call_credits", Json::List(credits));
        return;
    }
    let rewards: Option<Vec<f64>> = calls.iter().map(reward).collect();
    let can_take = |step: &StepRecord, worth: f64| {
        worth == 0.0 || matches!(step.outcome, Outcome::Observed { .. })
    };
    if let (Some(rewards), Some(total)) = (rewards, episode.reward())
        && (rewards.iter().sum::<f64>() - total).abs() < 1e-6
        && episode
            .steps
            .iter()
            .zip(&rewards)
            .all(|(step, worth)| can_take(step, *worth))
    {
        episode.rewards = Rewards::Steps;
        for credit in &mut credits {
            credit.remove("reward");
        }
        for (step, worth) in episode.steps.iter_mut().zip(rewards) {
            if let Outcome::Observed { reward, .. } = &mut step.outcome {
                *reward = worth;
            }
        }
    }
    for (step, credit) in episode.steps.iter_mut().zip(credits) {
        step.extras.extend(credit);
    }
}

/// The advantage of a call.
pub(super) fn advantage(call: &Json) -> Option<f64> {
    call.get("advantage").and_then(number)
}

fn reward(call: &Json) -> Option<f64> {
    call.get("reward").and_then(number)
}

fn credit(call: &Json) -> Object {
    let members = MEMBERS.into_iter();
    let members = members.filter_map(|key| Some((key, call.get(key)?)));
    let mut credit = Object::new();
    for (key, value) in members.filter(|(_, value)| !value.is_null()) {
        credit.insert(key, value.clone());
    }
    credit
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;

    use super::*;
    use crate::import::ImportOutcome;

    /// An episode of two steps with the reward 1, the first of which may have failed, and calls with the rewards 1 and 0.
    fn assigned(has_failed: bool) -> Episode {
        let first = if has_failed {
            Outcome::Failed {
                message: "It timed out.".into(),
            }
        } else {
            observed()
        };
        let step = |outcome| StepRecord::new(Message::user("Go").into(), outcome);
        let mut episode = Episode {
            steps: vec![step(first), step(observed())],
            rewards: Rewards::Whole(1.0),
            ..Episode::default()
        };
        let calls = [1.0, 0.0].map(|worth| volary_core::json!({ "reward": worth }));
        let mut outcome = ImportOutcome::default();
        let mut sink = Sink::new(&mut outcome, "verifiers", "results.jsonl");
        assign(&calls, &mut episode, &mut Object::new(), &mut sink);
        episode
    }

    fn observed() -> Outcome {
        Outcome::Observed {
            messages: Vec::new(),
            reward: 0.0,
            done: false,
            truncated: false,
        }
    }

    #[test]
    fn the_total_stays_if_a_rewarded_step_failed() {
        let credit = |episode: &Episode| episode.steps[0].extras.get("reward").cloned();
        let of_steps = assigned(false);
        assert_eq!(of_steps.reward(), Some(1.0));
        assert_eq!(
            (of_steps.steps[0].reward(), credit(&of_steps)),
            (Some(1.0), None)
        );
        let of_calls = assigned(true);
        assert_eq!(of_calls.reward(), Some(1.0));
        assert_eq!(credit(&of_calls), Some(1.0.into()));
    }
}
