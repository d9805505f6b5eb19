//! A provider that echoes the key: no delta, answer, record or error contains it, however it was split.

use proptest::prelude::*;
use volary_agent::model::exchange::Keeping;
use volary_agent::model::{ApiKey, Delta, DeltaRedactor, ProviderKind, Reply};
use volary_core::json;
use volary_core::json::Json;

const KEY: &str = "sk-\"very\"/secret+0123456789";

/// The text of an answer that contains the key.
#[derive(Clone, Copy, Debug)]
enum Where {
    Text,
    Thinking,
    Arguments,
}

/// The events of a stream with pieces of a text.
fn events(kind: ProviderKind, part: Where, pieces: &[&str]) -> Vec<Json> {
    let mut so_far = String::new();
    let mut event = |piece: &&str| {
        let piece = *piece;
        so_far.push_str(piece);
        match (kind, part) {
            (ProviderKind::OpenAiChat | ProviderKind::Mistral, Where::Arguments) => json!({
                "choices": [{"index": 0, "delta": {"tool_calls": [
                    {"index": 0, "id": "c", "function": {"name": "f", "arguments": (piece)}}
                ]}}]
            }),
            (ProviderKind::OpenAiChat, Where::Thinking) => {
                json!({"choices": [{"index": 0, "delta": {"reasoning_content": (piece)}}]})
            }
            (ProviderKind::Mistral, Where::Thinking) => json!({
                "choices": [{"index": 0, "delta": {"content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": (piece)}]}
                ]}}]
            }),
            (ProviderKind::OpenAiChat | ProviderKind::Mistral, Where::Text) => {
                json!({"choices": [{"index": 0, "delta": {"content": (piece)}}]})
            }
            (ProviderKind::OpenAiResponses, part) => {
                let name = match part {
                    Where::Text => "response.output_text.delta",
                    Where::Thinking => "response.reasoning_summary_text.delta",
                    Where::Arguments => "response.function_call_arguments.delta",
                };
                json!({"type": (name), "item_id": "i", "output_index": 0, "content_index": 0, "delta": (piece)})
            }
            (ProviderKind::Anthropic, part) => {
                let delta = match part {
                    Where::Text => json!({"type": "text_delta", "text": (piece)}),
                    Where::Thinking => json!({"type": "thinking_delta", "thinking": (piece)}),
                    Where::Arguments => {
                        json!({"type": "input_json_delta", "partial_json": (piece)})
                    }
                };
                json!({"type": "content_block_delta", "index": 0, "delta": (delta)})
            }
            // Each event repeats the complete reply, which has only text.
            (ProviderKind::Sglang, _) => {
                json!({"text": (so_far.as_str()), "meta_info": {"finish_reason": null}})
            }
            // It has no server, so no stream and no key.
            (ProviderKind::PromptApi, _) => Json::Null,
            (ProviderKind::Gemini, part) => {
                let thought = matches!(part, Where::Thinking);
                json!({"candidates": [{"index": 0, "content": {"parts": [{"text": (piece), "thought": (thought)}]}}]})
            }
        }
    };
    let mut events = Vec::new();
    if let (ProviderKind::OpenAiResponses, Where::Arguments) = (kind, part) {
        events.push(json!({"type": "response.output_item.added", "output_index": 0,
            "item": {"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": ""}}));
    }
    if let ProviderKind::Anthropic = kind {
        let block = match part {
            Where::Text => json!({"type": "text", "text": ""}),
            Where::Thinking => json!({"type": "thinking", "thinking": ""}),
            Where::Arguments => json!({"type": "tool_use", "id": "c", "name": "f", "input": {}}),
        };
        events.push(json!({"type": "content_block_start", "index": 0, "content_block": (block)}));
    }
    events.extend(pieces.iter().map(&mut event));
    events
}

/// A text split at some positions.
fn cut<'a>(text: &'a str, cuts: &[prop::sample::Index]) -> Vec<&'a str> {
    let mut offsets: Vec<usize> = cuts
        .iter()
        .map(|cut| text.floor_char_boundary(cut.index(text.len() + 1)))
        .collect();
    offsets.extend([0, text.len()]);
    offsets.sort_unstable();
    offsets
        .windows(2)
        .map(|pair| &text[pair[0]..pair[1]])
        .collect()
}

/// Whether a text contains the key, verbatim or escaped.
fn holds(text: &str) -> bool {
    let escaped = Json::from(KEY).to_compact_text();
    // The debug format escapes the text once more.
    let debugged = format!("{KEY:?}");
    [KEY, escaped.trim_matches('"'), debugged.trim_matches('"')]
        .iter()
        .any(|form| text.contains(form))
}

proptest! {
    #[test]
    fn a_key_in_pieces_is_recorded_nowhere(
        before in "[a-z ]{0,9}",
        after in "[a-z ]{0,9}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        kind in prop::sample::select(ProviderKind::ALL.to_vec()),
        part in prop::sample::select(vec![Where::Text, Where::Thinking, Where::Arguments]),
        is_error: bool,
    ) {
        let key = ApiKey::new(KEY);
        let mut text = format!("{before}{KEY}{after}");
        if let Where::Arguments = part {
            text = json!({"a": (text)}).to_compact_text();
        }
        let mut body = String::new();
        for event in events(kind, part, &cut(&text, &cuts)) {
            let name = event.get("type").and_then(Json::as_text).cloned().unwrap_or_default();
            if !name.is_empty() {
                body.push_str(&format!("event: {name}\n"));
            }
            body.push_str(&format!("data: {}\n\n", event.to_compact_text()));
        }
        if is_error {
            let error = json!({"type": "error", "error": {"type": (KEY), "code": (KEY), "message": (KEY)}});
            body.push_str(&format!("event: error\ndata: {}\n\n", error.to_compact_text()));
        }
        let mut keeping = Keeping::default();
        keeping.push(body.as_bytes());
        let mut reply = Reply::new(kind.provider(), &key, 200, "text/event-stream", None);
        let mut redactor = DeltaRedactor::new(&key);
        let mut deltas = Vec::new();
        let mut said = Vec::new();
        let pushed = reply.push(body.as_bytes(), &mut deltas);
        let partial = reply.partial().map(|partial| partial.redacted(&key));
        let answer = pushed.and_then(|()| reply.finish(&mut deltas));
        redactor.redact(&mut deltas);
        said.append(&mut deltas);
        redactor.finish(&mut said);
        // The test is not vacuous.
        let is_said = said.iter().any(Delta::is_content);
        prop_assert!(is_said || matches!((kind, part), (ProviderKind::Gemini, Where::Arguments)), "{kind:?} {body}");
        let mut joined = String::new();
        for delta in &said {
            match delta {
                Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments { text, .. } => joined.push_str(text),
                _ => {}
            }
        }
        prop_assert!(!holds(&joined), "{joined}");
        let kept = keeping.finish(200, "text/event-stream", &key);
        prop_assert!(!holds(&kept.body), "{}", kept.body);
        // The stored reply cannot be reassembled to the key either.
        let mut again = Reply::new(kind.provider(), &ApiKey::default(), 200, "text/event-stream", None);
        let read_again = again.push(kept.body.as_bytes(), &mut Vec::new());
        let read_again = format!("{read_again:?} {:?} {:?}", again.partial(), again.finish(&mut Vec::new()));
        prop_assert!(!holds(&read_again), "{read_again}");
        let recorded = match answer {
            Ok(answer) => format!("{:?}", answer.redacted(&key)),
            Err(error) => format!("{error} {error:?}"),
        };
        prop_assert!(!holds(&recorded), "{recorded}");
        prop_assert!(!holds(&format!("{partial:?}")), "{partial:?}");
    }
}
