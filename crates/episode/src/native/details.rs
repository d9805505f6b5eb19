//! Metadata of steps and episodes in the native format: unknown values are omitted.
//!
//! In a step: `reasoning`, `model`, `usage`, `started`, `errors` of `{call, message}`. In an episode: `model`,
//! `environment`, `task`, `outcome`, `reward` (a number for the whole episode, null if unknown; absent if the steps
//! have rewards), `scores` of `{name, value, explanation, extras}`, `usage` of `{input, output, cached, reasoning,
//! cost}`, `started`, `seconds`, `errors`, `links` of `{relation, episode, step}`, `source` of `{format, version,
//! file}`, `tokens` (see `tokens`), `raw`.

use std::sync::Arc;

use volary_core::json::value_writer::{Members, ValueWriter};
use volary_core::json::{Json, Object, Text};

use super::node::{Fault, Node};
use super::step::{put_task, task};
use super::tokens;
use crate::episode::{
    Episode, Link, Relation, Rewards, Score, Source, StepDetails, StepError, Usage,
};

/// The members of a step's details.
pub(super) const OF_STEP: [&str; 5] = ["reasoning", "model", "usage", "started", "errors"];

/// The members of an episode's details.
pub(super) const OF_EPISODE: [&str; 14] = [
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
    "tokens",
    "raw",
];

/// Writes the details of a step into its members.
pub(super) fn put_of_step(members: &mut Members<'_>, details: &StepDetails) {
    text(members, "reasoning", &details.reasoning);
    text(members, "model", &details.model);
    if let Some(usage) = &details.usage {
        put_usage(members.at("usage"), usage);
    }
    float(members, "started", details.started);
    list(members, "errors", &details.errors, |writer, error| {
        writer.object(|members| {
            text(members, "call", &error.call);
            members.at("message").text(&error.message);
        });
    });
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

/// Writes the details of an episode into its members.
pub(super) fn put_of_episode(members: &mut Members<'_>, episode: &Episode) {
    text(members, "model", &episode.model);
    text(members, "environment", &episode.environment);
    if let Some(task) = &episode.task {
        put_task(members.at("task"), task);
    }
    text(members, "outcome", &episode.outcome);
    match episode.rewards {
        Rewards::Steps => {}
        Rewards::Whole(reward) => members.at("reward").float(reward),
        Rewards::Unknown => members.at("reward").json(&Json::Null),
    }
    list(members, "scores", &episode.scores, put_score);
    if let Some(usage) = &episode.total_usage {
        put_usage(members.at("usage"), usage);
    }
    float(members, "started", episode.started);
    float(members, "seconds", episode.seconds);
    list(members, "errors", &episode.errors, |writer, text| {
        writer.text(text);
    });
    list(members, "links", &episode.links, put_link);
    if let Some(source) = &episode.source {
        members.at("source").object(|members| {
            members.at("format").text(&source.format);
            text(members, "version", &source.version);
            members.at("file").text(&source.file);
        });
    }
    if let Some(record) = &episode.tokens {
        tokens::put(members.at("tokens"), record);
    }
    object(members, "raw", &episode.raw);
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
    let record = node.optional("tokens", tokens::read)?;
    episode.tokens = record.map(Arc::new);
    episode.raw = optional_object(node, "raw")?;
    Ok(())
}

fn put_usage(writer: ValueWriter<'_>, usage: &Usage) {
    writer.object(|members| {
        let counts = [
            ("input", usage.input),
            ("output", usage.output),
            ("cached", usage.cached),
            ("reasoning", usage.reasoning),
        ];
        for (key, count) in counts {
            if let Some(count) = count {
                members.at(key).integer(i128::from(count));
            }
        }
        float(members, "cost", usage.cost);
    });
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

fn put_score(writer: ValueWriter<'_>, score: &Score) {
    writer.object(|members| {
        members.at("name").text(&score.name);
        members.at("value").json(&score.value);
        text(members, "explanation", &score.explanation);
        object(members, "extras", &score.extras);
    });
}

fn score(node: Node<'_>) -> Result<Score, Fault> {
    Ok(Score {
        name: node.member("name", |node| node.text())?,
        value: node.value().get("value").cloned().unwrap_or_default(),
        explanation: node.optional("explanation", |node| node.text())?,
        extras: optional_object(node, "extras")?,
    })
}

fn put_link(writer: ValueWriter<'_>, link: &Link) {
    writer.object(|members| {
        members.at("relation").word(link.relation.as_str());
        members.at("episode").text(&link.episode);
        if let Some(step) = link.step {
            members.at("step").integer(step as i128);
        }
    });
}

fn link(node: Node<'_>) -> Result<Link, Fault> {
    Ok(Link {
        relation: node.member("relation", |node| {
            let name = node.text()?;
            let found = Relation::ALL.into_iter().find(|one| one.as_str() == &*name);
            found.ok_or_else(|| {
                let known = Relation::ALL.map(Relation::as_str).join(", ");
                node.refuse(format!("is \"{name}\", which is not one of {known}"))
            })
        })?,
        episode: node.member("episode", |node| node.text())?,
        step: node.optional("step", |node| node.count())?,
    })
}

fn text(members: &mut Members<'_>, key: &'static str, text: &Option<Text>) {
    if let Some(text) = text {
        members.at(key).text(text);
    }
}

fn float(members: &mut Members<'_>, key: &'static str, float: Option<f64>) {
    if let Some(float) = float {
        members.at(key).float(float);
    }
}

fn list<'a, T>(
    members: &mut Members<'_>,
    key: &'static str,
    list: &'a [T],
    put: impl Fn(ValueWriter<'_>, &'a T),
) {
    if !list.is_empty() {
        members.at(key).list(list, put);
    }
}

fn object(members: &mut Members<'_>, key: &'static str, object: &Object) {
    if !object.is_empty() {
        members.at(key).members(object);
    }
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
        let expected = "is \"sister\", which is not one of parent, subagent, predecessor, continuation, branch";
        assert_eq!(refused, Err(expected.to_owned()));
    }
}
