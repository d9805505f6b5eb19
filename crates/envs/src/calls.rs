//! Pairs the calls among messages with their replies, for views and oracles.

use volary_core::json::{Json, Key, Object, Text};
use volary_core::message::{AnyMessage, Body, ToolRequestMessage, ToolResponseMessage};
use volary_core::random::Random;
use volary_core::tool::ToolCall;

/// A call with its reply; `None` if its step failed.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    pub call: &'a ToolCall,
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

/// All calls in order, with their replies. A reply is assigned to the first unanswered call of the latest
/// action with the same id and name.
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

/// Like [`exchanges`], but lazy and latest first: the cost depends on the number of calls taken, not on the number of
/// messages.
pub fn latest_exchanges(messages: &[AnyMessage]) -> impl Iterator<Item = Exchange<'_>> {
    let mut rest = messages;
    let actions = std::iter::from_fn(move || {
        let latest = rest
            .iter()
            .rposition(|message| matches!(message, AnyMessage::Request(_)))?;
        let (earlier, action) = rest.split_at_checked(latest)?;
        rest = earlier;
        Some(exchanges(action).into_iter().rev())
    });
    actions.flatten()
}

/// An action with these calls, with ids derived from the number of messages, so that an oracle is
/// deterministic.
pub fn action<const N: usize>(
    messages: &[AnyMessage],
    calls: [(impl Into<Text>, Object); N],
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

/// Arguments with one member.
pub fn argument(key: impl Into<Key>, value: impl Into<Json>) -> Object {
    let mut arguments = Object::new();
    arguments.insert(key, value);
    arguments
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::message::Message;

    use super::*;

    /// A random message: an action with these calls, a reply to one of them (or none), or another message.
    fn said() -> impl Strategy<Value = AnyMessage> {
        let id = || prop::sample::select(vec!["a", "b"]);
        let name = || prop::sample::select(vec!["walk", "talk"]);
        prop_oneof![
            prop::collection::vec((id(), name()), 0..4).prop_map(|calls| {
                let mut request = action(&[], [("", Object::new())]);
                request.tool_calls = calls
                    .into_iter()
                    .map(|(id, name)| {
                        let mut call =
                            ToolCall::from_name(name, Object::new(), &mut Random::new(1));
                        call.id = id.into();
                        call
                    })
                    .collect();
                AnyMessage::Request(request)
            }),
            (id(), name()).prop_map(|(id, name)| AnyMessage::Response(ToolResponseMessage {
                body: Body::default(),
                name: name.into(),
                tool_call_id: id.into(),
            })),
            Just(Message::user("Go on.").into()),
        ]
    }

    fn pointers<'a>(
        exchange: Exchange<'a>,
    ) -> (*const ToolCall, Option<*const ToolResponseMessage>) {
        (exchange.call, exchange.reply.map(|reply| reply as *const _))
    }

    proptest! {
        #[test]
        fn the_latest_first_is_all_backwards(messages in prop::collection::vec(said(), 0..12)) {
            let backwards: Vec<_> = latest_exchanges(&messages).map(pointers).collect();
            let all: Vec<_> = exchanges(&messages).into_iter().rev().map(pointers).collect();
            prop_assert_eq!(backwards, all);
        }
    }
}
