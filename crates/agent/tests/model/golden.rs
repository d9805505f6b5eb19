//! The bodies of requests, byte for byte: `tests/golden/requests` has a file for each provider, with one body per line.
//! `UPDATE_GOLDEN=1` rewrites the files. (Unit tests of the wire types read the same files.)

use std::path::Path;

use volary_agent::model::{
    Effort, ModelRequest, ParameterFallback, ParameterFallbacks, ProviderKind, ToolChoice,
};

use crate::echoes;
use crate::fixtures::all;
use crate::requests::{http, messages, request};

const TALK: &str = r#"[
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "See “é”\n"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://x.example/cat.JPG?size=1"}}]},
    {"role": "assistant", "content": "I calculate.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "calculator",
            "arguments": "{\"expr\": \"2+2\", \"large\": 123456789012345678901234567890123456789012345, \"float\": 1.0}"}},
        {"id": "", "type": "function", "function": {"name": "peek", "arguments": "{}"}}]},
    {"role": "tool", "name": "calculator", "tool_call_id": "call_1", "content": "4"},
    {"role": "tool", "name": "peek", "tool_call_id": "", "content": [{"type": "text", "text": "there"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,BBBB"}}]},
    {"role": "system", "content": "Be kind."},
    {"role": "assistant", "content": "Four."},
    {"role": "user", "content": "And 3+3?"}
]"#;

fn cases() -> Vec<ModelRequest> {
    let full = ModelRequest {
        messages: messages(TALK),
        temperature: Some(0.25),
        max_tokens: Some(1000),
        stop: vec!["END".into(), "\n\n".into()],
        seed: Some(-7),
        effort: Some(Effort::High),
        stream: true,
        ..request()
    };
    let mut cases = vec![
        request(),
        ModelRequest {
            tools: Vec::new(),
            ..request()
        },
        full.clone(),
        ModelRequest {
            model: "gemini-2.5-flash".into(),
            tool_choice: None,
            ..full.clone()
        },
    ];
    for (choice, effort) in [
        (ToolChoice::Auto, Effort::None),
        (ToolChoice::None, Effort::Low),
        (ToolChoice::Tool("peek".into()), Effort::Medium),
        (ToolChoice::Word("any".into()), Effort::High),
    ] {
        cases.push(ModelRequest {
            tool_choice: Some(choice),
            effort: Some(effort),
            ..request()
        });
    }
    for fallback in ParameterFallback::ALL {
        cases.push(ModelRequest {
            fallbacks: ParameterFallbacks::default().with(fallback),
            ..full.clone()
        });
    }
    let schema = r#"{"type": "object", "properties": {"label": {"type": "string"}}}"#;
    cases.push(ModelRequest {
        schema: Some(volary_core::json::read(schema).unwrap()),
        ..full
    });
    cases
}

#[test]
fn bodies_match_the_golden_files() {
    for kind in ProviderKind::ALL {
        let mut bodies: Vec<String> = cases()
            .iter()
            .map(|request| http(kind, request).body)
            .collect();
        let mut fixtures = all();
        fixtures.retain(|fixture| fixture.kind == kind);
        bodies.extend(fixtures.iter().filter_map(echoes::body_after));
        let bodies = bodies.join("\n") + "\n";
        let name = kind.provider().name();
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/golden/requests/{name}.jsonl"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &bodies).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        for (index, (body, golden)) in bodies.lines().zip(golden.lines()).enumerate() {
            assert_eq!(body, golden, "{name}, line {}", index + 1);
        }
        assert_eq!(bodies.lines().count(), golden.lines().count(), "{name}");
    }
}
