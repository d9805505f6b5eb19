//! Histories in each provider's format: the positions of instructions, images and the model's text.

use volary_agent::model::{ModelRequest, ParameterFallback, ParameterFallbacks, ProviderKind};
use volary_core::AnyMessage;
use volary_core::json::Json;

use crate::requests::{at, body, http, messages, request};

#[test]
fn instructions_are_where_the_provider_expects_them() {
    let request = ModelRequest {
        messages: messages(
            r#"[{"role":"system","content":"One."},{"role":"system","content":"Two."},{"role":"user","content":"a"},
                {"role":"system","content":"Three."}]"#,
        ),
        ..request()
    };
    let anthropic = body(ProviderKind::Anthropic, &request);
    assert_eq!(at(&anthropic, "system"), r#""One.\n\nTwo.""#);
    assert_eq!(at(&anthropic, "messages.0.content.1.text"), r#""Three.""#);
    let gemini = body(ProviderKind::Gemini, &request);
    assert_eq!(
        at(&gemini, "systemInstruction.parts"),
        r#"[{"text":"One."},{"text":"Two."}]"#
    );
    assert_eq!(
        at(&gemini, "contents.1"),
        r#"{"role":"user","parts":[{"text":"Three."}]}"#
    );
    assert_eq!(
        at(&body(ProviderKind::OpenAiChat, &request), "messages.3.role"),
        r#""system""#
    );
    assert_eq!(
        at(
            &body(ProviderKind::OpenAiResponses, &request),
            "input.3.role"
        ),
        r#""system""#
    );
    assert_eq!(
        at(&body(ProviderKind::Mistral, &request), "messages.3.role"),
        r#""user""#
    );
}

#[test]
fn images_of_users_and_tools() {
    let picture = r#"[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]"#;
    let text = format!(
        r#"[{{"role":"user","content":{picture}}},
            {{"role":"assistant","tool_calls":[{{"id":"abcDEF123","function":{{"name":"peek","arguments":{{}}}}}}]}},
            {{"role":"tool","content":{},"name":"peek","tool_call_id":"abcDEF123"}}]"#,
        Json::from(picture).to_compact_text()
    );
    let mut messages = messages(&text);
    if let Some(AnyMessage::Response(response)) = messages.last_mut() {
        response.body.content_is_json_str = true;
    }
    let request = ModelRequest {
        messages,
        model: "gemini-3.8-flash".into(),
        ..request()
    };
    let url = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}"#;
    let chat = body(ProviderKind::OpenAiChat, &request);
    assert_eq!(at(&chat, "messages.0.content.1"), url);
    assert_eq!(at(&chat, "messages.2.content"), r#""see""#);
    assert_eq!(at(&chat, "messages.3.content.1"), url);
    assert_eq!(
        at(
            &body(ProviderKind::Mistral, &request),
            "messages.2.content.1"
        ),
        url
    );
    let responses = body(ProviderKind::OpenAiResponses, &request);
    let image =
        r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}"#;
    assert_eq!(at(&responses, "input.0.content.1"), image);
    assert_eq!(at(&responses, "input.2.output.1"), image);
    let anthropic = body(ProviderKind::Anthropic, &request);
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}"#;
    assert_eq!(at(&anthropic, "messages.0.content.1"), image);
    assert_eq!(at(&anthropic, "messages.2.content.0.content.1"), image);
    let image = r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#;
    let gemini = body(ProviderKind::Gemini, &request);
    assert_eq!(at(&gemini, "contents.0.parts.1"), image);
    assert_eq!(
        at(&gemini, "contents.2.parts.0.functionResponse.parts.0"),
        image
    );
    let older = ModelRequest {
        model: "gemini-2.5-flash".into(),
        ..request
    };
    let gemini = body(ProviderKind::Gemini, &older);
    assert_eq!(at(&gemini, "contents.2.parts.1"), "");
    assert_eq!(at(&gemini, "contents.3.parts.0"), image);
}

#[test]
fn gemini_signs_calls_that_it_did_not_make() {
    let request = ModelRequest {
        model: "gemini-4-argon".into(),
        messages: messages(
            r#"[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[
                {"id":"a","function":{"name":"peek","arguments":{}}},{"id":"b","function":{"name":"peek","arguments":{}}}]}]"#,
        ),
        ..request()
    };
    let sent = body(ProviderKind::Gemini, &request);
    assert_eq!(
        at(&sent, "contents.1.parts.0.thoughtSignature"),
        r#""skip_thought_signature_validator""#
    );
    assert_eq!(at(&sent, "contents.1.parts.1.thoughtSignature"), "");
    // Its own ids are unknown to it.
    assert_eq!(at(&sent, "contents.2.parts.0.functionResponse.id"), "");
    let older = ModelRequest {
        model: "gemini-2.5-pro".into(),
        ..request
    };
    assert!(
        !http(ProviderKind::Gemini, &older)
            .body
            .contains("thoughtSignature")
    );
}

#[test]
fn words_are_put_between_tools_and_users_where_they_must_be() {
    let history = r#"[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[
        {"id":"abcDEF123","function":{"name":"peek","arguments":{}}}]},
        {"role":"tool","content":"b","name":"peek","tool_call_id":"abcDEF123"},{"role":"user","content":"c"}]"#;
    let request = ModelRequest {
        messages: messages(history),
        ..request()
    };
    assert_eq!(
        at(&body(ProviderKind::Mistral, &request), "messages.3.role"),
        r#""assistant""#
    );
    assert_eq!(
        at(&body(ProviderKind::OpenAiChat, &request), "messages.3.role"),
        r#""user""#
    );
    let fallbacks = ModelRequest {
        fallbacks: ParameterFallbacks::default()
            .with(ParameterFallback::Bridge)
            .with(ParameterFallback::EmptyReasoning),
        ..request
    };
    let chat = body(ProviderKind::OpenAiChat, &fallbacks);
    assert_eq!(at(&chat, "messages.3.role"), r#""assistant""#);
    assert_eq!(at(&chat, "messages.1.reasoning_content"), r#""""#);
}
