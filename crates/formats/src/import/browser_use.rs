//! Histories of browser-use (`AgentHistoryList.save_to_file`): `{history: [{model_output, result, state, metadata}]}`,
//! where the output has a thought and several actions, and each action that was run has a result.
//!
//! An item is a step: its actions are the calls. The page that the agent saw before it, with the screenshot if the file
//! has it, is the observation before the step. Earlier versions have the thoughts in `current_state`.

use serde::Deserialize;
use volary_core::json::{Json, Object, Text};
use volary_core::{Role, ToolCall, object};
use volary_episode::episode::{Ending, Episode, Rewards, Score, StepDetails, StepError, Usage};
use volary_episode::time;

use super::chat;
use super::describe::counted;
use super::members::{Members, keep_rest};
use super::reader::{Confidence, Document, Line, Reader, Sink};
use super::transcript::Transcript;
use super::typed;

pub(super) struct BrowserUse;

impl Reader for BrowserUse {
    fn id(&self) -> &'static str {
        "browser-use"
    }

    fn name(&self) -> &'static str {
        "histories of browser-use (JSON)"
    }

    fn recognise(&self, document: &Document) -> Confidence {
        let holds = |value: &Json| {
            let history = value.get("history").and_then(Json::as_list);
            let history = history.unwrap_or_default();
            !history.is_empty() && history.iter().take(8).all(is_item)
        };
        if document.samples().any(holds) {
            Confidence::Certain
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        for Line { number, value } in document.into_records() {
            match value {
                Json::Object(mut record) if record.contains_key("history") => {
                    let history = record.take_list("history").unwrap_or_default();
                    run(record, history, sink);
                }
                _ => sink.lost(format!("Line {number} has no history.")),
            }
        }
    }
}

fn is_item(value: &Json) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("model_output") && has("result") && has("state")
}

/// An item of a history, without the members that may be large.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    metadata: Option<Metadata>,
}

/// What the model wrote. The thoughts are members of it, or of `current_state`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Output {
    thinking: Option<Text>,
    next_goal: Option<Text>,
    current_state: Option<Object>,
    action: Vec<Object>,
}

/// What an action brought about, or why it failed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ActionResult {
    is_done: Option<bool>,
    success: Option<bool>,
    extracted_content: Option<Text>,
    long_term_memory: Option<Text>,
    error: Option<Text>,
    judgement: Option<Judgement>,
}

/// What a judging model found.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Judgement {
    verdict: Option<bool>,
    reasoning: Option<Text>,
}

/// What the agent saw before it acted.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PageState {
    url: Option<Text>,
    title: Option<Text>,
    /// PNG, as Base64.
    screenshot: Option<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    step_start_time: Option<f64>,
    step_end_time: Option<f64>,
    input_tokens: Option<u64>,
}

fn run(rest: Object, history: Vec<Json>, sink: &mut Sink<'_>) {
    let mut episode = Episode {
        policy: Some("browser-use".into()),
        rewards: Rewards::Unknown,
        ..Episode::default()
    };
    let mut transcript = Transcript::default();
    let count = history.len();
    for value in history {
        match value {
            Json::Object(item) => step(item, &mut transcript, &mut episode, sink),
            _ => sink.lost("A step is not an object."),
        }
    }
    transcript.finish(&mut episode);
    keep_rest(&mut episode, rest, sink);
    sink.episode(episode);
    sink.understood(format!("browser-use: {}.", counted(count, "step")));
}

fn step(mut item: Object, transcript: &mut Transcript, episode: &mut Episode, sink: &mut Sink<'_>) {
    // Moved, since they may be large.
    let state = item.remove("state").filter(|state| !state.is_null());
    let output = item
        .remove("model_output")
        .filter(|output| !output.is_null());
    let results = item.take_list("result").unwrap_or_default();
    let (item, mut extras) = typed::record::<Item>(item.into(), "A step", sink);
    if let Some(state) = state {
        let (state, rest) = typed::record::<PageState>(state, "A state", sink);
        see(state, rest, &mut extras, transcript);
    }
    let (output, mut thoughts) = match output {
        Some(output) => typed::record::<Output>(output, "An output", sink),
        None => Default::default(),
    };
    thoughts.extend_missing(output.current_state.unwrap_or_default());
    let thinking = output.thinking.or_else(|| thoughts.take_text("thinking"));
    let goal = output.next_goal.or_else(|| thoughts.take_text("next_goal"));
    extras.extend_missing(thoughts);
    extras.retain(|_, value| !value.is_null());
    let calls: Vec<ToolCall> = output.action.into_iter().flat_map(calls).collect();
    let mut said = chat::acted(goal.map_or(Json::Null, Json::Text), calls.clone());
    let metadata = item.metadata.unwrap_or_default();
    said.details = StepDetails {
        reasoning: thinking.filter(|text| !text.is_empty()),
        started: metadata.step_start_time,
        usage: metadata.input_tokens.map(|input| Usage {
            input: Some(input),
            ..Usage::default()
        }),
        ..StepDetails::default()
    };
    said.seconds = match (metadata.step_start_time, metadata.step_end_time) {
        (Some(start), Some(end)) => Some(time::between(start, end)),
        _ => None,
    };
    said.extras = extras;
    transcript.push(said);
    for (index, result) in results.into_iter().enumerate() {
        let name = calls.get(index).map(|call| call.function.name.clone());
        let (result, rest) = typed::record::<ActionResult>(result, "A result", sink);
        answer(result, rest, name, transcript, episode);
    }
}

/// Adds what the agent saw: address, title and screenshot.
fn see(state: PageState, mut rest: Object, extras: &mut Object, transcript: &mut Transcript) {
    let lines: Vec<&str> = [&state.title, &state.url]
        .into_iter()
        .filter_map(|text| text.as_deref().filter(|text| !text.is_empty()))
        .collect();
    let mut blocks: Vec<Json> = Vec::new();
    if !lines.is_empty() {
        blocks.push(object!({ "type": "text", "text": (lines.join("\n")) }).into());
    }
    if let Some(image) = state.screenshot.filter(|image| !image.is_empty()) {
        let url = format!("data:image/png;base64,{image}");
        blocks.push(object!({ "type": "image_url", "image_url": { "url": url } }).into());
    }
    if !blocks.is_empty() {
        let message = object!({ "role": "user", "content": blocks });
        chat::read_owned(message.into())
            .into_iter()
            .for_each(|said| transcript.observe(said));
    }
    rest.retain(|_, value| !value.is_null());
    if !rest.is_empty() {
        extras.insert("state", rest);
    }
}

/// The calls of an action: `{name: {…}}`.
fn calls(action: Object) -> impl Iterator<Item = ToolCall> {
    let named = action.into_iter().filter(|(_, value)| !value.is_null());
    named.map(|(name, arguments)| {
        ToolCall::new(
            Text::default(),
            Text::from(name.as_ref()),
            chat::arguments(arguments),
        )
    })
}

fn answer(
    result: ActionResult,
    mut rest: Object,
    name: Option<Text>,
    transcript: &mut Transcript,
    episode: &mut Episode,
) {
    let is_done = result.is_done == Some(true);
    if is_done {
        episode.ending = Ending::Done;
    }
    if let Some(success) = result.success.filter(|_| is_done) {
        episode.outcome = Some(if success { "success" } else { "failure" }.into());
        episode.scores.push(Score {
            name: "success".into(),
            value: success.into(),
            explanation: Some("The agent's own judgement.".into()),
            ..Score::default()
        });
    }
    if let Some(judgement) = result.judgement {
        episode.scores.push(Score {
            name: "judgement".into(),
            value: judgement.verdict.map_or(Json::Null, Json::from),
            explanation: judgement.reasoning,
            ..Score::default()
        });
    }
    let text = result.extracted_content.or_else(|| result.error.clone());
    let text = text.or(result.long_term_memory).unwrap_or_default();
    match name {
        Some(name) => {
            rest.retain(|_, value| !value.is_null());
            let mut said = chat::answer(Text::default(), name, text.into());
            said.message = chat::with_info(said.message, rest);
            said.details.errors.extend(result.error.map(error));
            transcript.push(said);
        }
        // An error before any action: the model did not answer, or not in the schema.
        None => {
            if !text.is_empty() {
                transcript.observe(chat::plain(Role::User, chat::body(text.into())));
            }
            if let Some(last) = transcript.last_mut() {
                last.details.errors.extend(result.error.map(error));
            }
        }
    }
}

fn error(message: Text) -> StepError {
    StepError {
        call: None,
        message,
    }
}
