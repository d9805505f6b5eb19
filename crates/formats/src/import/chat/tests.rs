//! Conversations in the formats of chat models.

use volary_episode::native::message_to_json;

use super::*;

fn read_text(text: &str) -> String {
    let said = read(&Json::parse(text).unwrap());
    let said: Vec<String> = said
        .iter()
        .map(|said| message_to_json(&said.message).to_python_text())
        .collect();
    said.join("\n")
}

/// Contents of texts and images are blocks; any other block would make them JSON.
#[test]
fn audio_has_a_text_instead() {
    let message = |blocks: &str| {
        let text = format!(r#"{{"role": "user", "content": [{blocks}]}}"#);
        let said = read(&Json::parse(&text).unwrap()).remove(0);
        let body = said.message.body().clone();
        (body.blocks().map(|blocks| blocks.len()), body)
    };
    let audio = r#"{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}"#;
    let (count, body) = message(&format!(r#"{{"type": "text", "text": "Listen"}}, {audio}"#));
    assert_eq!(count, Some(2));
    assert!(body.content.unwrap().contains("[audio: wav]"));
    let kept = body.info.unwrap().get("audio").unwrap().to_compact_text();
    assert!(kept.contains("UklGRg=="));
    let (_, alone) = message(audio);
    assert_eq!(alone.content.as_deref(), Some("[audio: wav]"));
    let (_, unnamed) = message(r#"{"type": "audio_url", "audio_url": {"url": "a.wav"}}"#);
    assert_eq!(unnamed.content.as_deref(), Some("[audio]"));
}

#[test]
fn messages_of_all_shapes_are_read() {
    let cases = [
        (
            r#"{"role": "user", "content": "Hi"}"#,
            r#"{"role": "user", "content": "Hi"}"#,
        ),
        (
            r#"{"role": "developer", "content": [{"type": "text", "text": "Be brief."}], "id": 4}"#,
            r#"{"role": "system", "content": "Be brief.", "info": {"id": 4}}"#,
        ),
        (
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}"#,
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "name": "f", "arguments": {"x": 1}}]}"#,
        ),
        (
            r#"{"role": "assistant", "content": null, "tool_calls": "[{\"id\": \"c\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]"}"#,
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]}"#,
        ),
        (
            r#"{"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "arguments": "{broken"}]}"#,
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "name": "f", "arguments": {"(arguments)": "{broken"}}]}"#,
        ),
        (
            r#"{"role": "tool", "tool_call_id": "c", "name": "f", "content": "3"}"#,
            r#"{"role": "tool", "content": "3", "name": "f", "tool_call_id": "c"}"#,
        ),
        (
            r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "3"}]}, {"type": "text", "text": "And?"}]}"#,
            "{\"role\": \"tool\", \"content\": \"3\", \"name\": \"\", \"tool_call_id\": \"c\"}\n{\"role\": \"user\", \"content\": \"And?\"}",
        ),
        (
            r#"{"role": "oracle", "content": "x"}"#,
            r#"{"role": "user", "content": "x", "info": {"role": "oracle"}}"#,
        ),
        (
            r#"{"role": "user", "content": "x", "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]}"#,
            r#"{"role": "user", "content": "x", "info": {"tool_calls": [{"id": "c", "type": "function", "function": {"arguments": "{}", "name": "f"}}]}}"#,
        ),
        (
            r#"{"content": 3}"#,
            r#"{"role": "user", "content": "3", "content_is_json_str": true}"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read_text(text), expected);
    }
}

#[test]
fn reasoning_is_separate() {
    let value = Json::parse(
        r#"{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}]}"#,
    );
    let said = read(&value.unwrap());
    assert_eq!(said[0].details.reasoning.as_deref(), Some("Hm."));
    assert!(
        matches!(&said[0].message, AnyMessage::Request(request) if request.tool_calls.len() == 1)
    );
}

#[test]
fn encrypted_reasoning_is_no_text() {
    let value = Json::parse(
        r#"{"role": "assistant", "content": [
            {"type": "redacted_thinking", "data": "QUJD"},
            {"type": "thinking", "thinking": "", "signature": "REVG"},
            {"type": "reasoning", "reasoning": "R0hJ", "redacted": true},
            {"type": "thinking", "thinking": ""},
            {"type": "text", "text": "Two."}]}"#,
    );
    let said = read(&value.unwrap());
    assert_eq!(said[0].details.reasoning, None);
    let body = said[0].message.body();
    assert_eq!(body.content.as_deref(), Some("Two."));
    let kept = body
        .info
        .as_ref()
        .and_then(|info| info.get("redacted_reasoning")?.as_list());
    let kept: Vec<&str> = kept
        .unwrap()
        .iter()
        .filter_map(|block| Some(&**block.get("type")?.as_text()?))
        .collect();
    assert_eq!(kept, ["redacted_thinking", "thinking", "reasoning"]);
    let summarized = Json::parse(
        r#"{"role": "assistant", "content": [{"type": "reasoning", "reasoning": "R0hJ", "redacted": true, "summary": "I count."}]}"#,
    );
    let said = read(&summarized.unwrap());
    assert_eq!(said[0].details.reasoning.as_deref(), Some("I count."));
}

#[test]
fn tokens_are_counted_alike() {
    let read = |text: &str| usage(&Json::parse(text).unwrap());
    let openai = read(
        r#"{"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}"#,
    );
    let anthropic = read(
        r#"{"input_tokens": 6, "output_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0}"#,
    );
    assert_eq!(openai, anthropic);
    assert_eq!(read("{}"), None);
}
