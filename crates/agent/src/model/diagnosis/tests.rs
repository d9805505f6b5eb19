//! Diagnoses of known failures.

use super::*;
use crate::model::connection::PRESETS;

fn connection(name: &str) -> Connection {
    let preset = PRESETS.iter().find(|preset| preset.name == name).unwrap();
    Connection {
        model: "m".into(),
        ..Connection::of(preset)
    }
}

fn page(origin: &str) -> RequestingPage {
    let address = crate::model::connection::Address::of(origin).unwrap();
    RequestingPage {
        origin: origin.into(),
        is_https: address.is_secure,
        space: address.space(),
    }
}

fn failed(name: &str, status: u16, message: &str, code: Option<&str>) -> Diagnosis {
    let error = ModelError::Status {
        status,
        message: message.into(),
        code: code.map(Into::into),
        parameter: None,
        retry_after: None,
    };
    let page = page("https://volary.example");
    diagnose(&connection(name), true, &page, &Observation::Failed(error))
}

#[test]
fn replies_are_distinguished() {
    for (name, status, message, code, problem) in [
        (
            "OpenAI",
            401,
            "Incorrect API key provided",
            Some("invalid_api_key"),
            ModelProblem::WrongKey,
        ),
        (
            "Anthropic",
            401,
            "invalid x-api-key",
            Some("authentication_error"),
            ModelProblem::WrongKey,
        ),
        (
            "Google Gemini",
            400,
            "API key not valid. Please pass a valid API key.",
            Some("INVALID_ARGUMENT"),
            ModelProblem::WrongKey,
        ),
        ("Mistral", 401, "Unauthorized", None, ModelProblem::WrongKey),
        (
            "OpenAI",
            404,
            "The model `x` does not exist",
            Some("model_not_found"),
            ModelProblem::WrongModel,
        ),
        (
            "Anthropic",
            404,
            "model: claude-x",
            Some("not_found_error"),
            ModelProblem::WrongModel,
        ),
        (
            "Mistral",
            400,
            "Invalid model: x",
            Some("1500"),
            ModelProblem::WrongModel,
        ),
        (
            "Ollama",
            404,
            "model \"x\" not found, try pulling it first",
            None,
            ModelProblem::WrongModel,
        ),
        (
            "OpenAI",
            429,
            "Rate limit reached",
            Some("rate_limit_exceeded"),
            ModelProblem::RateLimit,
        ),
        (
            "OpenAI",
            429,
            "You exceeded your current quota",
            Some("insufficient_quota"),
            ModelProblem::NoCredit,
        ),
        (
            "Anthropic",
            400,
            "Your credit balance is too low",
            Some("invalid_request_error"),
            ModelProblem::NoCredit,
        ),
        (
            "DeepSeek",
            402,
            "Insufficient Balance",
            None,
            ModelProblem::NoCredit,
        ),
        (
            "OpenAI",
            403,
            "Country, region, or territory not supported",
            None,
            ModelProblem::NotAllowed,
        ),
        (
            "Anthropic",
            529,
            "Overloaded",
            Some("overloaded_error"),
            ModelProblem::ServerFailure,
        ),
        (
            "OpenAI",
            400,
            "messages: must not be empty",
            None,
            ModelProblem::Refused,
        ),
        (
            "vLLM",
            404,
            "it returned a web page, so this is not a model API; check the base URL.",
            None,
            ModelProblem::NotAModel,
        ),
    ] {
        let found = failed(name, status, message, code);
        assert_eq!(found.problem, problem, "{status} {message}");
        assert!(found.why.contains(message), "{}", found.why);
        assert!(!found.remedy.is_empty() && !found.what.is_empty());
    }
}

#[test]
fn a_missing_key_differs_from_a_wrong_one() {
    let error = ModelError::Status {
        status: 401,
        message: "no".into(),
        code: None,
        parameter: None,
        retry_after: None,
    };
    let found = of_error(&connection("OpenAI"), false, &error);
    assert_eq!(found.problem, ModelProblem::NoKey);
    assert!(
        found
            .remedy
            .contains("https://platform.openai.com/api-keys")
    );
}

#[test]
fn chat_completions_send_on_to_responses() {
    let message = "Function tools are not supported in /v1/chat/completions. Use /v1/responses.";
    let found = failed("OpenAI (Chat Completions)", 400, message, None);
    assert!(found.remedy.contains("provider OpenAI"), "{}", found.remedy);
}

#[test]
fn failures_within_a_reply_are_distinguished() {
    let connection = connection("OpenAI");
    for (error, problem) in [
        (ModelError::Cut, ModelProblem::Interrupted),
        (ModelError::TokenLimit, ModelProblem::NoAction),
        (
            ModelError::Reported {
                message: "slow".into(),
                code: Some("rate_limit_error".into()),
                transient: true,
            },
            ModelProblem::RateLimit,
        ),
        (
            ModelError::Reported {
                message: "Overloaded".into(),
                code: Some("overloaded_error".into()),
                transient: true,
            },
            ModelProblem::ServerFailure,
        ),
    ] {
        assert_eq!(
            of_error(&connection, true, &error).problem,
            problem,
            "{error}"
        );
    }
}

fn silent(
    name: &str,
    origin: &str,
    answers_without_cors: Option<bool>,
    permission: Option<Permission>,
) -> Diagnosis {
    let observation = Observation::NoReply {
        answers_without_cors,
        permission,
        is_online: true,
    };
    diagnose(&connection(name), true, &page(origin), &observation)
}

#[test]
fn causes_of_silence_are_distinguished_as_far_as_a_page_can() {
    let public = "https://volary.example";
    let near = "http://localhost:8000";
    let denied = Some(Permission::Denied);
    let prompt = Some(Permission::Prompt);
    let granted = Some(Permission::Granted);
    for (name, origin, answers, permission, problem) in [
        ("OpenAI", public, Some(true), None, ModelProblem::Cors),
        (
            "OpenAI",
            public,
            Some(false),
            None,
            ModelProblem::Unreachable,
        ),
        ("OpenAI", public, None, None, ModelProblem::Unreachable),
        ("Ollama", public, Some(true), granted, ModelProblem::Cors),
        (
            "Ollama",
            public,
            Some(false),
            denied,
            ModelProblem::LocalNetwork,
        ),
        (
            "Ollama",
            public,
            Some(false),
            prompt,
            ModelProblem::LocalNetwork,
        ),
        (
            "Ollama",
            public,
            Some(false),
            granted,
            ModelProblem::Unreachable,
        ),
        (
            "Ollama",
            public,
            Some(false),
            None,
            ModelProblem::MixedContent,
        ),
        (
            "Ollama",
            near,
            Some(false),
            denied,
            ModelProblem::Unreachable,
        ),
        (
            "Ollama",
            "http://volary.example",
            Some(false),
            None,
            ModelProblem::Unreachable,
        ),
    ] {
        let found = silent(name, origin, answers, permission);
        assert_eq!(
            found.problem, problem,
            "{name} {origin} {answers:?} {permission:?}"
        );
    }
}

#[test]
fn http_addresses_of_other_machines_are_mixed_content() {
    let mut connection = connection("vLLM");
    connection.base_url = "http://models.example/v1".into();
    let observation = Observation::NoReply {
        answers_without_cors: Some(false),
        permission: None,
        is_online: true,
    };
    let secure = diagnose(
        &connection,
        true,
        &page("https://volary.example"),
        &observation,
    );
    assert_eq!(secure.problem, ModelProblem::MixedContent);
    let plain = diagnose(
        &connection,
        true,
        &page("http://volary.example"),
        &observation,
    );
    assert_eq!(plain.problem, ModelProblem::Unreachable);
}

#[test]
fn offline_is_the_cause_unless_the_server_is_local() {
    let observation = Observation::NoReply {
        answers_without_cors: Some(false),
        permission: None,
        is_online: false,
    };
    let near = page("http://localhost:1");
    let far = diagnose(&connection("OpenAI"), true, &near, &observation);
    assert_eq!(far.problem, ModelProblem::Offline);
    let here = diagnose(&connection("Ollama"), true, &near, &observation);
    assert_eq!(here.problem, ModelProblem::Unreachable);
}

#[test]
fn the_remedy_for_local_servers_names_the_origin() {
    let found = silent("Ollama", "https://me.example", Some(true), None);
    assert!(
        found.remedy.contains("OLLAMA_ORIGINS=https://me.example"),
        "{}",
        found.remedy
    );
}
