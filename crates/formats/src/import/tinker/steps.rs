//! The steps of tinker-cookbook's summaries: `{step_idx, ob_len, ac_len, reward, episode_done, metrics, logs}`. Newer versions have the
//! messages of a step among its logs (`_conversation`). The turns of the token database have tokens: `ob_tokens`, `ac_tokens`,
//! `ac_logprobs`, and `token_metrics` with a value for each token of the action; if `ob_is_delta` is set, the tokens follow those of
//! the step before. They may have texts as well: `ob_text`, `ac_text`.

use volary_core::TokenId;
use volary_core::json::{Json, Object, Text};
use volary_core::message::Body;
use volary_core::{Message, Role};
use volary_episode::episode::{Episode, Outcome, StepRecord, Usage};

use crate::import::members::{Members, count};
use crate::import::reader::{NOT_FINITE, Sink};
use crate::import::slime;
use crate::import::token_lists::{CallTokens, attach, ids, joined, not_ids, report_apart, stream};
use crate::import::transcript::{ImportedMessage, Transcript};

/// The messages of a step, among its logs.
const CONVERSATION: &str = "_conversation";

/// What a summary says about one turn of the policy.
pub(super) struct StepSummary {
    /// The reward; `None` if it is missing or not finite.
    pub reward: Option<f64>,
    pub is_done: bool,
    /// What the model said, if the environment logs it.
    pub said: Option<Text>,
    /// What it saw, if that is recorded.
    observed: Option<Text>,
    started: Option<f64>,
    usage: Usage,
    /// What else is recorded.
    extras: Object,
    tokens: Option<CallTokens>,
}

/// Takes the messages out of the logs of all steps.
pub(super) fn take_conversation(steps: &mut [Json]) -> Vec<Json> {
    let mut conversation = Vec::new();
    for step in steps {
        if let Json::Object(step) = step
            && let Some(Json::Object(logs)) = step.get_mut("logs")
        {
            conversation.extend(logs.take_list(CONVERSATION).unwrap_or_default());
        }
    }
    conversation
}

/// Reads the steps of a summary.
pub(super) fn read(steps: Vec<Json>, sink: &mut Sink<'_>) -> Vec<StepSummary> {
    let mut read = Vec::with_capacity(steps.len());
    // The tokens of the steps so far.
    let mut before: Vec<TokenId> = Vec::new();
    for step in steps {
        match step {
            Json::Object(step) => read.push(StepSummary::of(step, &mut before, sink)),
            _ => sink.lost("A step of a rollout is not an object."),
        }
    }
    read
}

impl StepSummary {
    fn of(mut step: Object, before: &mut Vec<TokenId>, sink: &mut Sink<'_>) -> StepSummary {
        let reward = step.take_number("reward");
        let finite = reward.filter(|reward| reward.is_finite());
        if finite != reward {
            sink.lost(NOT_FINITE);
        }
        let tokens = tokens(&mut step, before, sink);
        let length = |tokens: &[TokenId]| u64::try_from(tokens.len()).ok();
        let usage = Usage {
            input: step.take("ob_len").as_ref().and_then(count),
            output: step.take("ac_len").as_ref().and_then(count),
            ..Usage::default()
        };
        let usage = match &tokens {
            Some(call) => Usage {
                input: usage.input.or_else(|| length(&call.prompt)),
                output: usage.output.or_else(|| length(&call.completion)),
                ..usage
            },
            None => usage,
        };
        step.remove("step_idx");
        StepSummary {
            reward: finite,
            is_done: step.take_flag("episode_done") == Some(true),
            said: said(&mut step),
            observed: step.take_text("ob_text"),
            started: step.take_time("ts"),
            usage,
            extras: step,
            tokens,
        }
    }

    /// The action: the text among the logs.
    pub fn action(&mut self) -> ImportedMessage {
        let said = self.said.take();
        let message = Message {
            role: Role::Assistant,
            body: said.map_or_else(Body::default, Body::text),
        };
        let mut action = slime::with_calls(message.into());
        action.details.started = self.started;
        action
    }
}

/// What the model said: the text with a known name among the logs of a step. Those of the cookbook's recipes are `guess`
/// (guess_number) and `transcript` (audio); some tools give texts another name.
fn said(step: &mut Object) -> Option<Text> {
    const NAMES: [&str; 9] = [
        "said",
        "response",
        "action",
        "assistant",
        "completion",
        "content",
        "output",
        "guess",
        "transcript",
    ];
    let mut logs = step.take_object("logs").unwrap_or_default();
    let said = NAMES.iter().find_map(|name| logs.take_text(name));
    let said = step.take_text("ac_text").or(said);
    if !logs.is_empty() {
        step.insert("logs", logs);
    }
    said
}

/// Takes the tokens of a step, and adds them to those before.
fn tokens(step: &mut Object, before: &mut Vec<TokenId>, sink: &mut Sink<'_>) -> Option<CallTokens> {
    let mut take = |key: &str| {
        let value = step.take(key)?;
        let read = ids(&value);
        if read.is_none() {
            sink.lost(not_ids(key, &value, "a step"));
        }
        read
    };
    let observed = take("ob_tokens");
    let completion = take("ac_tokens")?;
    let is_delta = step.take_flag("ob_is_delta") == Some(true);
    let mut prompt = if is_delta {
        std::mem::take(before)
    } else {
        Vec::new()
    };
    prompt.extend(observed.unwrap_or_default());
    let mut streams = Vec::new();
    let logprobs = ["ac_logprobs", "logprobs"];
    let logprobs = logprobs.iter().find_map(|key| step.take(key));
    streams.extend(
        logprobs
            .as_ref()
            .and_then(stream)
            .map(|values| ("logprobs".into(), values)),
    );
    for (name, values) in step.take_object("token_metrics").unwrap_or_default() {
        let values = stream(&values);
        streams.extend(values.map(|values| (Text::from(name.as_ref()), values)));
    }
    *before = prompt.iter().chain(&completion).copied().collect();
    Some(CallTokens {
        prompt,
        completion,
        mask: None,
        streams,
    })
}

/// Adds summaries without messages as steps.
pub(super) fn push(steps: &mut [StepSummary], transcript: &mut Transcript) {
    for step in steps {
        if let Some(observed) = step.observed.take() {
            transcript.observe(Message::user(observed).into());
        }
        transcript.push(step.action());
    }
}

/// Adds usage, rewards and tokens to the steps of an episode, which are as many.
pub(super) fn add(steps: Vec<StepSummary>, episode: &mut Episode, sink: &mut Sink<'_>) {
    let mut calls = Vec::new();
    for (step, summary) in episode.steps.iter_mut().zip(steps) {
        let usage = (!summary.usage.is_empty()).then_some(summary.usage);
        step.details.usage = usage.or(step.details.usage.take());
        step.details.started = step.details.started.or(summary.started);
        step.extras.extend_missing(summary.extras);
        gain(step, summary.reward.unwrap_or_default());
        calls.extend(summary.tokens);
    }
    if let Some((builder, apart)) = joined(calls) {
        report_apart(&apart, sink);
        attach(builder.divided(episode), episode, sink);
    }
}

/// Adds to the reward of a step.
pub(super) fn gain(step: &mut StepRecord, gained: f64) {
    if let Outcome::Observed { reward, .. } = &mut step.outcome {
        *reward += gained;
    }
}
