//! Display texts, joining, appending.

use std::fmt;

use super::dump::text_block;
use super::error::MessageError;
use super::{AnyMessage, Body, Message, ToolRequestMessage, ToolResponseMessage};
use crate::json::{Json, read, text_repr};

/// The content; empty if there is none.
impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.body.content_or_empty())
    }
}

/// The content, empty if there is none; with calls, a sentence that lists them.
impl fmt::Display for ToolRequestMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = self.body.content_or_empty();
        if self.tool_calls.is_empty() {
            return formatter.write_str(content);
        }
        let content = text_repr(content);
        write!(formatter, "Tool request message {content} for tool calls: ")?;
        for (index, call) in self.tool_calls.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(formatter, "{separator}{call} [id={}]", call.id)?;
        }
        Ok(())
    }
}

/// A sentence with the call and its answer.
impl fmt::Display for ToolResponseMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "Tool response message {} for tool call ID {} of tool {}",
            text_repr(self.body.content_or_empty()),
            self.tool_call_id,
            text_repr(&self.name)
        )
    }
}

impl fmt::Display for AnyMessage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyMessage::Request(message) => message.fmt(formatter),
            AnyMessage::Response(message) => message.fmt(formatter),
            AnyMessage::Plain(message) => message.fmt(formatter),
        }
    }
}

/// Joins the contents of the messages, optionally with a role before each.
pub fn join<'a>(
    messages: impl IntoIterator<Item = &'a AnyMessage>,
    delimiter: &str,
    include_roles: bool,
) -> String {
    let lines: Vec<String> = messages
        .into_iter()
        .map(|message| {
            let content = message.body().content_or_empty();
            if include_roles {
                format!("{}: {content}", message.role().as_str())
            } else {
                content.to_owned()
            }
        })
        .collect();
    lines.join(delimiter)
}

impl Body {
    /// The stored text; empty if there is none.
    pub fn content_or_empty(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }

    /// Appends a text: a text content is joined with the delimiter; JSON content, which must be a
    /// list, gets a block. Without content it becomes the content. Changes nothing if it fails.
    pub fn append_text(&mut self, text: &str, delimiter: &str) -> Result<(), MessageError> {
        self.add_text(
            text,
            |content| format!("{content}{delimiter}{text}"),
            Vec::push,
        )
    }

    /// Prepends a text; otherwise like [`Body::append_text`].
    pub fn prepend_text(&mut self, text: &str, delimiter: &str) -> Result<(), MessageError> {
        self.add_text(
            text,
            |content| format!("{text}{delimiter}{content}"),
            |blocks, block| blocks.insert(0, block),
        )
    }

    fn add_text(
        &mut self,
        text: &str,
        joined: impl Fn(&str) -> String,
        put: impl Fn(&mut Vec<Json>, Json),
    ) -> Result<(), MessageError> {
        let changed = match self.content_or_empty() {
            "" => text.to_owned(),
            content if self.content_is_json_str => {
                let value =
                    read(content).map_err(|error| MessageError::ContentNotJson { error })?;
                let Json::List(mut blocks) = value else {
                    return Err(MessageError::ContentNotList);
                };
                put(&mut blocks, text_block(text.into()));
                Json::List(blocks).to_python_text()
            }
            content => joined(content),
        };
        self.content = Some(changed.into());
        Ok(())
    }
}
