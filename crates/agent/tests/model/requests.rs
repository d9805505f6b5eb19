//! Requests: the rules of each provider, one by one.

use volary_agent::model::{ApiKey, HttpRequest, ModelRequest, ProviderKind, ToolChoice};
use volary_core::json::{Json, read};
use volary_core::{AnyMessage, Tool};

pub fn messages(text: &str) -> Vec<AnyMessage> {
    let list = read(text).unwrap();
    let messages = list.as_list().unwrap().iter();
    messages
        .map(|message| AnyMessage::read(message).unwrap())
        .collect()
}

pub fn request() -> ModelRequest {
    let tool = r#"{"type":"function","function":{"name":"calculator","description":"Calculates.","parameters":
        {"type":"object","properties":{"expr":{"type":"string","description":"What."}},"required":["expr"]}}}"#;
    let bare = r#"{"type":"function","function":{"name":"peek","description":"Peeks.","parameters":
        {"type":"object","properties":{},"required":[]}}}"#;
    ModelRequest {
        model: "a-model".into(),
        messages: messages(
            r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"2+2?"}]"#,
        ),
        tools: [tool, bare]
            .map(|tool| Tool::read(&read(tool).unwrap()).unwrap())
            .to_vec(),
        tool_choice: Some(ToolChoice::Required),
        ..ModelRequest::default()
    }
}

pub fn http(kind: ProviderKind, request: &ModelRequest) -> HttpRequest {
    kind.provider().request(
        "https://x.example/v1",
        &ApiKey::new("sk-secret-key"),
        request,
    )
}

pub fn body(kind: ProviderKind, request: &ModelRequest) -> Json {
    read(&http(kind, request).body).unwrap()
}

/// The value at a path of keys and indices, as JSON text; empty if it is missing.
pub fn at(value: &Json, path: &str) -> String {
    let found = path
        .split('.')
        .try_fold(value, |value, key| match key.parse::<usize>() {
            Ok(index) => value.as_list()?.get(index),
            Err(_) => value.get(key),
        });
    found.map(Json::to_compact_text).unwrap_or_default()
}

#[test]
fn keys_are_only_in_headers() {
    for kind in ProviderKind::ALL {
        let http = http(kind, &request());
        assert!(!http.url.contains("secret") && !http.body.contains("secret"));
        assert!(!http.to_curl().contains("secret") && http.to_curl().contains("YOUR_API_KEY"));
        let exposed: Vec<String> = http
            .headers
            .iter()
            .map(|(_, value)| value.expose())
            .collect();
        assert_eq!(
            exposed
                .iter()
                .filter(|value| value.contains("sk-secret-key"))
                .count(),
            1
        );
        let models = kind
            .provider()
            .models("https://x.example", &ApiKey::new("sk-secret-key"));
        assert_eq!(models.method(), "GET");
        assert!(!models.url.contains("secret"));
        // No key, no header.
        let keyless = kind
            .provider()
            .request("https://x.example", &ApiKey::default(), &request());
        assert!(!format!("{:?}", keyless.headers).contains("Secret"));
    }
}

#[test]
fn mistral_gets_no_other_headers_than_it_lets_through() {
    let http = http(ProviderKind::Mistral, &request());
    let names: Vec<&str> = http.headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["content-type", "authorization"]);
}

#[test]
fn gemini_gets_no_empty_objects_of_parameters() {
    let sent = body(ProviderKind::Gemini, &request());
    assert_ne!(
        at(&sent, "tools.0.functionDeclarations.0.parametersJsonSchema"),
        ""
    );
    assert_eq!(
        at(&sent, "tools.0.functionDeclarations.1.parametersJsonSchema"),
        ""
    );
}

#[test]
fn responses_are_not_stored_there() {
    let sent = body(ProviderKind::OpenAiResponses, &request());
    assert_eq!(at(&sent, "store"), "false");
    assert_eq!(at(&sent, "include"), r#"["reasoning.encrypted_content"]"#);
}

#[test]
fn lists_of_models_are_read() {
    for (kind, list, names) in [
        (
            ProviderKind::OpenAiChat,
            r#"{"object":"list","data":[{"id":"a","object":"model"},{"id":"b"},{"name":"c"}]}"#,
            vec!["a", "b"],
        ),
        (ProviderKind::OpenAiChat, r#"[{"id":"a"}]"#, vec!["a"]),
        (
            ProviderKind::Anthropic,
            r#"{"data":[{"type":"model","id":"claude-haiku-5-5","display_name":"x"}],"has_more":false}"#,
            vec!["claude-haiku-5-5"],
        ),
        (
            ProviderKind::Gemini,
            r#"{"models":[{"name":"models/g","supportedGenerationMethods":["generateContent"]},{"name":"models/e","supportedGenerationMethods":["embedContent"]}]}"#,
            vec!["g"],
        ),
        (
            ProviderKind::Sglang,
            r#"{"object":"list","data":[{"id":"Qwen/Qwen2.5-7B-Instruct","object":"model"}]}"#,
            vec!["Qwen/Qwen2.5-7B-Instruct"],
        ),
        (ProviderKind::Mistral, r#"{"data":[]}"#, vec![]),
        (ProviderKind::Mistral, r#""nothing""#, vec![]),
    ] {
        let found = kind.provider().read_models(&read(list).unwrap());
        assert_eq!(found.iter().map(|name| &**name).collect::<Vec<_>>(), names);
    }
}
