//! Parameters under each provider's names, and omitted where they were rejected.

use volary_agent::model::{
    ApiKey, Effort, ModelRequest, ParameterFallback, ParameterFallbacks, ProviderKind, ToolChoice,
};

use crate::requests::{at, body, http, request};

#[test]
fn tool_choices_in_every_tongue() {
    let named = ToolChoice::Tool("peek".into());
    for (kind, path, expected) in [
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
        for (choice, expected) in choices.into_iter().zip(expected) {
            let request = ModelRequest {
                tool_choice: Some(choice),
                ..request()
            };
            assert_eq!(at(&body(kind, &request), path), expected);
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
                fallbacks: ParameterFallbacks::default().with(ParameterFallback::NoToolChoice),
                ..request()
            },
        ] {
            assert_eq!(at(&body(kind, &silent), path), "", "{kind:?}");
        }
        let free = ModelRequest {
            fallbacks: ParameterFallbacks::default().with(ParameterFallback::FreeChoice),
            ..request()
        };
        assert_eq!(at(&body(kind, &free), path), expected[1]);
    }
}

#[test]
fn schemas_of_answers_in_every_tongue() {
    let schema = r#"{"type":"object"}"#;
    let request = ModelRequest {
        schema: Some(volary_core::json::read(schema).unwrap()),
        effort: Some(Effort::Low),
        ..request()
    };
    let named = format!(r#"{{"name":"answer","strict":true,"schema":{schema}}}"#);
    for (kind, path, expected) in [
        (
            ProviderKind::OpenAiChat,
            "response_format.json_schema",
            named.clone(),
        ),
        (
            ProviderKind::Mistral,
            "response_format.json_schema",
            named.clone(),
        ),
        (
            ProviderKind::OpenAiResponses,
            "text.format.schema",
            schema.to_owned(),
        ),
        (
            ProviderKind::Anthropic,
            "output_config.format",
            format!(r#"{{"type":"json_schema","schema":{schema}}}"#),
        ),
        (
            ProviderKind::Gemini,
            "generationConfig.responseJsonSchema",
            schema.to_owned(),
        ),
    ] {
        assert_eq!(at(&body(kind, &request), path), expected, "{kind:?}");
        let refused = ModelRequest {
            fallbacks: ParameterFallbacks::default().with(ParameterFallback::NoSchema),
            ..request.clone()
        };
        assert_eq!(at(&body(kind, &refused), path), "", "{kind:?}");
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
fn rejected_parameters_are_omitted() {
    let all = ParameterFallback::ALL
        .into_iter()
        .fold(ParameterFallbacks::default(), ParameterFallbacks::with);
    let request = ModelRequest {
        temperature: Some(0.5),
        max_tokens: Some(99),
        stop: vec!["END".into()],
        seed: Some(7),
        effort: Some(Effort::High),
        stream: true,
        fallbacks: all,
        ..request()
    };
    // SGLang's parameters are constant.
    let kinds = ProviderKind::ALL.into_iter();
    for kind in kinds.filter(|kind| *kind != ProviderKind::Sglang) {
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
    // Anthropic: thinking and forced tool use exclude each other.
    let forced = body(
        ProviderKind::Anthropic,
        &with(Effort::High, "m", ToolChoice::Required),
    );
    assert_eq!(
        (at(&forced, "thinking"), at(&forced, "output_config")),
        (String::new(), r#"{"effort":"high"}"#.into())
    );
}
