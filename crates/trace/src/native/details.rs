//! What is known of steps and episodes besides, in the native format: every member is left out where
//! nothing is known.
//!
//! In a step: `reasoning`, `model`, `usage`, `started`, `errors` of `{call, message}`. In an episode: `model`,
//! `environment`, `task`, `outcome`, `reward` (a number for the whole, null if unknown; absent where the
//! steps say it), `scores` of `{name, value, explanation, extras}`, `usage` of `{input, output, cached,
//! reasoning, cost}`, `started`, `seconds`, `errors`, `links` of `{relation, episode, step}`, `source` of
//! `{format, version, file}`, `raw`.

use volary_core::json::{Integer, Json, Object};
use volary_core::object;

use super::node::{Fault, Node};
use super::step::{task, task_to_json};
use crate::episode::{
    Episode, Link, Relation, Rewards, Score, Source, StepDetails, StepError, Usage,
};

/// The members of a step that are details.
pub(super) const OF_STEP: [&str; 5] = ["reasoning", "model", "usage", "started", "errors"];

/// The members of an episode that are details.
pub(super) const OF_EPISODE: [&str; 13] = [
    "model",
    "environment",
    "task",
    "outcome",
    "reward",
    "scores",
    "usage",
    "started",
    "seconds",
    "errors",
    "links",
    "source",
    "raw",
];

/// Puts the details of a step into its object.
pub(super) fn step_into(object: &mut Object, details: &StepDetails) {
    put(object, "reasoning", details.reasoning.clone());
    put(object, "model", details.model.clone());
    put(object, "usage", details.usage.as_ref().map(usage_to_json));
    put(object, "started", details.started);
    let errors = details.errors.iter().map(|error| {
        let mut object = Object::new();
        put(&mut object, "call", error.call.clone());
        object.insert("message", error.message.clone());
        Json::Object(object)
    });
    put_list(object, "errors", errors.collect());
}

/// Reads the details of a step.
pub(super) fn of_step(node: Node<'_>) -> Result<StepDetails, Fault> {
    let errors = node.optional("errors", |node| {
        node.each(|node| {
            Ok(StepError {
                call: node.optional("call", |node| node.text())?,
                message: node.member("message", |node| node.text())?,
            })
        })
    })?;
    Ok(StepDetails {
        reasoning: node.optional("reasoning", |node| node.text())?,
        model: node.optional("model", |node| node.text())?,
        usage: node.optional("usage", usage)?,
        started: node.optional("started", |node| node.number())?,
        errors: errors.unwrap_or_default(),
    })
}

/// Puts the details of an episode into its object.
pub(super) fn episode_into(object: &mut Object, episode: &Episode) {
    put(object, "model", episode.model.clone());
    put(object, "environment", episode.environment.clone());
    put(object, "task", episode.task.as_ref().map(task_to_json));
    put(object, "outcome", episode.outcome.clone());
    match episode.rewards {
        Rewards::Steps => {}
        Rewards::Whole(reward) => put(object, "reward", Some(reward)),
        Rewards::Unknown => put(object, "reward", Some(Json::Null)),
    }
    let scores = episode.scores.iter().map(score_to_json);
    put_list(object, "scores", scores.collect());
    let usage = episode.total_usage.as_ref();
    put(object, "usage", usage.map(usage_to_json));
    put(object, "started", episode.started);
    put(object, "seconds", episode.seconds);
    let errors = episode.errors.iter().cloned().map(Json::Text);
    put_list(object, "errors", errors.collect());
    let links = episode.links.iter().map(link_to_json);
    put_list(object, "links", links.collect());
    let source = episode.source.as_ref().map(|source| {
        let mut object = object!({ "format": (source.format.clone()) });
        put(&mut object, "version", source.version.clone());
        object.insert("file", source.file.clone());
        object
    });
    put(object, "source", source);
    put(object, "raw", some(&episode.raw));
}

/// Reads the details of an episode into it.
pub(super) fn of_episode(node: Node<'_>, episode: &mut Episode) -> Result<(), Fault> {
    let text = |key| node.optional(key, |node| node.text());
    episode.model = text("model")?;
    episode.environment = text("environment")?;
    episode.task = node.optional("task", task)?;
    episode.outcome = text("outcome")?;
    episode.rewards = match node.optional("reward", |node| node.number())? {
        Some(reward) => Rewards::Whole(reward),
        None if node.value().get("reward").is_some() => Rewards::Unknown,
        None => Rewards::Steps,
    };
    let scores = node.optional("scores", |node| node.each(score))?;
    episode.scores = scores.unwrap_or_default();
    episode.total_usage = node.optional("usage", usage)?;
    episode.started = node.optional("started", |node| node.number())?;
    episode.seconds = node.optional("seconds", |node| node.number())?;
    let errors = node.optional("errors", |node| node.each(|node| node.text()))?;
    episode.errors = errors.unwrap_or_default();
    let links = node.optional("links", |node| node.each(link))?;
    episode.links = links.unwrap_or_default();
    episode.source = node.optional("source", |node| {
        Ok(Source {
            format: node.member("format", |node| node.text())?,
            version: node.optional("version", |node| node.text())?,
            file: node
                .optional("file", |node| node.text())?
                .unwrap_or_default(),
        })
    })?;
    episode.raw = optional_object(node, "raw")?;
    Ok(())
}

fn usage_to_json(usage: &Usage) -> Json {
    let mut object = Object::new();
    let counts = [
        ("input", usage.input),
        ("output", usage.output),
        ("cached", usage.cached),
        ("reasoning", usage.reasoning),
    ];
    for (key, count) in counts {
        put(&mut object, key, count.map(count_to_json));
    }
    put(&mut object, "cost", usage.cost);
    object.into()
}

fn count_to_json(count: u64) -> Json {
    Integer::from_digits(&count.to_string()).map_or(Json::Null, Json::Integer)
}

fn usage(node: Node<'_>) -> Result<Usage, Fault> {
    let count = |key| node.optional(key, large_count);
    Ok(Usage {
        input: count("input")?,
        output: count("output")?,
        cached: count("cached")?,
        reasoning: count("reasoning")?,
        cost: node.optional("cost", |node| node.number())?,
    })
}

fn large_count(node: Node<'_>) -> Result<u64, Fault> {
    let count = match node.value() {
        Json::Integer(count) => count.to_string().parse().ok(),
        _ => None,
    };
    count.ok_or_else(|| node.refuse("must be a whole number, not negative"))
}

fn score_to_json(score: &Score) -> Json {
    let mut object = object!({
        "name": (score.name.clone()),
        "value": (score.value.clone())
    });
    put(&mut object, "explanation", score.explanation.clone());
    put(&mut object, "extras", some(&score.extras));
    object.into()
}

fn score(node: Node<'_>) -> Result<Score, Fault> {
    Ok(Score {
        name: node.member("name", |node| node.text())?,
        value: node.value().get("value").cloned().unwrap_or_default(),
        explanation: node.optional("explanation", |node| node.text())?,
        extras: optional_object(node, "extras")?,
    })
}

fn link_to_json(link: &Link) -> Json {
    let mut object = object!({
        "relation": (link.relation.as_str()),
        "episode": (link.episode.clone())
    });
    put(
        &mut object,
        "step",
        link.step.map(|step| count_to_json(step as u64)),
    );
    object.into()
}

fn link(node: Node<'_>) -> Result<Link, Fault> {
    Ok(Link {
        relation: node.member("relation", |node| {
            let name = node.text()?;
            let found = Relation::ALL.into_iter().find(|one| one.as_str() == &*name);
            found.ok_or_else(|| {
                let known = Relation::ALL.map(Relation::as_str).join(", ");
                node.refuse(format!("is \"{name}\", which is none of {known}"))
            })
        })?,
        episode: node.member("episode", |node| node.text())?,
        step: node.optional("step", |node| node.count())?,
    })
}

fn put(object: &mut Object, key: &'static str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        object.insert(key, value);
    }
}

fn put_list(object: &mut Object, key: &'static str, list: Vec<Json>) {
    if !list.is_empty() {
        object.insert(key, list);
    }
}

fn some(object: &Object) -> Option<Object> {
    (!object.is_empty()).then(|| object.clone())
}

fn optional_object(node: Node<'_>, key: &'static str) -> Result<Object, Fault> {
    let object = node.optional(key, |node| Ok(node.object()?.clone()))?;
    Ok(object.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn the_reward_tells_three_cases_apart() {
        let read = |text: &str| {
            let value = Json::parse(text).unwrap_or_default();
            let mut episode = Episode::default();
            of_episode(Node::root(&value), &mut episode).map(|()| episode.rewards)
        };
        assert_eq!(read("{}"), Ok(Rewards::Steps));
        assert_eq!(read(r#"{"reward": null}"#), Ok(Rewards::Unknown));
        assert_eq!(read(r#"{"reward": 1}"#), Ok(Rewards::Whole(1.0)));
        assert!(read(r#"{"reward": "much"}"#).is_err());
    }

    #[test]
    fn an_unknown_relation_is_refused_with_those_that_are_known() {
        let value = json!({ "relation": "sister", "episode": "x" });
        let refused = link(Node::root(&value)).map_err(|fault| fault.reason);
        let expected =
            "is \"sister\", which is none of parent, subagent, predecessor, continuation, branch";
        assert_eq!(refused, Err(expected.to_owned()));
    }
}
