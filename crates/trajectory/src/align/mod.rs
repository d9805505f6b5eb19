//! Two episodes side by side: which steps belong together, where they first part, and what differs.
//!
//! Steps are paired by what was done, best reasons first: the same action and outcome, the same
//! action, the same tools, and at last by place. Each reason only works within the gaps that better ones
//! left, so rows never cross. See [`sequence`] for the method, and [`lines`] for two texts. [`grid`]: more than two
//! episodes.
//!
//! Times, ids of calls and usage are not compared: they differ from run to run.

pub mod grid;
pub mod lines;
pub mod sequence;

use std::collections::HashMap;
use std::hash::Hash;

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Frame};

use crate::diff::{Difference, differences};
use crate::episode::{Episode, Outcome, StepRecord};
use sequence::{Pair, align};

/// Two episodes, aligned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    /// The steps in order; every step of either episode is in exactly one row.
    pub rows: Vec<Row>,
    /// Whether both start alike.
    pub start: Likeness,
    /// Where they first part: 0 is the start, else the row before which all rows are the same, plus
    /// one. `None` if they never do.
    pub first_divergence: Option<usize>,
}

/// Steps that belong together, by place; one of them may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The step of the one episode, from 0.
    pub left: Option<usize>,
    /// The step of the other.
    pub right: Option<usize>,
    /// What is the same in both; nothing if one is missing.
    pub likeness: Likeness,
}

/// What is the same in two steps (or two starts, of which only the messages count).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Likeness {
    /// What was done: text and calls.
    pub action: bool,
    /// What was observed, or how it failed.
    pub observations: bool,
    /// Reward, done and truncated.
    pub reward: bool,
}

impl Likeness {
    /// Nothing differs.
    pub const FULL: Likeness = Likeness {
        action: true,
        observations: true,
        reward: true,
    };
}

/// Aligns two episodes.
pub fn align_episodes(left: &Episode, right: &Episode) -> Alignment {
    let mut keys = Keys::default();
    let one: Vec<StepKeys> = left.steps.iter().map(|step| keys.of(step)).collect();
    let other: Vec<StepKeys> = right.steps.iter().map(|step| keys.of(step)).collect();
    let reasons = |keys: &[StepKeys]| keys.iter().map(StepKeys::reasons).collect::<Vec<_>>();
    let pairs = align(&reasons(&one), &reasons(&other));
    let row = |pair: Pair| Row {
        left: pair.left,
        right: pair.right,
        likeness: match (pair.left, pair.right) {
            (Some(left), Some(right)) => one[left].likeness(&other[right]),
            _ => Likeness::default(),
        },
    };
    let rows: Vec<Row> = pairs.into_iter().map(row).collect();
    let start = match said(&left.start) == said(&right.start) {
        true => Likeness::FULL,
        false => Likeness::default(),
    };
    let apart = rows.iter().position(|row| row.likeness != Likeness::FULL);
    let first_divergence = match start {
        Likeness::FULL => apart.map(|row| row + 1),
        _ => Some(0),
    };
    Alignment {
        rows,
        start,
        first_divergence,
    }
}

/// How many steps all the episodes begin with alike (by action): where the branches of one task part.
pub fn common_steps(episodes: &[&Episode]) -> usize {
    let Some((first, others)) = episodes.split_first() else {
        return 0;
    };
    let mut keys = Keys::default();
    let mut alike = |place: usize| {
        let Some(step) = first.steps.get(place) else {
            return false;
        };
        let key = keys.of(step).action;
        others.iter().all(|other| {
            other
                .steps
                .get(place)
                .is_some_and(|step| keys.of(step).action == key)
        })
    };
    (0..first.steps.len())
        .take_while(|place| alike(*place))
        .count()
}

/// What differs between the frames after two steps (0 is after the start): in the state, then in the
/// info; at most `limit` of each.
pub fn frame_differences(
    (left, after_left): (&Episode, usize),
    (right, after_right): (&Episode, usize),
    limit: usize,
) -> Option<(Vec<Difference>, Vec<Difference>)> {
    let one: Frame = left.frames.get(after_left)?;
    let other: Frame = right.frames.get(after_right)?;
    let state = differences(&one.state, &other.state, limit);
    Some((state, differences(&one.info, &other.info, limit)))
}

/// Equal things have equal numbers, so that comparing them later costs nothing.
#[derive(Default)]
struct Keys {
    numbers: HashMap<Key, u32>,
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Said(String),
    Ending(u64, bool, bool),
    Tools(Vec<Text>),
    Step(u32, u32, u32),
}

/// A step in numbers.
#[derive(Clone, Copy)]
struct StepKeys {
    /// All of the below.
    step: u32,
    action: u32,
    observations: u32,
    ending: u32,
    /// Only the names of the tools that are called.
    tools: u32,
}

impl StepKeys {
    fn reasons(&self) -> [u32; 3] {
        [self.step, self.action, self.tools]
    }

    fn likeness(&self, other: &StepKeys) -> Likeness {
        Likeness {
            action: self.action == other.action,
            observations: self.observations == other.observations,
            reward: self.ending == other.ending,
        }
    }
}

impl Keys {
    fn of(&mut self, step: &StepRecord) -> StepKeys {
        let observed = match &step.outcome {
            Outcome::Observed { messages, .. } => said(messages),
            Outcome::Failed { message } => format!("failed: {message}"),
        };
        let ending = match step.outcome {
            Outcome::Observed {
                reward,
                done,
                truncated,
                ..
            } => {
                // Both zeros are the same reward.
                Key::Ending((reward + 0.0).to_bits(), done, truncated)
            }
            Outcome::Failed { .. } => Key::Ending(0, false, false),
        };
        let tools = match &step.action {
            AnyMessage::Request(request) => {
                let calls = request.tool_calls.iter();
                calls.map(|call| call.function.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let action = self.number(Key::Said(said(std::slice::from_ref(&step.action))));
        let observations = self.number(Key::Said(observed));
        let ending = self.number(ending);
        StepKeys {
            step: self.number(Key::Step(action, observations, ending)),
            action,
            observations,
            ending,
            tools: self.number(Key::Tools(tools)),
        }
    }

    fn number(&mut self, key: Key) -> u32 {
        // As many different things as there are steps, four times: far below 2^32.
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next)
    }
}

/// What messages say, as text, without ids and infos. Objects say the same in any order.
fn said(messages: &[AnyMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        text.push_str(message.role().as_str());
        text.push(' ');
        Json::from(message.body().content_or_empty()).write_compact_text(&mut text);
        if let AnyMessage::Request(request) = message {
            for call in &request.tool_calls {
                text.push_str(&call.function.name);
                Json::Object(ordered(&call.function.arguments)).write_compact_text(&mut text);
            }
        }
        text.push('\n');
    }
    text
}

fn ordered(object: &Object) -> Object {
    let mut pairs: Vec<_> = object
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    pairs.sort_by(|one, other| one.0.cmp(&other.0));
    Object::from_distinct(pairs)
}
