//! The messages of a sample.
//!
//! Prompts are texts in the markup of their template. What the model wrote is decoded without special tokens, and the
//! environment's observation follows each turn as raw text, also the last turn. So a text without markup is a turn, and the
//! next one an observation; this also holds for NeMo-Gym, whose texts are all empty. Validation data have the same texts with
//! their roles.

use volary_core::json::{Json, Text};
use volary_core::{Message, Role, object};

use crate::import::chat;
use crate::import::slime;
use crate::import::transcript::{ImportedMessage, Transcript};

/// The role of observations in validation data.
const ENVIRONMENT: &str = "environment";

/// What was said in a sample.
#[derive(Default)]
pub(super) struct Conversation {
    pub transcript: Transcript,
    /// The name of the task: that of the first message of the user.
    pub task: Option<Text>,
    /// The role of a first text without markup.
    first_role: Role,
    /// What the template began the turn of the model with, such as `<think>`.
    begun: Option<Text>,
    /// Whether the next text without markup is an observation.
    is_observed: bool,
    /// Whether each text without markup is a turn.
    has_only_turns: bool,
}

impl Conversation {
    /// Reads messages. `trained_runs` is the number of runs of trained tokens, if that is known: the model wrote as many
    /// messages, unless nothing came between two of them.
    pub fn of(messages: Vec<Json>, trained_runs: Option<usize>) -> Conversation {
        let is_marked = |said: &Json| Some(slime::is_marked(said.as_text()?));
        let mut later = messages.iter().skip(1).map(is_marked);
        // The system prompt is logged without the markup that the model sees.
        let has_system = messages.first().and_then(is_marked) == Some(false)
            && later.clone().next() == Some(Some(true));
        let plain = later.by_ref().filter(|is| *is == Some(false)).count();
        let mut conversation = Conversation {
            first_role: if has_system { Role::System } else { Role::User },
            has_only_turns: trained_runs == Some(plain),
            ..Conversation::default()
        };
        for said in messages {
            match said {
                Json::Text(text) => conversation.text(text),
                Json::List(_) => {
                    conversation.message(object!({ "role": "user", "content": said }).into());
                }
                said => conversation.message(said),
            }
        }
        conversation.end_begun();
        conversation
    }

    /// Adds a text whose role is in its markup, or follows from its position.
    fn text(&mut self, text: Text) {
        let is_first = self.transcript.position().is_none() && self.begun.is_none();
        if slime::is_marked(&text) {
            self.marked(&text, Vec::new());
        } else if is_first {
            self.push(Message::new(self.first_role, text).into());
        } else if self.is_observed {
            self.observation(text);
        } else {
            self.turn(&text);
        }
    }

    /// Adds a message that names its role. The markup in its content names the roles again.
    fn message(&mut self, said: Json) {
        let role = said.get("role").and_then(Json::as_text);
        let has_role = |name: &str| role.is_some_and(|role| **role == *name);
        let is_plain = said.as_object().is_some_and(|members| members.len() == 2);
        match said.get("content").filter(|_| is_plain) {
            Some(Json::Text(text)) if slime::is_marked(text) => self.marked(text, Vec::new()),
            Some(Json::Text(text)) if has_role(ENVIRONMENT) => self.observation(text.clone()),
            Some(Json::Text(text)) if has_role("assistant") => self.turn(text),
            Some(Json::List(blocks)) => self.blocks(blocks, &said),
            _ => self.read(&said),
        }
    }

    /// Adds a message whose content is these blocks. Its text may have markup.
    fn blocks(&mut self, blocks: &[Json], said: &Json) {
        let text: String = blocks.iter().filter_map(text_of).collect();
        let others = blocks.iter().filter(|block| text_of(block).is_none());
        if slime::is_marked(&text) {
            self.marked(&text, others.cloned().collect())
        } else {
            self.read(said)
        }
    }

    /// Adds the messages of a text with markup. The first one of the user also has these blocks, such as images.
    fn marked(&mut self, text: &str, mut blocks: Vec<Json>) {
        self.end_begun();
        let (messages, begun) = slime::marked_messages(text);
        let last = messages.last().map(|message| message.role);
        self.is_observed = begun.is_none() && last == Some(Role::Assistant);
        self.begun = begun;
        for message in messages {
            match message.role {
                Role::User if !blocks.is_empty() => {
                    let text = message.body.content.unwrap_or_default();
                    blocks.push(object!({ "type": "text", "text": text }).into());
                    let blocks = std::mem::take(&mut blocks);
                    self.read(&object!({ "role": "user", "content": blocks }).into());
                }
                Role::User => self.push(message.into()),
                _ => slime::push_message(&mut self.transcript, message),
            }
        }
        if !blocks.is_empty() {
            self.read(&object!({ "role": "user", "content": blocks }).into());
        }
    }

    /// Adds what the model wrote. What the template began the turn with is kept apart: its tokens are those of the prompt.
    fn turn(&mut self, text: &str) {
        slime::push_response(&mut self.transcript, text);
        if let Some(begun) = self.begun.take()
            && let Some(step) = self.transcript.last_mut()
        {
            step.extras.insert("begun_with", begun);
        }
        self.is_observed = !self.has_only_turns;
    }

    /// Adds what the environment returned: the result of a call if there is one.
    fn observation(&mut self, text: Text) {
        let name = if self.transcript.expects_answer() {
            Text::default()
        } else {
            ENVIRONMENT.into()
        };
        let said = chat::answer(Text::default(), name, text.into());
        self.transcript.push(said);
        self.is_observed = false;
    }

    fn read(&mut self, said: &Json) {
        for said in chat::read(said) {
            self.push(said);
        }
    }

    fn push(&mut self, said: ImportedMessage) {
        if said.message.role() == Role::User && self.task.is_none() {
            let task = slime::task_of(&[slime::plain(&said.message)]);
            self.task = task.filter(|task| !task.is_empty());
        }
        self.transcript.push(slime::with_calls(said));
    }

    /// Adds what ends a text with markup, as the turn that it is if no other text continues it.
    fn end_begun(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.turn(&begun);
        }
    }
}

/// The text of a block.
fn text_of(block: &Json) -> Option<&str> {
    Some(&**block.get("text")?.as_text()?)
}
