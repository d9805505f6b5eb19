//! Answers to calls.

use super::error::MessageError;
use super::{Body, ToolRequestMessage, ToolResponseMessage};
use crate::json::Json;
use crate::tool::ToolCall;

impl ToolResponseMessage {
    /// The answer to a call, with its id and name. The body must have content.
    pub fn from_call(call: &ToolCall, body: Body) -> Self {
        ToolResponseMessage {
            body,
            name: call.function.name.clone(),
            tool_call_id: call.id.clone(),
        }
    }

    /// The answers to all calls of a request, one content per call, read like message contents.
    pub fn from_request(
        request: &ToolRequestMessage,
        contents: &[Json],
    ) -> Result<Vec<Self>, MessageError> {
        if request.tool_calls.len() != contents.len() {
            return Err(MessageError::Unpaired {
                calls: request.tool_calls.len(),
                contents: contents.len(),
            });
        }
        request
            .tool_calls
            .iter()
            .zip(contents)
            .map(|(call, content)| {
                let body = super::read::response_body(content)?;
                Ok(ToolResponseMessage::from_call(call, body))
            })
            .collect()
    }
}
