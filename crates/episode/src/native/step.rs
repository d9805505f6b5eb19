//! Recipes, steps, frames and endings in the native format.

use volary_core::Frame;
use volary_core::json::Json;
use volary_core::json::value_writer::{ValueWriter, tree};

use super::NativeError;
use super::details;
use super::message::{message, put_message};
use super::node::{Fault, Node};
use crate::episode::{Ending, Outcome, Recipe, StepRecord, TaskReference};

/// Exclusive upper bound of seeds, so that readers with only floats preserve them.
pub const SEED_LIMIT: u64 = 1 << 53;

/// Serializes a recipe.
pub fn recipe_to_json(recipe: &Recipe) -> Json {
    tree(|writer| put_recipe(writer, recipe))
}

pub(super) fn put_recipe(writer: ValueWriter<'_>, recipe: &Recipe) {
    writer.object(|members| {
        members.at("environment").text(&recipe.environment);
        members.at("configuration").members(&recipe.configuration);
        members.at("seed").integer(i128::from(recipe.seed));
        if let Some(task) = &recipe.task {
            put_task(members.at("task"), task);
        }
    });
}

pub(super) fn put_task(writer: ValueWriter<'_>, task: &TaskReference) {
    writer.object(|members| {
        members.at("dataset").text(&task.dataset);
        members.at("id").text(&task.id);
    });
}

/// Deserializes a recipe.
pub fn recipe_from_json(value: &Json) -> Result<Recipe, NativeError> {
    Ok(recipe(Node::root(value))?)
}

/// Serializes a step: `{action, observation, reward, done, truncated}` or `{action, failure}`, with `seconds`, `extras`
/// and its details if they are known.
pub fn step_to_json(step: &StepRecord) -> Json {
    tree(|writer| put_step(writer, step))
}

pub(super) fn put_step(writer: ValueWriter<'_>, step: &StepRecord) {
    writer.object(|members| {
        put_message(members.at("action"), &step.action);
        match &step.outcome {
            Outcome::Observed {
                messages,
                reward,
                done,
                truncated,
            } => {
                members.at("observation").list(messages, put_message);
                members.at("reward").float(*reward);
                members.at("done").flag(*done);
                members.at("truncated").flag(*truncated);
            }
            Outcome::Failed { message } => members.at("failure").text(message),
        }
        if let Some(seconds) = step.seconds {
            members.at("seconds").float(seconds);
        }
        details::put_of_step(members, &step.details);
        if !step.extras.is_empty() {
            members.at("extras").members(&step.extras);
        }
    });
}

/// Deserializes a step.
pub fn step_from_json(value: &Json) -> Result<StepRecord, NativeError> {
    Ok(step(Node::root(value))?)
}

/// Serializes a frame: `{deepcopy, state, info}`.
pub fn frame_to_json(frame: &Frame) -> Json {
    frame.dump().into()
}

/// Deserializes a frame.
pub fn frame_from_json(value: &Json) -> Result<Frame, NativeError> {
    let node = Node::root(value);
    let part = |key| node.value().get(key).cloned().unwrap_or_default();
    Ok(Frame {
        deepcopy: node
            .optional("deepcopy", |node| node.boolean())?
            .unwrap_or(true),
        state: part("state"),
        info: part("info"),
    })
}

pub(super) fn recipe(node: Node<'_>) -> Result<Recipe, Fault> {
    let configuration = node.optional("configuration", |node| Ok(node.object()?.clone()))?;
    Ok(Recipe {
        environment: node.member("environment", |node| node.text())?,
        configuration: configuration.unwrap_or_default(),
        seed: node.optional("seed", seed)?.unwrap_or_default(),
        task: node.optional("task", task)?,
    })
}

pub(super) fn task(node: Node<'_>) -> Result<TaskReference, Fault> {
    Ok(TaskReference {
        dataset: node.member("dataset", |node| node.text())?,
        id: node.member("id", |node| node.text())?,
    })
}

fn seed(node: Node<'_>) -> Result<u64, Fault> {
    let seed = node.value().as_i64();
    let seed = seed.and_then(|seed| u64::try_from(seed).ok());
    seed.filter(|seed| *seed < SEED_LIMIT)
        .ok_or_else(|| node.refuse("must be a whole number from 0 to 2^53 - 1"))
}

pub(super) fn step(node: Node<'_>) -> Result<StepRecord, Fault> {
    const KNOWN: [&str; 8] = [
        "action",
        "observation",
        "reward",
        "done",
        "truncated",
        "failure",
        "seconds",
        "extras",
    ];
    let outcome = match node.optional("failure", |node| node.text())? {
        Some(message) => Outcome::Failed { message },
        None => Outcome::Observed {
            messages: node.member("observation", |node| node.each(message))?,
            reward: node
                .optional("reward", |node| node.number())?
                .unwrap_or(0.0),
            done: node
                .optional("done", |node| node.boolean())?
                .unwrap_or(false),
            truncated: node
                .optional("truncated", |node| node.boolean())?
                .unwrap_or(false),
        },
    };
    let extras = node.optional("extras", |node| Ok(node.object()?.clone()))?;
    let mut extras = extras.unwrap_or_default();
    let mut unknown = node.unknown(&KNOWN)?;
    unknown.retain(|(key, _)| !details::OF_STEP.contains(&key.as_ref()));
    super::keep(&mut extras, unknown);
    Ok(StepRecord {
        action: node.member("action", message)?,
        outcome,
        seconds: node.optional("seconds", |node| node.number())?,
        details: details::of_step(node)?,
        extras,
    })
}

pub(super) fn put_ending(writer: ValueWriter<'_>, ending: &Ending) {
    let (kind, text) = match ending {
        Ending::Open => return writer.word("open"),
        Ending::Done => return writer.word("done"),
        Ending::Truncated { reason } => ("truncated", reason),
        Ending::Crashed { message } => ("crashed", message),
    };
    writer.object(|members| members.at(kind).text(text));
}

pub(super) fn ending(node: Node<'_>) -> Result<Ending, Fault> {
    match node.value() {
        Json::Text(word) if &**word == "open" => Ok(Ending::Open),
        Json::Text(word) if &**word == "done" => Ok(Ending::Done),
        Json::Object(object) if object.contains_key("truncated") => Ok(Ending::Truncated {
            reason: node.member("truncated", |node| node.text())?,
        }),
        Json::Object(object) if object.contains_key("crashed") => Ok(Ending::Crashed {
            message: node.member("crashed", |node| node.text())?,
        }),
        _ => Err(node.refuse(
            "must be \"open\", \"done\", {\"truncated\": reason} or {\"crashed\": message}",
        )),
    }
}
