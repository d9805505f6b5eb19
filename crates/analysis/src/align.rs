//! Aligns two episodes: which steps match, where the episodes first diverge, and what differs.
//!
//! Steps are paired by decreasing similarity: same action and outcome, same action, same tools, and finally by
//! position. Each criterion only pairs steps within the gaps that stronger criteria left, so rows never cross. See
//! [`sequence`] for the algorithm, [`lines`] for two texts and [`similar`] for their lines, and [`grid`] for more than two episodes.
//!
//! Times, ids of calls and usage are not compared: they differ from run to run.

pub mod grid;
pub mod lines;
pub mod sequence;
pub mod similar;

use std::collections::HashMap;
use std::hash::Hash;

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Frame};
use volary_episode::diff::{Difference, differences};
use volary_episode::episode::{Episode, Outcome, StepRecord};

use sequence::{Pair, align};

/// The alignment of two episodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    /// The steps in order; every step of either episode is in exactly one row.
    pub rows: Vec<AlignedRow>,
    /// The equality of the starts.
    pub start: Likeness,
    /// The first divergence: 0 is the start, otherwise one more than the index of the first row that differs. `None` if
    /// no row differs.
    pub first_divergence: Option<usize>,
}

/// Two matching steps, or a step without a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignedRow {
    /// The step of the left episode, from 0; `None` if it has no match.
    pub left: Option<usize>,
    /// The step of the right episode, from 0; `None` if it has no match.
    pub right: Option<usize>,
    /// The equal parts of both steps; none if one is missing.
    pub likeness: Likeness,
}

/// Which parts of two steps are equal. For two starts, only the messages count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Likeness {
    /// The action: text and calls.
    pub action: bool,
    /// The observations, or the failure.
    pub observations: bool,
    /// Reward, `done` and `truncated`.
    pub reward: bool,
}

impl Likeness {
    /// Everything is equal.
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
    let row = |pair: Pair| AlignedRow {
        left: pair.left,
        right: pair.right,
        likeness: match (pair.left, pair.right) {
            (Some(left), Some(right)) => one[left].likeness(&other[right]),
            _ => Likeness::default(),
        },
    };
    let rows: Vec<AlignedRow> = pairs.into_iter().map(row).collect();
    let start = if said(&left.start) == said(&right.start) {
        Likeness::FULL
    } else {
        Likeness::default()
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

/// The number of initial steps with the same actions in all episodes: where the branches of one task diverge.
pub fn common_steps(episodes: &[&Episode]) -> usize {
    let Some((first, others)) = episodes.split_first() else {
        return 0;
    };
    let mut keys = Keys::default();
    let mut alike = |index: usize| {
        let Some(step) = first.steps.get(index) else {
            return false;
        };
        let key = keys.of(step).action;
        others.iter().all(|other| {
            other
                .steps
                .get(index)
                .is_some_and(|step| keys.of(step).action == key)
        })
    };
    (0..first.steps.len())
        .take_while(|index| alike(*index))
        .count()
}

/// The differences between the frames after two steps (0: after the start): in the state, then in the info; at most
/// `limit` of each.
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

/// Interns values as numbers, so that later comparisons are cheap: equal values have equal numbers.
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

/// The interned parts of a step.
#[derive(Clone, Copy)]
struct StepKeys {
    /// All the parts below.
    step: u32,
    action: u32,
    observations: u32,
    ending: u32,
    /// The names of the called tools only.
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
                // Maps both zeros to the same reward.
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
        // At most four values for each step: far below 2^32.
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next)
    }
}

/// The contents of messages as text, without ids and infos. Object keys are sorted.
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
