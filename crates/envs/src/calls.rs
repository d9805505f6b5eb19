//! Calls and their replies among messages: what views and oracles look at.

use volary_core::json::{Json, Key, Object, Text};
use volary_core::message::{AnyMessage, Body, ToolRequestMessage, ToolResponseMessage};
use volary_core::random::Random;
use volary_core::tool::ToolCall;

/// A call with the reply that it got; `None` if its step failed.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// The reply.
    pub reply: Option<&'a ToolResponseMessage>,
}

impl<'a> Exchange<'a> {
    /// The name of the tool.
    pub fn tool(&self) -> &'a str {
        &self.call.function.name
    }

    /// The content of the reply.
    pub fn content(&self) -> Option<Text> {
        self.reply?.body.content.clone()
    }
}

/// Every call in order, with its reply. A reply answers the first unanswered call of the latest
/// action that has its id and its name.
pub fn exchanges(messages: &[AnyMessage]) -> Vec<Exchange<'_>> {
    let mut exchanges: Vec<Exchange<'_>> = Vec::with_capacity(messages.len() / 2);
    let mut latest_action = 0;
    for message in messages {
        match message {
            AnyMessage::Request(request) => {
                latest_action = exchanges.len();
                exchanges.extend(
                    request
                        .tool_calls
                        .iter()
                        .map(|call| Exchange { call, reply: None }),
                );
            }
            AnyMessage::Response(reply) => {
                let asked = exchanges.iter_mut().skip(latest_action).find(|exchange| {
                    exchange.reply.is_none()
                        && exchange.call.id == reply.tool_call_id
                        && exchange.call.function.name == reply.name
                });
                if let Some(exchange) = asked {
                    exchange.reply = Some(reply);
                }
            }
            AnyMessage::Plain(_) => {}
        }
    }
    exchanges
}

/// An action of calls, with ids that follow from how much was said before, so that an oracle is
/// deterministic.
pub fn action<const N: usize>(
    messages: &[AnyMessage],
    calls: [(&'static str, Object); N],
) -> ToolRequestMessage {
    let mut random = Random::new(messages.len() as u64);
    let tool_calls = calls
        .into_iter()
        .map(|(name, arguments)| ToolCall::from_name(name, arguments, &mut random))
        .collect();
    ToolRequestMessage {
        body: Body::default(),
        tool_calls,
    }
}

/// Arguments of one member.
pub fn argument(key: impl Into<Key>, value: impl Into<Json>) -> Object {
    let mut arguments = Object::new();
    arguments.insert(key, value);
    arguments
}
