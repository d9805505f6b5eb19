//! What is sent: the rules of each provider, one by one.

use volary_agent::model::{
    ApiKey, Concession, Concessions, Effort, HttpRequest, ModelRequest, ProviderKind, ToolChoice,
};
use volary_core::json::{Json, read};
use volary_core::{AnyMessage, Tool};

const ALL: [ProviderKind; 5] = ProviderKind::ALL;

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

/// The value at a path of keys and places, as JSON text; empty if there is none.
pub fn at(value: &Json, path: &str) -> String {
    let found = path
        .split('.')
        .try_fold(value, |value, key| match key.parse::<usize>() {
            Ok(place) => value.as_list()?.get(place),
            Err(_) => value.get(key),
        });
    found.map(Json::to_compact_text).unwrap_or_default()
}

#[test]
fn keys_stand_in_headers_alone() {
    for kind in ALL {
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
fn tool_choices_in_every_tongue() {
    let named = ToolChoice::Tool("peek".into());
    for (kind, path, words) in [
        (
            ProviderKind::OpenAiChat,
            "tool_choice",
            [
                r#""required""#,
                r#""auto""#,
                r#""none""#,
                r#"{"type":"function","function":{"name":"peek"}}"#,
            ],
        ),
        (
            ProviderKind::OpenAiResponses,
            "tool_choice",
            [
                r#""required""#,
                r#""auto""#,
                r#""none""#,
                r#"{"type":"function","name":"peek"}"#,
            ],
        ),
        (
            ProviderKind::Anthropic,
            "tool_choice",
            [
                r#"{"type":"any"}"#,
                r#"{"type":"auto"}"#,
                r#"{"type":"none"}"#,
                r#"{"type":"tool","name":"peek"}"#,
            ],
        ),
        (
            ProviderKind::Gemini,
            "toolConfig.functionCallingConfig",
            [
                r#"{"mode":"ANY"}"#,
                r#"{"mode":"AUTO"}"#,
                r#"{"mode":"NONE"}"#,
                r#"{"mode":"ANY","allowedFunctionNames":["peek"]}"#,
            ],
        ),
        (
            ProviderKind::Mistral,
            "tool_choice",
            [
                r#""any""#,
                r#""auto""#,
                r#""none""#,
                r#"{"type":"function","function":{"name":"peek"}}"#,
            ],
        ),
    ] {
        let choices = [
            ToolChoice::Required,
            ToolChoice::Auto,
            ToolChoice::None,
            named.clone(),
        ];
        for (choice, words) in choices.into_iter().zip(words) {
            let request = ModelRequest {
                tool_choice: Some(choice),
                ..request()
            };
            assert_eq!(at(&body(kind, &request), path), words);
        }
        for silent in [
            ModelRequest {
                tool_choice: None,
                ..request()
            },
            ModelRequest {
                tools: Vec::new(),
                ..request()
            },
            ModelRequest {
                concessions: Concessions::default().with(Concession::NoToolChoice),
                ..request()
            },
        ] {
            assert_eq!(at(&body(kind, &silent), path), "", "{kind:?}");
        }
        let free = ModelRequest {
            concessions: Concessions::default().with(Concession::FreeChoice),
            ..request()
        };
        assert_eq!(at(&body(kind, &free), path), words[1]);
    }
}

#[test]
fn parameters_go_by_their_names() {
    let request = ModelRequest {
        temperature: Some(0.5),
        max_tokens: Some(99),
        stop: vec!["END".into()],
        seed: Some(7),
        stream: true,
        ..request()
    };
    for (kind, expected) in [
        (
            ProviderKind::OpenAiChat,
            [
                ("temperature", "0.5"),
                ("max_tokens", "99"),
                ("stop", r#"["END"]"#),
                ("seed", "7"),
                ("stream_options", r#"{"include_usage":true}"#),
            ],
        ),
        (
            ProviderKind::OpenAiResponses,
            [
                ("temperature", "0.5"),
                ("max_output_tokens", "99"),
                ("stop", ""),
                ("seed", ""),
                ("stream", "true"),
            ],
        ),
        (
            ProviderKind::Anthropic,
            [
                ("temperature", "0.5"),
                ("max_tokens", "99"),
                ("stop_sequences", r#"["END"]"#),
                ("seed", ""),
                ("stream", "true"),
            ],
        ),
        (
            ProviderKind::Gemini,
            [
                ("generationConfig.temperature", "0.5"),
                ("generationConfig.maxOutputTokens", "99"),
                ("generationConfig.stopSequences", r#"["END"]"#),
                ("generationConfig.seed", "7"),
                ("stream", ""),
            ],
        ),
        (
            ProviderKind::Mistral,
            [
                ("temperature", "0.5"),
                ("max_tokens", "99"),
                ("stop", r#"["END"]"#),
                ("random_seed", "7"),
                ("stream_options", ""),
            ],
        ),
    ] {
        let sent = body(kind, &request);
        for (path, value) in expected {
            assert_eq!(at(&sent, path), value, "{kind:?} {path}");
        }
    }
    let gemini = http(ProviderKind::Gemini, &request).url;
    assert!(
        gemini.ends_with("/v1beta/models/a-model:streamGenerateContent?alt=sse"),
        "{gemini}"
    );
    let openai = ProviderKind::OpenAiChat.provider();
    let openai = openai.request("https://api.openai.com/v1", &ApiKey::default(), &request);
    assert!(openai.body.contains(r#""max_completion_tokens":99"#));
}

#[test]
fn what_was_conceded_is_left_out() {
    let all = Concession::ALL
        .into_iter()
        .fold(Concessions::default(), Concessions::with);
    let request = ModelRequest {
        temperature: Some(0.5),
        max_tokens: Some(99),
        stop: vec!["END".into()],
        seed: Some(7),
        effort: Some(Effort::High),
        stream: true,
        concessions: all,
        ..request()
    };
    for kind in ALL {
        let sent = http(kind, &request).body;
        for gone in [
            "temperature",
            "END",
            "seed",
            "effort",
            "thinking",
            "tool_choice",
            "toolConfig",
            "stream_options",
            "include",
        ] {
            assert!(!sent.contains(gone), "{kind:?} {gone}: {sent}");
        }
    }
    assert_eq!(
        at(
            &body(ProviderKind::OpenAiChat, &request),
            "max_completion_tokens"
        ),
        "99"
    );
}

#[test]
fn effort_in_every_tongue() {
    let with = |effort, model: &str, choice| ModelRequest {
        model: model.into(),
        effort: Some(effort),
        tool_choice: Some(choice),
        ..request()
    };
    for (kind, model, effort, path, value) in [
        (
            ProviderKind::OpenAiChat,
            "m",
            Effort::Low,
            "reasoning_effort",
            r#""low""#,
        ),
        (
            ProviderKind::OpenAiChat,
            "m",
            Effort::None,
            "reasoning_effort",
            r#""none""#,
        ),
        (
            ProviderKind::OpenAiResponses,
            "m",
            Effort::High,
            "reasoning",
            r#"{"effort":"high","summary":"auto"}"#,
        ),
        (
            ProviderKind::OpenAiResponses,
            "m",
            Effort::None,
            "reasoning",
            r#"{"effort":"none"}"#,
        ),
        (
            ProviderKind::Anthropic,
            "m",
            Effort::Medium,
            "output_config",
            r#"{"effort":"medium"}"#,
        ),
        (
            ProviderKind::Anthropic,
            "m",
            Effort::Medium,
            "thinking",
            r#"{"type":"adaptive","display":"summarized"}"#,
        ),
        (
            ProviderKind::Anthropic,
            "m",
            Effort::None,
            "thinking",
            r#"{"type":"disabled"}"#,
        ),
        (
            ProviderKind::Gemini,
            "gemini-3.8-flash",
            Effort::High,
            "generationConfig.thinkingConfig",
            r#"{"thinkingLevel":"HIGH","includeThoughts":true}"#,
        ),
        (
            ProviderKind::Gemini,
            "gemini-2.5-pro",
            Effort::Low,
            "generationConfig.thinkingConfig",
            r#"{"thinkingBudget":1024,"includeThoughts":true}"#,
        ),
        (
            ProviderKind::Gemini,
            "models/gemini-2.5-flash",
            Effort::None,
            "generationConfig.thinkingConfig",
            r#"{"thinkingBudget":0,"includeThoughts":false}"#,
        ),
        (
            ProviderKind::Mistral,
            "m",
            Effort::High,
            "reasoning_effort",
            r#""high""#,
        ),
    ] {
        assert_eq!(
            at(&body(kind, &with(effort, model, ToolChoice::Auto)), path),
            value,
            "{kind:?}"
        );
    }
    // Anthropic: thinking and a demanded call exclude each other.
    let forced = body(
        ProviderKind::Anthropic,
        &with(Effort::High, "m", ToolChoice::Required),
    );
    assert_eq!(
        (at(&forced, "thinking"), at(&forced, "output_config")),
        (String::new(), r#"{"effort":"high"}"#.into())
    );
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
        (ProviderKind::Mistral, r#"{"data":[]}"#, vec![]),
        (ProviderKind::Mistral, r#""nothing""#, vec![]),
    ] {
        let found = kind.provider().read_models(&read(list).unwrap());
        assert_eq!(found.iter().map(|name| &**name).collect::<Vec<_>>(), names);
    }
}
