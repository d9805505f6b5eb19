//! Is a recording what happens? Runs the recorded actions again and names the first difference.
//!
//! Times differ from run to run, so the times in infos are not compared.

use std::rc::Rc;

use volary_core::json::{Json, Object, Text};
use volary_core::registry::Registry;
use volary_core::{AnyMessage, Clock, json};
use volary_trajectory::diff::identical;
use volary_trajectory::native::{frame_to_json, messages_to_json, tools_to_json};
use volary_trajectory::{Episode, Outcome};

use crate::runner::{Runner, RunnerError};

/// The members of infos that say times.
const TIMES: [&str; 2] = ["start_ts", "end_ts"];

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// Every step gives what was recorded.
    Same {
        /// How many steps were run.
        steps: usize,
    },
    /// Something else happens.
    Differs(Divergence),
    /// The episode does not say how its environment is made.
    NoRecipe,
}

/// The first difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// Where: 0 is the reset, `i` is step `i`.
    pub step: usize,
    /// What differs: "tools", "messages", "reward", "done", "truncated", "failure" or "frame".
    pub what: Text,
    /// What was recorded.
    pub recorded: Json,
    /// What happens now.
    pub now: Json,
}

/// Runs the actions of an episode again and compares all results.
pub async fn check(
    registry: &Registry,
    episode: &Episode,
    clock: Rc<dyn Clock>,
) -> Result<Check, RunnerError> {
    let Some(recipe) = &episode.recipe else {
        return Ok(Check::NoRecipe);
    };
    let (mut runner, opening) = Runner::open(registry, recipe, clock).await?;
    let tools = opening.tools.iter().map(|tool| &**tool);
    let mut comparison = Comparison::default();
    comparison.compare("tools", tools_to_json(&episode.tools), tools_to_json(tools));
    comparison.compare("messages", said(&episode.start), said(&opening.messages));
    let mut frames = episode.frames.cursor();
    for step in std::iter::once(None).chain(episode.steps.iter().map(Some)) {
        if let Some(recorded) = step {
            comparison.step += 1;
            let now = runner.step(recorded.action.clone()).await?;
            comparison.outcomes(&recorded.outcome, &now.record.outcome);
        }
        if let Some(frame) = frames.advance() {
            comparison.compare("frame", frame_to_json(frame), frame_to_json(runner.frame()));
        }
        if let Some(divergence) = comparison.found.take() {
            return Ok(Check::Differs(divergence));
        }
    }
    Ok(Check::Same {
        steps: comparison.step,
    })
}

#[derive(Default)]
struct Comparison {
    step: usize,
    found: Option<Divergence>,
}

impl Comparison {
    fn compare(&mut self, what: &str, recorded: Json, now: Json) {
        if self.found.is_none() && !identical(&recorded, &now) {
            self.found = Some(Divergence {
                step: self.step,
                what: what.into(),
                recorded,
                now,
            });
        }
    }

    fn outcomes(&mut self, recorded: &Outcome, now: &Outcome) {
        for (recorded, now) in parts(recorded).into_iter().zip(parts(now)) {
            self.compare(recorded.0, recorded.1, now.1);
        }
    }
}

fn parts(outcome: &Outcome) -> [(&'static str, Json); 5] {
    let (failure, messages, reward, done, truncated) = match outcome {
        Outcome::Observed {
            messages,
            reward,
            done,
            truncated,
        } => (
            Json::Null,
            said(messages),
            json!(*reward),
            json!(*done),
            json!(*truncated),
        ),
        Outcome::Failed { message } => (
            json!(message.clone()),
            Json::Null,
            Json::Null,
            Json::Null,
            Json::Null,
        ),
    };
    [
        ("failure", failure),
        ("messages", messages),
        ("reward", reward),
        ("done", done),
        ("truncated", truncated),
    ]
}

fn said(messages: &[AnyMessage]) -> Json {
    let mut messages = messages.to_vec();
    messages.iter_mut().for_each(forget_times);
    messages_to_json(&messages)
}

fn forget_times(message: &mut AnyMessage) {
    let body = match message {
        AnyMessage::Request(message) => &mut message.body,
        AnyMessage::Response(message) => &mut message.body,
        AnyMessage::Plain(message) => &mut message.body,
    };
    let timed = body.info.as_mut();
    let left = timed.map(|info: &mut Object| {
        info.retain(|key, _| !TIMES.contains(&key.as_ref()));
        info.len()
    });
    if left == Some(0) {
        body.info = None;
    }
}
