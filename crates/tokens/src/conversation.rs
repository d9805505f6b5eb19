//! Flat messages, and the text that each adds to the rendered conversation.
//!
//! A training loop needs the difference between two renderings of the whole history at each turn. [`Conversation`]
//! computes the same difference, but renders only the messages that a new one affects: with a built-in template the
//! work is linear in the length of the episode. Other templates are rendered as a whole.

mod message;
mod pieces;

use std::rc::Rc;

use volary_core::Json;

use crate::delta::{Delta, DeltaError, RenderedMode};
use crate::template::{Builtin, ChatTemplate, RenderInput, TemplateError};
pub use message::{ChatMessage, ChatRole, MessageError};
use pieces::Pieces;

/// The two renderings whose difference is the text of a message. A common prefix is removed from both where it is
/// known, so they are as short as the template allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The messages before, without a generation prompt.
    pub before: String,
    /// The messages before, with a generation prompt. Only for a message of the assistant.
    pub prompted: Option<String>,
    /// With the new message.
    pub after: String,
}

/// An incrementally rendered conversation. Tools are omitted: they are in the system block, which is the same in both
/// renderings of a difference.
#[derive(Clone, Debug)]
pub struct Conversation {
    template: Rc<ChatTemplate>,
    messages: Vec<ChatMessage>,
    /// The pieces of a built-in template's text; `None` for other templates.
    pieces: Option<Pieces>,
}

impl Conversation {
    /// An empty conversation with a template.
    pub fn new(template: Rc<ChatTemplate>) -> Self {
        let pieces = Builtin::of_source(template.source()).map(Pieces::new);
        Conversation {
            template,
            messages: Vec::new(),
            pieces,
        }
    }

    /// An empty conversation that is rendered as a whole each time, like the original.
    pub fn whole(template: Rc<ChatTemplate>) -> Self {
        Conversation {
            template,
            messages: Vec::new(),
            pieces: None,
        }
    }

    pub fn template(&self) -> &Rc<ChatTemplate> {
        &self.template
    }

    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// Adds a message without computing its difference.
    pub fn push(&mut self, message: ChatMessage) {
        if let Some(pieces) = &mut self.pieces {
            pieces.push(&message);
        }
        self.messages.push(message);
    }

    /// Adds a message, and returns the renderings before and after it. The message is added even if a rendering
    /// fails.
    pub fn push_for_change(&mut self, message: ChatMessage) -> Result<Change, TemplateError> {
        let is_assistant = message.role == ChatRole::Assistant;
        if self.messages.is_empty() {
            self.push(message);
            return Err(TemplateError::NoMessages);
        }
        if let Some(pieces) = &mut self.pieces {
            let (before, after) = pieces.push(&message);
            let prompted = is_assistant.then(|| format!("{before}{}", pieces.prompt()));
            self.messages.push(message);
            return Ok(Change {
                before,
                prompted,
                after,
            });
        }
        let before = self.render(&[], false);
        let prompted = is_assistant.then(|| self.render(&[], true)).transpose();
        self.messages.push(message);
        let after = self.render(&[], false);
        Ok(Change {
            before: before?,
            prompted: prompted?,
            after: after?,
        })
    }

    /// The text of all messages.
    pub fn render(
        &self,
        tools: &[Json],
        add_generation_prompt: bool,
    ) -> Result<String, TemplateError> {
        if let Some(text) = self.joined(tools, add_generation_prompt)? {
            return Ok(text);
        }
        let messages: Vec<Json> = self.messages.iter().map(ChatMessage::to_json).collect();
        self.template.render(&RenderInput {
            messages: &messages,
            tools,
            add_generation_prompt,
            ..RenderInput::default()
        })
    }

    /// The text joined from the pieces: the head, which is the only piece with the tools, and the other messages.
    fn joined(
        &self,
        tools: &[Json],
        add_generation_prompt: bool,
    ) -> Result<Option<String>, TemplateError> {
        let (Some(pieces), Some(first)) = (&self.pieces, self.messages.first()) else {
            return Ok(None);
        };
        let mut text = match tools {
            [] => pieces.first().to_owned(),
            // The head is the only output of a leading system message.
            tools if first.role == ChatRole::System => self.template.render(&RenderInput {
                messages: &[first.to_json()],
                tools,
                ..RenderInput::default()
            })?,
            _ => return Ok(None),
        };
        pieces.write_rest(&mut text);
        if add_generation_prompt {
            text.push_str(pieces.prompt());
        }
        Ok(Some(text))
    }

    /// Adds a message, and returns the tokens that it adds, by comparing renderings; see [`crate::delta`].
    pub fn push_for_delta(
        &mut self,
        message: ChatMessage,
        mode: RenderedMode,
        with_header: bool,
    ) -> Result<Delta, DeltaError> {
        let is_user = message.role == ChatRole::User;
        let change = self.push_for_change(message)?;
        let alone = || {
            let last = self.messages.last().filter(|_| is_user)?;
            Some(self.template.render(&RenderInput {
                messages: &[last.to_json()],
                ..RenderInput::default()
            }))
        };
        Delta::of_change(mode, &change, with_header, alone)
    }
}
