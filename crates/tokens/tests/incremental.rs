//! Conversations in pieces have the same text and tokens as the template's rendering of the whole.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;
use volary_core::{Json, json};
use volary_tokens::{Builtin, ChatMessage, ChatRole, Conversation, RenderedMode};

fn role() -> impl Strategy<Value = ChatRole> {
    prop_oneof![
        1 => Just(ChatRole::System),
        4 => Just(ChatRole::User),
        4 => Just(ChatRole::Assistant),
        3 => Just(ChatRole::Tool),
    ]
}

/// Texts that contain the marks of templates, complete and partial.
fn content() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("<think>"),
        Just("</think>"),
        Just("<tool_response>"),
        Just("</tool_response>"),
        Just("<|im_start|>"),
        Just("<|im_end|>"),
        Just("\n"),
        Just("\n\n"),
        Just(" "),
        Just("a"),
        Just("why ü 🦀"),
    ];
    vec(part, 0..7).prop_map(|parts| parts.concat())
}

fn message() -> impl Strategy<Value = ChatMessage> {
    (role(), content()).prop_map(|(role, content)| ChatMessage::new(role, content))
}

fn template() -> impl Strategy<Value = Builtin> {
    proptest::sample::select(&Builtin::ALL[..])
}

fn tools() -> Vec<Json> {
    vec![json!({"type": "function", "function": {"name": "f", "description": "é"}})]
}

proptest! {
    #[test]
    fn pieces_are_the_whole(builtin in template(), messages in vec(message(), 1..9)) {
        let template = Rc::new(builtin.template().unwrap());
        let mut pieces = Conversation::new(Rc::clone(&template));
        let mut whole = Conversation::whole(template);
        for message in messages {
            pieces.push(message.clone());
            whole.push(message);
            for tools in [Vec::new(), tools()] {
                for prompt in [false, true] {
                    prop_assert_eq!(
                        pieces.render(&tools, prompt),
                        whole.render(&tools, prompt)
                    );
                }
            }
        }
    }

    #[test]
    fn deltas_are_those_of_the_whole(
        builtin in template(),
        messages in vec(message(), 1..9),
        with_header: bool,
    ) {
        let template = Rc::new(builtin.template().unwrap());
        for mode in [RenderedMode::Seed, RenderedMode::Fixed] {
            let mut pieces = Conversation::new(Rc::clone(&template));
            let mut whole = Conversation::whole(Rc::clone(&template));
            for message in &messages {
                prop_assert_eq!(
                    pieces.push_for_delta(message.clone(), mode, with_header),
                    whole.push_for_delta(message.clone(), mode, with_header)
                );
            }
        }
    }
}
