//! Checks that a recording is reproducible: runs the recorded actions again and reports the first difference.
//!
//! Times differ from run to run, so the times in infos are not compared.

use std::rc::Rc;

use volary_core::json::{Json, Object, Text};
use volary_core::outside::{Closed, Outside};
use volary_core::registry::Registry;
use volary_core::{AnyMessage, Clock, json};
use volary_episode::diff::identical;
use volary_episode::native::{frame_to_json, messages_to_json, tools_to_json};
use volary_episode::{Episode, Outcome};

use crate::runner::{Runner, RunnerError};

/// The members of infos that hold times.
const TIMES: [&str; 2] = ["start_ts", "end_ts"];

/// The maximum length of a displayed value, in characters.
const SHOWN: usize = 120;

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// Every step reproduces the recorded result.
    Same {
        /// The number of steps run.
        steps: usize,
    },
    /// A result differs.
    Differs(Divergence),
    /// The episode has no recipe for its environment.
    NoRecipe,
}

/// The first difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The step: 0 is the reset, `i` is step `i`.
    pub step: usize,
    /// Path of the innermost value that differs. It begins with "tools", "messages", "reward", "done", "truncated",
    /// "failure" or "frame".
    pub what: Text,
    /// The recorded value.
    pub recorded: Json,
    /// The value of this run.
    pub now: Json,
}

impl Divergence {
    /// A description for people, with shortened values.
    pub fn description(&self) -> String {
        let (recorded, now) = (short(&self.recorded), short(&self.now));
        format!("{} was {recorded} and is now {now}.", self.what)
    }
}

/// Runs the actions of an episode again and compares all results.
pub async fn check(
    registry: &Registry,
    episode: &Episode,
    clock: Rc<dyn Clock>,
) -> Result<Check, RunnerError> {
    check_with(registry, episode, clock, Rc::new(Closed)).await
}

/// Like [`check`], for environments that need resources from outside.
pub async fn check_with(
    registry: &Registry,
    episode: &Episode,
    clock: Rc<dyn Clock>,
    outside: Rc<dyn Outside>,
) -> Result<Check, RunnerError> {
    let Some(recipe) = &episode.recipe else {
        return Ok(Check::NoRecipe);
    };
    let (mut runner, opening) = Runner::open_with(registry, recipe, clock, outside).await?;
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

/// Compares a recorded episode with a second run of its actions, step by step up to the end of the shorter one. `None`
/// if those steps are equal.
pub fn compare(recorded: &Episode, again: &Episode) -> Option<Divergence> {
    let mut comparison = Comparison::default();
    comparison.compare(
        "tools",
        tools_to_json(&recorded.tools),
        tools_to_json(&again.tools),
    );
    comparison.compare("messages", said(&recorded.start), said(&again.start));
    let (mut frames, mut new_frames) = (recorded.frames.cursor(), again.frames.cursor());
    let mut steps = recorded.steps.iter().zip(&again.steps);
    loop {
        if let (Some(frame), Some(new)) = (frames.advance(), new_frames.advance()) {
            comparison.compare("frame", frame_to_json(frame), frame_to_json(new));
        }
        if comparison.found.is_some() {
            return comparison.found;
        }
        let (step, new) = steps.next()?;
        comparison.step += 1;
        comparison.outcomes(&step.outcome, &new.outcome);
    }
}

/// The innermost values that differ, and their path. Objects and lists whose members differ in name, number or order
/// are reported as a whole.
fn innermost<'j>(recorded: &'j Json, now: &'j Json) -> (String, &'j Json, &'j Json) {
    let inner = match (recorded, now) {
        (Json::Object(recorded), Json::Object(now)) if recorded.keys().eq(now.keys()) => {
            let pairs = recorded.iter().zip(now.iter());
            pairs
                .map(|((key, recorded), (_, now))| (format!(".{key}"), recorded, now))
                .find(|(_, recorded, now)| !identical(recorded, now))
        }
        (Json::List(recorded), Json::List(now)) if recorded.len() == now.len() => {
            let pairs = recorded.iter().zip(now.iter()).enumerate();
            pairs
                .map(|(index, (recorded, now))| (format!("[{index}]"), recorded, now))
                .find(|(_, recorded, now)| !identical(recorded, now))
        }
        _ => None,
    };
    match inner {
        None => (String::new(), recorded, now),
        Some((name, recorded, now)) => {
            let (path, recorded, now) = innermost(recorded, now);
            (format!("{name}{path}"), recorded, now)
        }
    }
}

/// A value, shortened.
fn short(value: &Json) -> String {
    let text = value.to_python_text();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[derive(Default)]
struct Comparison {
    step: usize,
    found: Option<Divergence>,
}

impl Comparison {
    fn compare(&mut self, what: &str, recorded: Json, now: Json) {
        if self.found.is_none() && !identical(&recorded, &now) {
            let (path, recorded, now) = innermost(&recorded, &now);
            self.found = Some(Divergence {
                step: self.step,
                what: format!("{what}{path}").into(),
                recorded: recorded.clone(),
                now: now.clone(),
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

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn the_innermost_difference_is_named() {
        let difference = |recorded: Json, now: Json| {
            let (path, recorded, now) = innermost(&recorded, &now);
            format!(
                "{path}: {} {}",
                recorded.to_python_text(),
                now.to_python_text()
            )
        };
        assert_eq!(
            difference(json!({"a": [1, {"b": 2}]}), json!({"a": [1, {"b": 3}]})),
            ".a[1].b: 2 3"
        );
        assert_eq!(difference(json!(1), json!(1.0)), ": 1 1.0");
        assert_eq!(
            difference(json!({"a": [1]}), json!({"a": [1, 2]})),
            ".a: [1] [1, 2]"
        );
        assert_eq!(
            difference(json!({"a": 1}), json!({"b": 1})),
            ": {\"a\": 1} {\"b\": 1}"
        );
    }
}
