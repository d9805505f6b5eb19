//! Any history becomes a request that every provider accepts, as far as its rules are known.

use proptest::prelude::*;
use volary_agent::model::{ApiKey, ModelRequest, ProviderKind, ToolChoice};
use volary_core::json::{Json, read};
use volary_core::{AnyMessage, Tool};

fn tool() -> Tool {
    let tool = r#"{"type":"function","function":{"name":"f","description":"d","parameters":
        {"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}}"#;
    Tool::read(&read(tool).unwrap()).unwrap()
}

fn message() -> impl Strategy<Value = AnyMessage> {
    let id = prop::sample::select(vec!["", "a", "b", "call_1", "toolu.1/é", "abcDEF123"]);
    let text = prop::sample::select(vec!["", " ", "words", "é\n\"q\""]);
    let name = prop::sample::select(vec!["f", "", "no such tool!", "INVALID"]);
    let image = r#"[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]"#;
    let image = volary_core::Message {
        body: volary_core::message::Body::json(&read(image).unwrap()),
        ..volary_core::Message::user("")
    };
    prop_oneof![
        text.clone()
            .prop_map(|text| volary_core::Message::user(text).into()),
        Just(image.into()),
        text.clone()
            .prop_map(|text| volary_core::Message::new(volary_core::Role::System, text).into()),
        text.clone()
            .prop_map(|text| volary_core::Message::new(volary_core::Role::Assistant, text).into()),
        (
            text.clone(),
            prop::collection::vec((id.clone(), name), 0..3)
        )
            .prop_map(|(text, calls)| {
                let calls = calls.into_iter().map(|(id, name)| {
                    volary_core::ToolCall::new(id, name, volary_core::object!({"x": 1}))
                });
                volary_core::ToolRequestMessage {
                    body: volary_core::message::Body::text(text),
                    tool_calls: calls.collect(),
                }
                .into()
            }),
        (text, id).prop_map(|(text, id)| {
            let call = volary_core::ToolCall::new(id, "f", Default::default());
            let body = volary_core::message::Body::text(text);
            volary_core::ToolResponseMessage::from_call(&call, body).into()
        }),
    ]
}

fn body(kind: ProviderKind, messages: &[AnyMessage]) -> Json {
    let request = ModelRequest {
        model: "gemini-3.8-flash".into(),
        messages: messages.to_vec(),
        tools: vec![tool()],
        tool_choice: Some(ToolChoice::Required),
        ..ModelRequest::default()
    };
    let http = kind
        .provider()
        .request("https://x.example/v1", &ApiKey::new("k"), &request);
    read(&http.body).unwrap()
}

fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value
        .get(key)
        .and_then(Json::as_list)
        .unwrap_or_else(|| panic!("no list {key} in {value:?}"))
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value
        .get(key)
        .and_then(Json::as_text)
        .map_or("", |text| text)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Every call is answered directly after its message, in order, once; ids are unique; there is some text, and the
/// last message is not the model's.
fn check_chat(body: &Json, is_mistral: bool) {
    let messages = list(body, "messages");
    let mut used = std::collections::HashSet::new();
    let mut waiting: Vec<String> = Vec::new();
    let mut before = "";
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            assert_eq!(waiting.remove(0), text(message, "tool_call_id"));
            assert!(
                message
                    .get("content")
                    .is_some_and(|content| !content.is_null())
            );
        } else {
            assert!(waiting.is_empty(), "unanswered: {waiting:?}");
        }
        if role == "assistant" {
            let calls = message
                .get("tool_calls")
                .and_then(Json::as_list)
                .unwrap_or(&[]);
            assert!(!calls.is_empty() || !text(message, "content").trim().is_empty());
            for call in calls {
                let id = text(call, "id");
                assert!(!id.is_empty() && used.insert(id.to_owned()), "{id}");
                assert!(
                    !is_mistral
                        || id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
                );
                let function = call.get("function").unwrap();
                assert!(is_name(text(function, "name")));
                assert!(matches!(
                    read(text(function, "arguments")),
                    Ok(Json::Object(_))
                ));
                waiting.push(id.to_owned());
            }
        }
        assert!(!(is_mistral && before == "tool" && role == "user"));
        before = role;
    }
    assert!(waiting.is_empty());
    assert!(["user", "tool"].contains(&before), "{before}");
}

/// User and assistant alternate, and the user is first and last; every use has its result in the next message, first
/// and in order; no text is blank.
fn check_anthropic(body: &Json) {
    let messages = list(body, "messages");
    let mut waiting: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        let content = list(message, "content");
        assert!(!content.is_empty());
        if index > 0 {
            assert_ne!(role, text(&messages[index - 1], "role"));
        }
        let results: Vec<&str> = content
            .iter()
            .take_while(|block| text(block, "type") == "tool_result")
            .map(|block| text(block, "tool_use_id"))
            .collect();
        assert_eq!(results, waiting);
        assert!(
            content[results.len()..]
                .iter()
                .all(|block| text(block, "type") != "tool_result")
        );
        waiting = content
            .iter()
            .filter(|block| text(block, "type") == "tool_use")
            .map(|block| text(block, "id"))
            .collect();
        assert!(waiting.is_empty() || role == "assistant");
        for block in content.iter().filter(|block| text(block, "type") == "text") {
            assert!(!text(block, "text").trim().is_empty());
        }
    }
    assert!(waiting.is_empty());
    assert_eq!(
        messages.last().map(|message| text(message, "role")),
        Some("user")
    );
}

fn check_responses(body: &Json) {
    let items = list(body, "input");
    let of = |kind: &'static str| items.iter().filter(move |item| text(item, "type") == kind);
    let calls: Vec<&str> = of("function_call")
        .map(|item| text(item, "call_id"))
        .collect();
    let outputs: Vec<&str> = of("function_call_output")
        .map(|item| text(item, "call_id"))
        .collect();
    assert_eq!(calls, outputs);
    let distinct: std::collections::HashSet<&str> = calls.iter().copied().collect();
    assert_eq!(distinct.len(), calls.len());
    assert!(of("function_call").all(|item| is_name(text(item, "name"))));
    assert!(items.iter().any(|item| text(item, "role") == "user") || !calls.is_empty());
}

/// The next content has as many answers as there are calls; the first of parallel calls is signed.
fn check_gemini(body: &Json) {
    let contents = list(body, "contents");
    let count = |content: &Json, key: &str| {
        list(content, "parts")
            .iter()
            .filter(|part| part.get(key).is_some())
            .count()
    };
    let mut waiting = 0;
    for content in contents {
        assert!(!list(content, "parts").is_empty());
        assert_eq!(count(content, "functionResponse"), waiting);
        waiting = count(content, "functionCall");
        if waiting > 0 {
            let mut calls = list(content, "parts")
                .iter()
                .filter(|part| part.get("functionCall").is_some());
            assert!(calls.next().unwrap().get("thoughtSignature").is_some());
            assert!(calls.all(|part| part.get("thoughtSignature").is_none()));
        }
    }
    assert_eq!(waiting, 0);
    assert_eq!(
        contents.last().map(|content| text(content, "role")),
        Some("user")
    );
}

proptest! {
    #[test]
    fn any_history_keeps_the_rules(messages in prop::collection::vec(message(), 0..12)) {
        check_chat(&body(ProviderKind::OpenAiChat, &messages), false);
        check_chat(&body(ProviderKind::Mistral, &messages), true);
        check_anthropic(&body(ProviderKind::Anthropic, &messages));
        check_responses(&body(ProviderKind::OpenAiResponses, &messages));
        check_gemini(&body(ProviderKind::Gemini, &messages));
    }
}
