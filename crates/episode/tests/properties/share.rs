//! Links come back as what they were made from, or say why not.

use proptest::collection::vec;
use proptest::prelude::*;
use volary_core::json::Json;
use volary_core::tool::ToolCallFunction;
use volary_core::{AnyMessage, ToolCall, ToolRequestMessage};
use volary_episode::diff::identical;
use volary_episode::native::{messages_to_json, recipe_to_json};
use volary_episode::share::{LIMIT, ShareError, decode, encode};
use volary_episode::{Recipe, call_id};

use crate::episodes::{message, recipe};
use crate::values::object;

fn action() -> impl Strategy<Value = AnyMessage> {
    let plain_calls = vec(("[a-z]{1,4}", object()), 0..3).prop_map(|calls| {
        let calls = calls.into_iter().enumerate();
        let tool_calls = calls.map(|(index, (name, arguments))| ToolCall {
            id: call_id(0, index),
            function: ToolCallFunction {
                name: name.into(),
                arguments,
            },
        });
        AnyMessage::Request(ToolRequestMessage {
            tool_calls: tool_calls.collect(),
            ..ToolRequestMessage::default()
        })
    });
    prop_oneof![plain_calls, message()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn what_is_shared_comes_back(recipe in recipe(), actions in vec(action(), 0..5)) {
        match encode(&recipe, &actions) {
            Err(ShareError::TooLong { length, .. }) => prop_assert!(length > LIMIT),
            Err(other) => prop_assert!(false, "{}", other),
            Ok(text) => {
                prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
                let shared = decode(&text).unwrap();
                prop_assert!(identical(&recipe_to_json(&recipe), &recipe_to_json(&shared.recipe)));
                prop_assert!(identical(&messages_to_json(&actions), &messages_to_json(&shared.actions)));
            }
        }
    }

    #[test]
    fn a_cut_or_changed_link_is_refused(
        recipe in recipe(), cut in any::<prop::sample::Index>(), other in "[A-Za-z0-9_.-]"
    ) {
        let text = encode(&recipe, []).unwrap();
        let offset = cut.index(text.len());
        prop_assert!(decode(&text[..offset]).is_err());
        let mut changed = text.clone();
        changed.replace_range(offset..=offset, &other);
        // A few bits mean nothing; a change of any other is noticed.
        if let Ok(shared) = decode(&changed) {
            prop_assert!(identical(&recipe_to_json(&recipe), &recipe_to_json(&shared.recipe)));
        }
    }

    #[test]
    fn any_text_is_refused(text in any::<String>(), alphabet in "1[A-Za-z0-9_-]{0,80}") {
        prop_assert!(decode(&text).is_err());
        prop_assert!(decode(&alphabet).is_err());
    }
}

#[test]
fn errors_are_distinguished() {
    let text = encode(&Recipe::default(), []).unwrap();
    assert_eq!(decode(&text[..text.len() / 2]), Err(ShareError::Cut));
    assert_eq!(decode(""), Err(ShareError::Cut));
    assert_eq!(decode("hello"), Err(ShareError::Damaged));
    assert_eq!(decode("2abc"), Err(ShareError::Newer { version: '2' }));
}

#[test]
fn an_ordinary_episode_of_hundreds_of_steps_fits() {
    let action = |step: usize| {
        let arguments = volary_core::object!({ "expr": (format!("{step} + {}", step * 7)) });
        let call = ToolCall {
            id: call_id(step, 0),
            function: ToolCallFunction {
                name: "calculator".into(),
                arguments,
            },
        };
        AnyMessage::Request(ToolRequestMessage {
            tool_calls: vec![call],
            ..ToolRequestMessage::default()
        })
    };
    let actions: Vec<_> = (0..500).map(action).collect();
    assert!(encode(&Recipe::default(), &actions).is_ok());
    let actions: Vec<_> = (0..5_000).map(action).collect();
    let refused = encode(&Recipe::default(), &actions).unwrap_err();
    assert!(refused.to_string().contains("file instead"));
}

#[test]
fn a_link_that_unpacks_to_megabytes_is_refused() {
    let text = Json::from(" ".repeat(5 << 20)).to_compact_text();
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 9);
    let text = <base64ct::Base64UrlUnpadded as base64ct::Encoding>::encode_string(&packed);
    assert!(matches!(
        decode(&format!("1{text}")),
        Err(ShareError::TooLarge { .. })
    ));
}
