//! Reads the events of a sample: which model call produced which step, its cost and duration, tool runs, and changes of
//! the store.

use std::collections::HashMap;

use volary_analysis::lanes::SPANS;
use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Frame, Role};
use volary_episode::episode::{Episode, StepError, Usage};
use volary_episode::frames::{FrameHistory, FramePatch};
use volary_episode::time;

use super::store;
use crate::import::chat;
use crate::import::expansion::{Expansion, size};

/// The members of a model call's input, which the messages repeat.
pub(super) const GIVEN: [&str; 4] = ["input", "input_refs", "call", "call_refs"];

/// The number of following steps that are searched for a message without an id.
const AHEAD: usize = 64;

/// Applies the events to the steps of an episode. `ids` are the message ids of the steps. Returns the number of changes
/// of the store that were dropped, because they would expand it too much.
pub(super) fn read(events: Vec<Json>, ids: &[Option<Text>], episode: &mut Episode) -> usize {
    let mut steps: HashMap<Text, usize> = HashMap::new();
    for (step, id) in ids.iter().enumerate() {
        if let Some(id) = id {
            steps.entry(id.clone()).or_insert(step);
        }
    }
    let mut calls: HashMap<Text, usize> = HashMap::new();
    for (index, step) in episode.steps.iter().enumerate() {
        if let AnyMessage::Request(request) = &step.action {
            for call in &request.tool_calls {
                calls.entry(call.id.clone()).or_insert(index);
            }
        }
    }
    let mut walk = Walk {
        steps,
        calls,
        current: None,
        stores: Stores::new(&events),
        spans: Spans::default(),
        others: vec![Vec::new(); episode.steps.len() + 1],
    };
    for event in events {
        if let Json::Object(event) = event {
            walk.event(event, episode);
        }
    }
    let left_out = walk.stores.left_out;
    walk.finish(episode);
    left_out
}

struct Walk {
    /// The step of each message id.
    steps: HashMap<Text, usize>,
    /// The step of each call.
    calls: HashMap<Text, usize>,
    current: Option<usize>,
    stores: Stores,
    spans: Spans,
    /// Other events that are preserved: before the first step, then by step.
    others: Vec<Vec<Json>>,
}

impl Walk {
    fn event(&mut self, mut event: Object, episode: &mut Episode) {
        let kind = event.get("event").and_then(Json::as_text).cloned();
        let started = text(&event, "timestamp").and_then(|text| time::parse(&text));
        if episode.started.is_none() {
            episode.started = started;
        }
        match kind.as_deref() {
            Some("model") => {
                self.model(&event, started, episode);
                shorten(&mut event);
            }
            Some("tool") => self.tool(&event, episode),
            Some("store") => self.stores.change(&event, ""),
            Some("state") if !self.stores.has_store_events => {
                self.stores.change(&event, "/store");
                return;
            }
            Some("span_begin") => return self.spans.begin(&event, self.current),
            Some("span_end") => return self.spans.end(&event, self.current),
            Some("state" | "sample_init" | "step") => return,
            Some("error") => {
                let message = event.get("error").and_then(|error| error.get("message"));
                if let Some(message) = message.and_then(Json::as_text)
                    && let Some(step) = self.current.and_then(|step| episode.steps.get_mut(step))
                {
                    step.details.errors.push(StepError {
                        call: None,
                        message: message.clone(),
                    });
                }
            }
            _ => {}
        }
        let index = self.current.map_or(0, |step| step + 1);
        if let Some(list) = self.others.get_mut(index) {
            list.push(event.into());
        }
    }

    fn model(&mut self, event: &Object, started: Option<f64>, episode: &mut Episode) {
        if episode.tools.is_empty() {
            let tools = event.get("tools").and_then(Json::as_list);
            episode.tools = tools
                .unwrap_or_default()
                .iter()
                .filter_map(chat::tool)
                .collect();
        }
        let output = event.get("output");
        let message =
            output.and_then(|output| output.get("choices")?.as_list()?.first()?.get("message"));
        let Some(step) = message.and_then(|message| self.step_of(message, episode)) else {
            return;
        };
        self.stores.reach(step);
        self.current = Some(step);
        let Some(record) = episode.steps.get_mut(step) else {
            return;
        };
        record.details.started = record.details.started.or(started);
        record.details.model = event.get("model").and_then(Json::as_text).cloned();
        record.details.usage = output.and_then(|output| usage(output.get("usage")?));
        let seconds = output.and_then(|output| output.get("time")?.as_f64());
        record.seconds = record.seconds.or(seconds);
        let said = record.action.body().content_or_empty();
        if let Some(response) = event.get("call").and_then(written)
            && is_another(said, &response)
        {
            record.extras.insert(OVERWRITTEN, response);
        }
        let error = event.get("error").and_then(Json::as_text);
        if let Some(error) = error {
            record.details.errors.push(StepError {
                call: None,
                message: error.clone(),
            });
        }
    }

    /// The step of a model's message: by its id, or in older logs without ids, the next step with the same contents.
    fn step_of(&self, message: &Json, episode: &Episode) -> Option<usize> {
        if let Some(id) = message.get("id").and_then(Json::as_text) {
            return self.steps.get(id).copied();
        }
        let given = chat::read(message).into_iter().map(|said| said.message);
        let given = given
            .filter(|message| message.role() == Role::Assistant)
            .last()?;
        let from = self.current.map_or(0, |step| step + 1);
        let ahead = episode.steps.iter().enumerate().skip(from).take(AHEAD);
        let mut same = ahead.filter(|(_, step)| says_the_same(&step.action, &given));
        same.next().map(|(index, _)| index)
    }

    fn tool(&mut self, event: &Object, episode: &mut Episode) {
        let id = text(event, "id").unwrap_or_default();
        let Some(step) = self.calls.get(&id).copied() else {
            return;
        };
        self.stores.reach(step);
        self.current = Some(step);
        let Some(record) = episode.steps.get_mut(step) else {
            return;
        };
        let times = [text(event, "timestamp"), text(event, "completed")];
        if let [Some(Some(start)), Some(Some(end))] =
            times.map(|text| text.map(|text| time::parse(&text)))
        {
            *record.seconds.get_or_insert(0.0) += time::between(start, end);
        }
        let message = event.get("error").and_then(|error| error.get("message"));
        let known = |error: &StepError| error.call.as_ref() == Some(&id);
        if let Some(message) = message.and_then(Json::as_text)
            && !record.details.errors.iter().any(known)
        {
            record.details.errors.push(StepError {
                call: Some(id),
                message: message.clone(),
            });
        }
    }

    fn finish(self, episode: &mut Episode) {
        let mut others = self.others.into_iter();
        if let Some(before) = others.next()
            && !before.is_empty()
        {
            episode.raw.insert("events", before);
        }
        for (step, events) in episode.steps.iter_mut().zip(others) {
            if !events.is_empty() {
                step.extras.insert("events", events);
            }
        }
        if !self.spans.ended.is_empty() {
            episode.raw.insert(SPANS, self.spans.ended);
        }
        self.stores.finish(episode);
    }
}

/// The spans of subagents: those that start after the first step.
#[derive(Default)]
struct Spans {
    /// The open spans: id, name, and the step at which they start.
    open: Vec<(Text, Text, usize)>,
    ended: Vec<Json>,
}

impl Spans {
    fn begin(&mut self, event: &Object, current: Option<usize>) {
        const MOST: usize = 1000;
        let kind = text(event, "type");
        let is_agent = matches!(kind.as_deref(), Some("agent" | "subtask"));
        if let (true, Some(id), Some(name), Some(step)) =
            (is_agent, text(event, "id"), text(event, "name"), current)
            && self.open.len() + self.ended.len() < MOST
        {
            self.open.push((id, name, step + 1));
        }
    }

    fn end(&mut self, event: &Object, current: Option<usize>) {
        let id = text(event, "id").unwrap_or_default();
        let index = self.open.iter().rposition(|(known, ..)| *known == id);
        if let (Some(index), Some(step)) = (index, current) {
            let (_, name, from) = self.open.remove(index);
            let mut span = Object::new();
            span.insert("name", name);
            span.insert("from", from as i64);
            span.insert("to", step as i64 + 1);
            self.ended.push(span.into());
        }
    }
}

/// The member with the model's text, if its message has another one.
const OVERWRITTEN: &str = "text_of_response";

/// The text of the raw response of a model, in the form of Anthropic or of OpenAI.
fn written(call: &Json) -> Option<Text> {
    let response = call.get("response")?;
    if let Some(blocks) = response.get("content").and_then(Json::as_list) {
        let texts = blocks
            .iter()
            .filter_map(|block| block.get("text")?.as_text());
        let texts: Vec<&str> = texts.map(AsRef::as_ref).collect();
        return (!texts.is_empty()).then(|| texts.join("\n").into());
    }
    let choice = response.get("choices")?.as_list()?.first()?;
    choice.get("message")?.get("content")?.as_text().cloned()
}

/// Whether a message has another text than the response that it comes from: a tool or a solver may overwrite messages, as
/// that for submitting an answer does. Lists of parts are not compared.
fn is_another(said: &str, response: &str) -> bool {
    let (said, response) = (said.trim(), response.trim());
    let is_comparable = |text: &str| {
        !text.is_empty() && !text.starts_with("[{") && !text.starts_with("attachment://")
    };
    is_comparable(said)
        && is_comparable(response)
        && !response.contains("<think>")
        && said != response
        && !said.contains(response)
}

/// Whether two messages have the same text and the same calls, ignoring other members.
fn says_the_same(one: &AnyMessage, other: &AnyMessage) -> bool {
    fn calls(message: &AnyMessage) -> impl Iterator<Item = &Text> {
        let calls = match message {
            AnyMessage::Request(request) => request.tool_calls.as_slice(),
            _ => &[],
        };
        calls.iter().map(|call| &call.id)
    }
    one.body().content == other.body().content && calls(one).eq(calls(other))
}

/// Whether an event is a call of a model.
pub(super) fn is_model_call(event: &Object) -> bool {
    let kind = event.get("event").and_then(Json::as_text);
    kind.is_some_and(|kind| &**kind == "model")
}

/// Removes the members that repeat the messages.
fn shorten(event: &mut Object) {
    for key in GIVEN.iter().chain(&["tools", "tools_refs"]) {
        event.remove(key);
    }
    if let Some(Json::Object(output)) = event.get_mut("output") {
        output.remove("choices");
        output.remove("completion");
    }
}

/// Token counts of Inspect: cached tokens are separate from the input.
pub(super) fn usage(value: &Json) -> Option<Usage> {
    let count = |key: &str| {
        let count = value.get(key)?.as_f64().filter(|count| *count >= 0.0)?;
        Some(count as u64)
    };
    let output = count("output_tokens");
    let apart = count("total_tokens").and_then(|total| total.checked_sub(output.unwrap_or(0)));
    let usage = Usage {
        input: count("input_tokens").map(|input| apart.unwrap_or(input).max(input)),
        output,
        cached: count("input_tokens_cache_read"),
        reasoning: count("reasoning_tokens"),
        cost: value.get("total_cost").and_then(Json::as_f64),
    };
    (!usage.is_empty()).then_some(usage)
}

/// The store after each step, according to the events.
struct Stores {
    has_store_events: bool,
    changed: bool,
    now: Frame,
    /// Whether it changed since the last frame.
    moved: bool,
    /// The store at the end of the start and of each finished step.
    past: FrameHistory,
    /// Limits the data that changes may copy within the store.
    expansion: Expansion,
    left_out: usize,
}

impl Stores {
    fn new(events: &[Json]) -> Stores {
        let kind = |event: &Json| event.get("event").and_then(Json::as_text).cloned();
        let first = events
            .iter()
            .find(|event| kind(event).as_deref() == Some("sample_init"));
        let first = first.and_then(|event| event.get("state")?.get("store"));
        Stores {
            has_store_events: events
                .iter()
                .any(|event| kind(event).as_deref() == Some("store")),
            changed: false,
            now: Frame::new(
                first.cloned().unwrap_or_else(|| Object::new().into()),
                Json::Null,
            ),
            moved: true,
            past: FrameHistory::default(),
            expansion: Expansion::of(events.iter().map(size).sum()),
            left_out: 0,
        }
    }

    /// Notes that a step starts, which finishes the previous ones.
    fn reach(&mut self, step: usize) {
        while self.past.len() + self.past.left_out() <= step {
            if std::mem::take(&mut self.moved) {
                self.past.push_within(&self.now)
            } else {
                // An empty patch applies to any frame.
                self.past
                    .push_patch_within(FramePatch::default())
                    .unwrap_or_default()
            }
        }
    }

    fn change(&mut self, event: &Object, within: &str) {
        let changes = event
            .get("changes")
            .and_then(Json::as_list)
            .unwrap_or_default();
        let inside = changes.iter().filter_map(|change| {
            let path = change.get("path")?.as_text()?.strip_prefix(within)?;
            let mut change = change.as_object()?.clone();
            change.insert("path", path);
            if let Some(from) = change.get("from").and_then(Json::as_text).cloned() {
                change.insert("from", from.strip_prefix(within)?);
            }
            Some(Json::Object(change))
        });
        let inside: Vec<Json> = inside.collect();
        self.changed |= !inside.is_empty();
        self.moved |= !inside.is_empty();
        let unfit = store::apply(&mut self.now.state, &inside, &mut self.expansion);
        if self.expansion.is_over() {
            self.left_out += unfit;
        }
    }

    /// Adds the frames, if there is any state. The last one is the final store of the sample.
    fn finish(mut self, episode: &mut Episode) {
        let last = episode.raw.get("store").and_then(Json::as_object);
        let last = last.filter(|store| !store.is_empty()).cloned();
        if !self.changed && last.is_none() {
            return;
        }
        if let Some(before) = episode.steps.len().checked_sub(1) {
            self.reach(before);
        }
        if let Some(store) = last {
            self.now.state = store.into();
            self.moved = true;
        }
        self.reach(episode.steps.len());
        episode.frames = self.past;
    }
}

fn text(object: &Object, key: &str) -> Option<Text> {
    object.get(key)?.as_text().cloned()
}
