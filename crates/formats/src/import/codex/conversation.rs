//! Converts items, events and token counts, in order, to steps.
//!
//! A reply of the model is recorded as several items without a boundary between replies. Tokens are counted
//! after each reply, or by some versions before its items: everything between two counts is one reply. Without
//! counts, a reply ends with the results of its calls.

use volary_core::json::{Json, Object, Text};
use volary_core::{Role, object};
use volary_episode::episode::{Episode, StepDetails, Usage};

use super::items::{self, Item};
use super::{Entry, Kind};
use crate::import::chat;
use crate::import::members::{count, text_at};
use crate::import::transcript::{ImportedMessage, Transcript};

/// Events that repeat the contents of items.
const SAID_TWICE: [&str; 4] = [
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
];

/// Events whose data is in the episode already.
const UNDERSTOOD: [&str; 8] = [
    "token_count",
    "task_started",
    "turn_started",
    "task_complete",
    "turn_complete",
    "turn_aborted",
    "thread_name_updated",
    "context_compacted",
];

/// The state while a conversation is read.
pub(super) struct Conversation {
    transcript: Transcript,
    /// Whether the session counts the tokens of replies.
    is_counted: bool,
    /// Whether the conversation is recorded only as events.
    by_events: bool,
    model: Option<Text>,
    /// The settings of the last turn.
    context: Json,
    /// The items of the unfinished reply, and the time of the first one.
    answer: Vec<Json>,
    started: Option<f64>,
    /// The results of its calls so far.
    outputs: Vec<ImportedMessage>,
    /// The token usage of the reply, as far as it is known.
    usage: Option<Usage>,
    /// The running total of the last count, and the totals before the count was reset.
    total: Option<Usage>,
    before: Usage,
    /// Whether counts precede the items that they count.
    counts_first: bool,
    /// Whether the model has replied since the last other message, and whether that reply was counted.
    has_acted: bool,
    has_counted: bool,
    encrypted: usize,
    others: Vec<Json>,
}

impl Conversation {
    pub fn new(is_counted: bool, by_events: bool) -> Conversation {
        Conversation {
            transcript: Transcript::default(),
            is_counted,
            by_events,
            model: None,
            context: Json::Null,
            answer: Vec::new(),
            started: None,
            outputs: Vec::new(),
            usage: None,
            total: None,
            before: Usage::default(),
            counts_first: false,
            has_acted: false,
            has_counted: false,
            encrypted: 0,
            others: Vec::new(),
        }
    }

    /// Adds the system prompt.
    pub fn told(&mut self, text: Json) {
        let message = object!({ "role": "system", "content": text });
        chat::read(&message.into())
            .into_iter()
            .for_each(|said| self.transcript.push(said));
    }

    /// Preserves a line that is not part of the conversation.
    pub fn keep(&mut self, line: Entry) {
        self.others.push(line.kept());
    }

    pub fn line(&mut self, line: Entry) {
        if let Some((last, all)) = line.count() {
            return self.count(usage(last), all.and_then(usage));
        }
        match line.kind {
            Kind::Context => self.context(line),
            Kind::Item => self.item(line),
            Kind::Event => self.event(line),
            Kind::Compacted => self.compacted(line),
            Kind::Count => {}
            Kind::Session | Kind::Other => self.keep(line),
        }
    }

    /// Reads the settings of a turn, which are repeated for every turn.
    fn context(&mut self, line: Entry) {
        if let model @ Some(_) = text_at(&line.payload, &["model"])
            && model != self.model
        {
            // An aborted reply was not counted; it belongs to the previous turn.
            self.end();
            self.model = model;
        }
        let mut context = line.payload.clone();
        if let Json::Object(context) = &mut context {
            context.remove("turn_id");
        }
        if self.context != context {
            self.context = context;
            self.keep(line);
        }
    }

    fn item(&mut self, line: Entry) {
        let Entry {
            time, is_wrapped, ..
        } = line;
        match items::read(line.payload) {
            Item::Reply(part) => {
                self.ends_after_outputs();
                self.part(part, time);
            }
            Item::Silent(is_encrypted) => {
                self.ends_after_outputs();
                self.encrypted += usize::from(is_encrypted);
            }
            Item::Call(call) => {
                if !self.is_counted {
                    self.ends_after_outputs();
                }
                self.part(call, time);
            }
            Item::Output(all) => {
                for mut said in all {
                    said.details.started = time;
                    if self.answer.is_empty() {
                        self.transcript.push(said)
                    } else {
                        self.outputs.push(said)
                    }
                }
            }
            Item::Given(all) => {
                self.end();
                (self.has_acted, self.has_counted) = (false, false);
                for mut said in all {
                    said.details.started = time;
                    self.transcript.push(said);
                }
            }
            Item::Other(payload) => self.keep(Entry {
                kind: Kind::Item,
                time,
                payload,
                is_wrapped,
            }),
        }
    }

    fn event(&mut self, line: Entry) {
        let text = |key: &str| text_at(&line.payload, &[key]);
        let item = match line.event().as_deref() {
            Some("user_message") => text("message")
                .map(|text| object!({ "type": "message", "role": "user", "content": text })),
            Some("agent_message") => text("message")
                .map(|text| object!({ "type": "message", "role": "assistant", "content": text })),
            Some("agent_reasoning" | "agent_reasoning_raw_content") => {
                text("text").map(|text| object!({ "type": "reasoning", "text": text }))
            }
            Some("thread_rolled_back") => {
                // Messages that were rolled back stay in place; the rollback is recorded there.
                self.end();
                let turns = line.payload.get("num_turns").cloned().unwrap_or_default();
                match self.transcript.last_mut() {
                    Some(step) => drop(step.extras.insert("num_turns_rolled_back", turns)),
                    None => self.keep(line),
                }
                return;
            }
            _ => None,
        };
        let name = line.event().unwrap_or_default();
        let is_twice = SAID_TWICE.contains(&&*name) && !self.by_events;
        match item.filter(|_| self.by_events) {
            Some(item) => self.item(Entry {
                kind: Kind::Item,
                payload: item.into(),
                ..line
            }),
            None if is_twice || UNDERSTOOD.contains(&&*name) => {}
            None => self.keep(line),
        }
    }

    /// A summary replaces all previous messages. It is part of the model's input only.
    fn compacted(&mut self, line: Entry) {
        self.end();
        let text = text_at(&line.payload, &["message"]).filter(|text| !text.is_empty());
        if let Some(text) = text {
            let message = object!({ "role": "user", "content": text, "compacted": true });
            for said in chat::read(&message.into()) {
                self.transcript.push(said);
            }
        }
        if line.payload.get("replacement_history").is_some() {
            self.keep(line);
        }
    }

    fn count(&mut self, last: Option<Usage>, all: Option<Usage>) {
        // The same count is repeated whenever rate limits are reported.
        if all.is_some() && all == self.total {
            return;
        }
        let read = |usage: Option<Usage>| usage.and_then(|usage| usage.input).unwrap_or_default();
        let is_none = |usage: Option<Usage>| {
            usage.is_some_and(|usage| (usage.input, usage.output) == (Some(0), Some(0)))
        };
        // A continued session may count from 0 again, and exceeding the context window resets all counts to 0.
        if read(all) < read(self.total) && (is_none(all) || all.is_some() && all == last) {
            self.before = self.before.plus(self.total.unwrap_or_default());
        }
        self.total = all.or(self.total);
        if is_none(last) {
            // It belongs to no reply.
            return;
        }
        if !self.has_counted {
            let last = self.transcript.last_mut();
            let is_owed = last.is_some_and(|step| step.details.usage.is_none());
            self.counts_first = !self.has_acted && (self.counts_first || !is_owed);
        }
        self.has_counted = true;
        match (self.counts_first, self.answer.is_empty()) {
            (true, _) => {
                self.end();
                self.usage = last;
            }
            (false, false) => {
                self.usage = last;
                self.end();
            }
            (false, true) => {
                if let Some(step) = self.transcript.last_mut()
                    && step.details.usage.is_none()
                {
                    step.details.usage = last;
                }
            }
        }
    }

    fn part(&mut self, part: Json, time: Option<f64>) {
        self.has_acted = true;
        self.started = self.started.or(time);
        self.answer.push(part);
    }

    fn ends_after_outputs(&mut self) {
        if !self.outputs.is_empty() {
            self.end();
        }
    }

    /// Ends the unfinished reply, if there is one.
    fn end(&mut self) {
        let parts = std::mem::take(&mut self.answer);
        let outputs = std::mem::take(&mut self.outputs);
        let started = self.started.take();
        if !parts.is_empty() {
            let mut extras = Object::new();
            for part in &parts {
                if let Some(phase) = text_at(part, &["phase"]) {
                    extras.insert("phase", phase);
                }
            }
            let details = StepDetails {
                model: self.model.clone(),
                usage: self.usage.take(),
                started,
                ..StepDetails::default()
            };
            let message = object!({ "role": "assistant", "content": parts });
            for mut said in chat::read(&message.into()) {
                if said.message.role() == Role::Assistant {
                    let reasoning = said.details.reasoning.take();
                    said.details = details.clone();
                    said.details.reasoning = reasoning;
                    said.extras = std::mem::take(&mut extras);
                }
                self.transcript.push(said);
            }
        }
        for said in outputs {
            self.transcript.push(said);
        }
    }

    /// Puts the conversation into an episode. Returns how many reasoning items are encrypted, and the lines
    /// that are not part of the conversation.
    pub fn finish(mut self, episode: &mut Episode) -> (usize, Vec<Json>) {
        self.end();
        let total = self.total.map(|total| total.plus(self.before));
        episode.total_usage = total.filter(|total| !total.is_empty());
        self.transcript.finish(episode);
        (self.encrypted, self.others)
    }
}

fn usage(value: &Json) -> Option<Usage> {
    let tokens = |key: &str| value.get(key).and_then(count);
    let usage = Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cached: tokens("cached_input_tokens"),
        reasoning: tokens("reasoning_output_tokens"),
        cost: None,
    };
    (!usage.is_empty()).then_some(usage)
}
