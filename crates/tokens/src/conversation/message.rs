//! Messages of a text-only conversation.

use volary_core::{Json, Object, Text, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChatRole {
    /// The rules of the conversation.
    System,
    User,
    /// The model.
    Assistant,
    Tool,
}

impl ChatRole {
    /// The role on the wire.
    pub fn name(self) -> &'static str {
        match self {
            ChatRole::System => "system",
            ChatRole::User => "user",
            ChatRole::Assistant => "assistant",
            ChatRole::Tool => "tool",
        }
    }

    /// Parses a role.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [
            ChatRole::System,
            ChatRole::User,
            ChatRole::Assistant,
            ChatRole::Tool,
        ];
        all.into_iter().find(|role| role.name() == name)
    }
}

/// A flat message: an assistant's contains the raw text with its markup, a tool's the name of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    pub role: ChatRole,
    /// The text.
    pub content: Text,
    /// The name of the tool; only for messages of tools.
    pub name: Option<Text>,
}

/// Why a JSON value is not a flat message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A message needs a role (system, user, assistant or tool) and a text as content: {0}")]
pub struct MessageError(String);

impl ChatMessage {
    /// A message without a name.
    pub fn new(role: ChatRole, content: impl Into<Text>) -> Self {
        ChatMessage {
            role,
            content: content.into(),
            name: None,
        }
    }

    /// A message with the result of a tool.
    pub fn tool(name: impl Into<Text>, content: impl Into<Text>) -> Self {
        ChatMessage {
            role: ChatRole::Tool,
            content: content.into(),
            name: Some(name.into()),
        }
    }

    /// The message on the wire.
    pub fn to_json(&self) -> Json {
        let mut object = Object::new();
        object.insert("role", self.role.name());
        if let Some(name) = &self.name {
            object.insert("name", name.clone());
        }
        object.insert("content", self.content.clone());
        Json::Object(object)
    }

    /// Reads a message from the wire. Keys other than role, name and content are ignored.
    pub fn from_json(value: &Json) -> Result<Self, MessageError> {
        let read = || {
            Some(ChatMessage {
                role: ChatRole::from_name(value.get("role")?.as_text()?)?,
                content: value.get("content")?.as_text()?.clone(),
                name: match value.get("name").unwrap_or(&json!(null)) {
                    Json::Null => None,
                    name => Some(name.as_text()?.clone()),
                },
            })
        };
        read().ok_or_else(|| MessageError(value.to_repr()))
    }
}
