//! Reads the steps of a trajectory.

use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{AnyMessage, Message, Role, ToolRequestMessage, ToolResponseMessage, object};
use volary_episode::episode::{
    Ending, Episode, Outcome, Relation, Rewards, StepDetails, StepError, Usage,
};
use volary_episode::time;

use super::{link, take_text};
use crate::import::chat;
use crate::import::members::{self, Members, at, id, text_at};
use crate::import::transcript::{ImportedMessage, Transcript};

/// The state while a trajectory is read.
#[derive(Default)]
pub(super) struct Reading {
    transcript: Transcript,
    has_rewards: bool,
    last_time: Option<f64>,
}

impl Reading {
    pub fn step(&mut self, mut step: Object, episode: &mut Episode) {
        let source = take_text(&mut step, "source").unwrap_or_default();
        let role = match chat::role_of(&source) {
            Some(role @ (Role::Assistant | Role::System)) => role,
            _ => Role::User,
        };
        let body = chat::body(step.remove("message").unwrap_or_default());
        let started = step.take_time("timestamp");
        let observation = step.remove("observation");
        step.remove("step_id");
        if role == Role::Assistant {
            self.action(step, body, started);
        } else {
            step.retain(|_, value| !value.is_null());
            let message = Message { role, body };
            let message = chat::with_info(message.into(), step);
            self.transcript.push(message.into());
        }
        if started.is_some() {
            episode.started = episode.started.or(started);
            self.last_time = started;
        }
        let mut observation = match observation {
            Some(Json::Object(observation)) => observation,
            None | Some(Json::Null) => return,
            // The specification requires an object; some writers put its contents there instead.
            Some(results @ Json::List(_)) => object!({ "results": results }),
            Some(content) => object!({ "results": [{ "content": content }] }),
        };
        let results = observation.remove("results").map(|results| match results {
            results @ Json::List(_) => results,
            Json::Null => Json::Null,
            only => Json::List(vec![only]),
        });
        let results = results.as_ref().and_then(Json::as_list).unwrap_or_default();
        // Writers omit the call where there is no other one.
        let only = self.only_call().filter(|_| results.len() == 1);
        for result in results {
            self.result(result, only.clone(), episode);
        }
        if let Some(last) = self.transcript.last_mut()
            && !observation.is_empty()
        {
            last.extras.insert("observation", observation);
        }
    }

    fn action(&mut self, mut step: Object, body: Body, started: Option<f64>) {
        // ATIF records no end of a step: the start of the next one is its end.
        if let (Some(last), Some(now)) = (self.transcript.last_mut(), started)
            && last.seconds.is_none()
            && let Some(before) = last.details.started.filter(|before| now >= *before)
        {
            last.seconds = Some(time::between(before, now));
        }
        let calls = match step.remove("tool_calls") {
            Some(Json::List(calls)) => calls.iter().map(chat::call).collect(),
            Some(call @ Json::Object(_)) => vec![chat::call(&call)],
            None | Some(Json::Null) => Vec::new(),
            Some(other) => {
                step.insert("tool_calls", other);
                Vec::new()
            }
        };
        let message = if calls.is_empty() {
            AnyMessage::Plain(Message {
                role: Role::Assistant,
                body,
            })
        } else {
            AnyMessage::Request(ToolRequestMessage {
                body,
                tool_calls: calls,
            })
        };
        let usage = step.get("metrics").and_then(usage);
        if let Some(Json::Object(metrics)) = step.get_mut("metrics") {
            metrics.retain(|key, value| {
                let known = [
                    "prompt_tokens",
                    "completion_tokens",
                    "cached_tokens",
                    "cost_usd",
                ];
                !known.contains(&key.as_ref()) && !value.is_null()
            });
            if metrics.is_empty() {
                step.remove("metrics");
            }
        }
        let details = StepDetails {
            reasoning: take_text(&mut step, "reasoning_content"),
            model: take_text(&mut step, "model_name"),
            usage,
            started,
            errors: Vec::new(),
        };
        let extra = match step.get_mut("extra") {
            Some(Json::Object(extra)) => Some(Judged::take(extra)),
            _ => None,
        };
        if step
            .get("extra")
            .and_then(Json::as_object)
            .is_some_and(Object::is_empty)
        {
            step.remove("extra");
        }
        step.retain(|_, value| !value.is_null());
        self.transcript.push(ImportedMessage {
            message,
            details,
            seconds: None,
            extras: step,
        });
        if let Some(judged) = extra {
            self.has_rewards |= judged.apply(&mut self.transcript);
        }
    }

    /// The id of the call of the last step, if it is the only one and has no result.
    fn only_call(&mut self) -> Option<Text> {
        let step = self.transcript.last_mut()?;
        let AnyMessage::Request(request) = &step.action else {
            return None;
        };
        let [call] = request.tool_calls.as_slice() else {
            return None;
        };
        step.messages().is_empty().then(|| call.id.clone())
    }

    /// Adds a result; `only` is the call that it belongs to if it names none.
    fn result(&mut self, result: &Json, only: Option<Text>, episode: &mut Episode) {
        let call = result.get("source_call_id").and_then(id).or(only);
        let references = result.get("subagent_trajectory_ref");
        let step = self.transcript.len().checked_sub(1);
        for reference in references.and_then(Json::as_list).unwrap_or_default() {
            let keys = ["trajectory_id", "trajectory_path", "session_id"];
            let other = keys.iter().find_map(|key| reference.get(key)?.as_text());
            if let Some(other) = other {
                episode
                    .links
                    .push(link(Relation::Subagent, other.clone(), step));
            }
        }
        let content = result.get("content").cloned().unwrap_or_default();
        if content.is_null() && call.is_none() {
            return;
        }
        let mut body = chat::body(content);
        let message = match call {
            Some(call) => {
                body.content.get_or_insert_with(Text::default);
                AnyMessage::Response(ToolResponseMessage {
                    body,
                    name: Text::default(),
                    tool_call_id: call,
                })
            }
            None => AnyMessage::Plain(Message {
                role: Role::Tool,
                body,
            }),
        };
        let mut rest = result.as_object().cloned().unwrap_or_default();
        for known in ["source_call_id", "content", "subagent_trajectory_ref"] {
            rest.remove(known);
        }
        rest.retain(|_, value| !value.is_null());
        // ATIF has no member for failures: some writers set one of these if a call failed.
        let extra = rest.get("extra").and_then(|extra| extra.get("is_error"));
        let failed = extra.or_else(|| rest.get("is_error"));
        let failed = failed.and_then(Json::as_bool) == Some(true);
        let told = rest
            .get("extra")
            .and_then(|extra| text_at(extra, &["error"]));
        let mut said = ImportedMessage::from(chat::with_info(message, rest));
        if failed {
            let content = || said.message.body().content_or_empty().into();
            let message = told.unwrap_or_else(content);
            said.details.errors.push(StepError {
                call: None,
                message,
            });
        }
        self.transcript.push(said);
    }

    /// Reads the `extra` of a trajectory as Volary's own export writes it.
    pub fn extra(&mut self, extra: &mut Object, episode: &mut Episode) {
        if let Some(reward) = extra.get("reward").and_then(Json::as_f64) {
            episode.rewards = Rewards::Whole(reward);
            extra.remove("reward");
        }
        episode.outcome = take_text(extra, "outcome");
    }

    pub fn finish(self, episode: &mut Episode) {
        if self.has_rewards {
            episode.rewards = Rewards::Steps;
        }
        if let (Some(first), Some(last)) = (episode.started, self.last_time) {
            episode.seconds = Some(time::between(first, last));
        }
        self.transcript.finish(episode);
        if let Some(last) = episode.steps.last() {
            let ending = last.ending();
            if episode.ending == Ending::Open {
                episode.ending = ending;
            }
        }
    }
}

/// Token counts. ATIF has no member for reasoning tokens: writers put them into `extra`.
fn usage(metrics: &Json) -> Option<Usage> {
    let keys = ["reasoning_tokens", "reasoning_output_tokens"].into_iter();
    let mut told = keys.filter_map(|key| members::count(at(metrics, &["extra", key])?));
    let usage = chat::usage(metrics)?;
    Some(Usage {
        reasoning: usage.reasoning.or_else(|| told.next()),
        ..usage
    })
}

/// The values in the extra of a step that ATIF does not define.
struct Judged {
    reward: Option<f64>,
    done: bool,
    truncated: bool,
    failure: Option<Text>,
    errors: Vec<Text>,
    seconds: Option<f64>,
}

impl Judged {
    fn take(extra: &mut Object) -> Judged {
        let mut number = |key: &str| {
            let value = extra.get(key)?.as_f64()?;
            extra.remove(key);
            Some(value)
        };
        let (reward, seconds) = (number("reward"), number("seconds"));
        let mut flag = |key: &str| {
            let value = extra.get(key)?.as_bool()?;
            extra.remove(key);
            Some(value)
        };
        let (done, truncated) = (flag("done"), flag("truncated"));
        Judged {
            reward,
            done: done.unwrap_or_default(),
            truncated: truncated.unwrap_or_default(),
            failure: take_text(extra, "failure"),
            errors: errors(extra),
            seconds,
        }
    }

    /// Applies the values to the last step. Returns whether there was a reward. A failure replaces the results of the
    /// calls, which repeat it.
    fn apply(self, transcript: &mut Transcript) -> bool {
        let Some(step) = transcript.last_mut() else {
            return false;
        };
        step.seconds = self.seconds.or(step.seconds);
        let errors = self.errors.into_iter();
        let errors = errors.map(|message| StepError {
            call: None,
            message,
        });
        step.details.errors.extend(errors);
        if let Outcome::Observed {
            reward,
            done,
            truncated,
            ..
        } = &mut step.outcome
        {
            *reward = self.reward.unwrap_or_default();
            (*done, *truncated) = (self.done, self.truncated);
        }
        if let Some(message) = self.failure {
            step.outcome = Outcome::Failed { message };
        }
        self.reward.is_some()
    }
}

/// Errors of a step that belong to no call.
fn errors(extra: &mut Object) -> Vec<Text> {
    let is_text = |value: &Json| value.as_text().is_some();
    let errors = extra.take_if("errors", |value| {
        value.as_list().is_some_and(|list| list.iter().all(is_text))
    });
    match errors {
        Some(Json::List(list)) => list.iter().filter_map(Json::as_text).cloned().collect(),
        _ => Vec::new(),
    }
}
