//! Joins the conversations of steps. Most repeat the one before them and add to it, but agents may begin again, shorten
//! their histories, or drop the reasoning of earlier turns. Steps of agents that keep no conversation have an input and
//! an output.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use volary_core::json::{Json, Text};
use volary_core::{Message, Role};
use volary_episode::episode::Episode;

use crate::import::chat;
use crate::import::slime;
use crate::import::transcript::Transcript;

/// The conversation of a step, as hashes of its messages.
#[derive(Default)]
pub(super) struct Talk(Vec<u64>);

impl Talk {
    /// Whether a step continues this conversation of `steps` steps. Steps without a conversation continue any. The same
    /// conversation again may be that of all steps, which has a reply for each of them.
    pub fn is_continued_by(&self, step: &Json, steps: usize) -> bool {
        let Some(messages) = conversation(step) else {
            return true;
        };
        let hashes: Vec<u64> = messages.iter().map(hash).collect();
        let replies = messages.iter().filter(|message| is_reply(message)).count();
        hashes.starts_with(&self.0) && (hashes.len() > self.0.len() || steps < replies)
    }

    /// Adds a step that continues it.
    pub fn add(&mut self, step: &Json) {
        match conversation(step) {
            Some(messages) => self.0 = messages.iter().map(hash).collect(),
            None => {
                let seen = seen(step).map(|seen| hash_of("user", &seen));
                let said = said(step).map(|said| hash_of("assistant", &said));
                self.0.extend(seen.into_iter().chain(said));
            }
        }
    }
}

/// The messages of a step, if it has some.
fn conversation(step: &Json) -> Option<&[Json]> {
    let messages = step.get("chat_completions")?.as_list()?;
    (!messages.is_empty()).then_some(messages)
}

/// What the agent saw, in a step without a conversation.
fn seen(step: &Json) -> Option<Text> {
    let mut keys = ["observation", "input"].into_iter();
    keys.find_map(|key| text(step, key))
}

/// What the agent answered, in a step without a conversation.
fn said(step: &Json) -> Option<Text> {
    let mut keys = ["model_response", "action", "output"].into_iter();
    keys.find_map(|key| text(step, key))
}

/// A member as a text; `None` if it is empty.
fn text(step: &Json, key: &str) -> Option<Text> {
    match step.get(key)? {
        Json::Null => None,
        Json::Text(text) => (!text.is_empty()).then(|| text.clone()),
        other => Some(other.to_python_text().into()),
    }
}

/// The messages of steps, each of them once, with the reasoning of the step in which it was said.
pub(super) struct JoinedConversation {
    transcript: Transcript,
    /// The last conversations that no later one continues, as hashes of their messages.
    open: Vec<Vec<u64>>,
    /// The index of the action of each step among those of the transcript, if the step has one.
    actions: Vec<Option<usize>>,
    has_prompt: bool,
}

impl JoinedConversation {
    /// Starts without messages. If it has a prompt, the first step begins with messages that are input, even those of an
    /// assistant.
    pub fn new(has_prompt: bool) -> Self {
        JoinedConversation {
            transcript: Transcript::default(),
            open: Vec::new(),
            actions: Vec::new(),
            has_prompt,
        }
    }

    /// Adds the messages of a step that are new.
    pub fn add(&mut self, step: &Json) {
        self.actions.push(None);
        let Some(talk) = conversation(step) else {
            return self.add_turn(step);
        };
        let hashes: Vec<u64> = talk.iter().map(hash).collect();
        let reply = talk.iter().rposition(is_reply);
        for index in self.new_messages(talk, hashes) {
            let is_reply = Some(index) == reply;
            let is_input = self.has_prompt && self.actions.len() == 1 && !is_reply;
            for said in chat::read(&talk[index]) {
                let said = slime::with_calls(said);
                if is_input {
                    self.transcript.observe(said)
                } else {
                    self.transcript.push(said)
                }
            }
            if is_reply && let Some(action) = self.actions.last_mut() {
                *action = self.transcript.len().checked_sub(1);
            }
        }
    }

    /// Moves the messages into an episode.
    pub fn finish(self, steps: &[Json], episode: &mut Episode) {
        self.transcript.finish(episode);
        // The conversation of the first step may be that of all steps.
        let is_each = steps.len() == episode.steps.len();
        for (index, (step, action)) in steps.iter().zip(self.actions).enumerate() {
            let action = if is_each { Some(index) } else { action };
            let action = action.and_then(|action| episode.steps.get_mut(action));
            if let (Some(action), Some(thought)) = (action, thought(step)) {
                let text = action.action.body().content_or_empty();
                let is_said = text.contains(&*thought);
                let reasoning = &mut action.details.reasoning;
                *reasoning = reasoning.take().or((!is_said).then_some(thought));
            }
        }
    }

    /// The indices of the messages that are new.
    fn new_messages(&mut self, talk: &[Json], hashes: Vec<u64>) -> Vec<usize> {
        let count = hashes.len();
        let continued = self.open.iter_mut().filter(|open| hashes.starts_with(open));
        if let Some(open) = continued.max_by_key(|open| open.len()) {
            let mut known = open.len();
            *open = hashes;
            let mut replies = (0..count).filter(|index| is_reply(&talk[*index]));
            let of_steps = replies.clone().count();
            if known == count && self.actions.len() > of_steps {
                // The same was seen and said again.
                replies.next_back();
                known = replies.next_back().map_or(0, |index| index + 1);
            }
            return (known..count).collect();
        }
        // What was said in this step is new, even if the same was said before.
        let reply = talk.iter().rposition(is_reply).unwrap_or(count);
        let mut indices: HashMap<u64, Vec<usize>> = HashMap::new();
        let last = self.open.last().into_iter().flatten();
        for (index, hash) in last.enumerate() {
            indices.entry(*hash).or_default().push(index);
        }
        let mut from = 0;
        let mut is_known = |hash: &u64| {
            let indices = indices.get(hash).map(Vec::as_slice).unwrap_or_default();
            let next = indices.partition_point(|index| *index < from);
            let found = indices.get(next);
            from = found.map_or(from, |index| index + 1);
            found.is_some()
        };
        let is_new = |index: &usize| *index >= reply || !is_known(&hashes[*index]);
        let new = (0..count).filter(is_new).collect();
        self.open(hashes);
        new
    }

    fn open(&mut self, hashes: Vec<u64>) {
        /// The number of conversations that a later one may continue.
        const MOST: usize = 16;
        if self.open.len() == MOST {
            self.open.remove(0);
        }
        self.open.push(hashes);
    }

    /// Adds a step without a conversation: what the agent saw and what it answered.
    fn add_turn(&mut self, step: &Json) {
        let mut hashes = self.open.pop().unwrap_or_default();
        if let Some(seen) = seen(step) {
            hashes.push(hash_of("user", &seen));
            self.transcript.observe(Message::user(seen).into());
        }
        if let Some(said) = said(step) {
            hashes.push(hash_of("assistant", &said));
            let message = Message::new(Role::Assistant, said);
            self.transcript.push(slime::with_calls(message.into()));
            if let Some(action) = self.actions.last_mut() {
                *action = self.transcript.len().checked_sub(1);
            }
        }
        self.open(hashes);
    }
}

fn is_reply(message: &Json) -> bool {
    let role = message.get("role").and_then(Json::as_text);
    role.is_some_and(|role| &**role == "assistant")
}

fn thought(step: &Json) -> Option<Text> {
    let thought = step.get("thought")?;
    let text = match thought {
        Json::Null => return None,
        Json::Text(text) => text.clone(),
        other => other.to_python_text().into(),
    };
    (!text.trim().is_empty()).then_some(text)
}

/// Identifies a message, without its reasoning.
fn hash(message: &Json) -> u64 {
    let text = |key: &str| match message.get(key) {
        None | Some(Json::Null) => Text::default(),
        Some(Json::Text(text)) => text.clone(),
        Some(other) => other.to_compact_text().into(),
    };
    let calls = match message.get("tool_calls") {
        Some(Json::List(calls)) if calls.is_empty() => Text::default(),
        _ => text("tool_calls"),
    };
    let content = hash_of(&text("role"), &text("content"));
    if calls.is_empty() && text("tool_call_id").is_empty() {
        return content;
    }
    let mut hasher = DefaultHasher::new();
    (content, &*calls, &*text("tool_call_id")).hash(&mut hasher);
    hasher.finish()
}

fn hash_of(role: &str, content: &str) -> u64 {
    // Templates drop it from earlier turns.
    let content = match role {
        "assistant" => content.rsplit("</think>").next().unwrap_or_default(),
        _ => content,
    };
    let mut hasher = DefaultHasher::new();
    (role, content.trim()).hash(&mut hasher);
    hasher.finish()
}
