//! Messages exchanged by environments, agents and tools.
//!
//! Three kinds share [`Body`]: [`Message`], [`ToolRequestMessage`] (an action),
//! [`ToolResponseMessage`] (the answer to one call); [`AnyMessage`] is their union.
//! - [`read`]: JSON to message, and the kind of message that a JSON object becomes.
//! - [`dump`]: message to JSON, with all its options.
//! - [`text`]: display texts, joining, appending.
//! - [`create`]: messages with images. [`respond`]: answers to calls.

pub mod create;
pub mod dump;
pub mod error;
pub mod read;
pub mod respond;
pub mod text;

pub use dump::DumpOptions;
pub use error::{MalformedMessageError, MessageError};
pub use read::Notes;
pub use text::join;

use crate::json::{Json, Object, Text};
use crate::tool::ToolCall;

/// The role of a plain message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person, or an environment.
    #[default]
    User,
    /// Instructions.
    System,
    Tool,
    /// A model.
    Assistant,
    /// A function (an older name of tools).
    Function,
}

impl Role {
    /// Every role, in the order in which errors list them.
    pub const ALL: [Role; 5] = [
        Role::User,
        Role::System,
        Role::Tool,
        Role::Assistant,
        Role::Function,
    ];

    /// The role of a name on the wire.
    pub fn from_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// The role on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::System => "system",
            Role::Tool => "tool",
            Role::Assistant => "assistant",
            Role::Function => "function",
        }
    }
}

/// The fields shared by all messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The stored text. JSON content is serialized, with the flag set.
    pub content: Option<Text>,
    /// Whether `content` is the text of a JSON value.
    pub content_is_json_str: bool,
    /// Metadata of the message; dumped only on request.
    pub info: Option<Object>,
    /// Whether providers with prompt caching should cache up to here.
    pub cache_breakpoint: bool,
}

/// A plain message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    pub role: Role,
    /// The content.
    pub body: Body,
}

/// An action: a message of role `assistant` that may call tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRequestMessage {
    /// The content.
    pub body: Body,
    /// The calls, in order.
    pub tool_calls: Vec<ToolCall>,
}

/// The answer to one call, with role `tool`. Its content is never null.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResponseMessage {
    /// The answer.
    pub body: Body,
    /// The tool that was called.
    pub name: Text,
    pub tool_call_id: Text,
}

/// The union of message kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyMessage {
    /// An action.
    Request(ToolRequestMessage),
    /// An answer to a call.
    Response(ToolResponseMessage),
    /// Any other message.
    Plain(Message),
}

impl Message {
    /// A message of role `user`.
    pub fn user(content: impl Into<Text>) -> Self {
        Message::new(Role::User, content)
    }

    /// A message of a role.
    pub fn new(role: Role, content: impl Into<Text>) -> Self {
        Message {
            role,
            body: Body::text(content),
        }
    }
}

impl Body {
    /// A plain text.
    pub fn text(content: impl Into<Text>) -> Self {
        Body {
            content: Some(content.into()),
            ..Body::default()
        }
    }

    /// A JSON value, stored as its text with the flag set.
    pub fn json(value: &Json) -> Self {
        Body {
            content: Some(value.to_python_text().into()),
            content_is_json_str: true,
            ..Body::default()
        }
    }
}

impl AnyMessage {
    /// The body of the message, whatever its kind.
    pub fn body(&self) -> &Body {
        match self {
            AnyMessage::Request(message) => &message.body,
            AnyMessage::Response(message) => &message.body,
            AnyMessage::Plain(message) => &message.body,
        }
    }

    /// The role on the wire.
    pub fn role(&self) -> Role {
        match self {
            AnyMessage::Request(_) => Role::Assistant,
            AnyMessage::Response(_) => Role::Tool,
            AnyMessage::Plain(message) => message.role,
        }
    }
}

impl From<Message> for AnyMessage {
    fn from(message: Message) -> Self {
        AnyMessage::Plain(message)
    }
}

impl From<ToolRequestMessage> for AnyMessage {
    fn from(message: ToolRequestMessage) -> Self {
        AnyMessage::Request(message)
    }
}

impl From<ToolResponseMessage> for AnyMessage {
    fn from(message: ToolResponseMessage) -> Self {
        AnyMessage::Response(message)
    }
}
