//! Recipes, steps, frames and endings in the native format.

use volary_core::json::{Integer, Json};
use volary_core::{Frame, json, object};

use super::NativeError;
use super::details;
use super::message::{message, message_to_json, messages_to_json};
use super::node::{Fault, Node};
use crate::episode::{Ending, Outcome, Recipe, StepRecord, TaskReference};

/// Seeds stay below this, so that readers that have only floats keep them.
pub const SEED_LIMIT: u64 = 1 << 53;

/// A recipe in the native format.
pub fn recipe_to_json(recipe: &Recipe) -> Json {
    let seed = Integer::from(i128::from(recipe.seed));
    let mut object = object!({
        "environment": (recipe.environment.clone()),
        "configuration": (recipe.configuration.clone()),
        "seed": (Json::Integer(seed))
    });
    if let Some(task) = &recipe.task {
        object.insert("task", task_to_json(task));
    }
    object.into()
}

pub(super) fn task_to_json(task: &TaskReference) -> Json {
    json!({ "dataset": (task.dataset.clone()), "id": (task.id.clone()) })
}

/// Reads a recipe.
pub fn recipe_from_json(value: &Json) -> Result<Recipe, NativeError> {
    Ok(recipe(Node::root(value))?)
}

/// A step in the native format: `{action, observation, reward, done, truncated}` or
/// `{action, failure}`, with `seconds`, `extras` and its details where known.
pub fn step_to_json(step: &StepRecord) -> Json {
    let mut object = object!({ "action": (message_to_json(&step.action)) });
    match &step.outcome {
        Outcome::Observed {
            messages,
            reward,
            done,
            truncated,
        } => {
            object.insert("observation", messages_to_json(messages));
            object.insert("reward", *reward);
            object.insert("done", *done);
            object.insert("truncated", *truncated);
        }
        Outcome::Failed { message } => {
            object.insert("failure", message.clone());
        }
    }
    if let Some(seconds) = step.seconds {
        object.insert("seconds", seconds);
    }
    details::step_into(&mut object, &step.details);
    if !step.extras.is_empty() {
        object.insert("extras", step.extras.clone());
    }
    object.into()
}

/// Reads a step.
pub fn step_from_json(value: &Json) -> Result<StepRecord, NativeError> {
    Ok(step(Node::root(value))?)
}

/// A frame in the native format: `{deepcopy, state, info}`.
pub fn frame_to_json(frame: &Frame) -> Json {
    frame.dump().into()
}

/// Reads a frame.
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

pub(super) fn ending_to_json(ending: &Ending) -> Json {
    match ending {
        Ending::Open => json!("open"),
        Ending::Done => json!("done"),
        Ending::Truncated { reason } => json!({ "truncated": (reason.clone()) }),
        Ending::Crashed { message } => json!({ "crashed": (message.clone()) }),
    }
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
