//! Errors that the provider reports.

use super::{Diagnosis, ModelProblem};
use crate::model::connection::Connection;
use crate::model::{ModelError, ProviderKind};

/// Diagnoses an error of a provider that did reply. Also used for failures in the middle of an episode.
pub fn of_error(connection: &Connection, has_key: bool, error: &ModelError) -> Diagnosis {
    let name = &connection.name;
    let problem = problem_of(has_key, error);
    let what = match problem {
        ModelProblem::WrongKey => format!("{name} rejected the API key."),
        ModelProblem::NoKey => format!("{name} requires an API key."),
        ModelProblem::NotAllowed => format!("{name} does not allow this with the API key."),
        ModelProblem::WrongModel => format!("{name} has no model {}.", connection.model),
        ModelProblem::RateLimit => format!("{name} is rate limiting requests."),
        ModelProblem::NoCredit => format!("The account at {name} has no credit left."),
        ModelProblem::Refused => format!("{name} refused the request."),
        ModelProblem::ServerFailure => format!("{name} failed."),
        ModelProblem::NotAModel => "The response did not come from a model API.".to_owned(),
        ModelProblem::Unreachable => format!("{name} cannot be reached."),
        ModelProblem::Interrupted => "The response was cut off.".to_owned(),
        ModelProblem::Rollout => format!("The rollout with {name} stopped."),
        ModelProblem::BuiltIn => "The browser's built-in model did not answer.".to_owned(),
        _ => "The model's response is not a valid action.".to_owned(),
    };
    Diagnosis {
        problem,
        what,
        why: error.to_string(),
        remedy: remedy(connection, problem, error),
    }
}

fn problem_of(has_key: bool, error: &ModelError) -> ModelProblem {
    if error.is_out_of_credit() {
        return ModelProblem::NoCredit;
    }
    let (status, message, code) = match error {
        ModelError::Status {
            status,
            message,
            code,
            ..
        } => (*status, message, code),
        // An error inside a stream has no status; it is derived from its code.
        ModelError::Reported { message, code, .. } => {
            let word = code.as_deref().unwrap_or("");
            (status_of_code(word, error.is_transient()), message, code)
        }
        ModelError::Malformed { .. } | ModelError::TooLarge { .. } => {
            return ModelProblem::NotAModel;
        }
        ModelError::Unreachable { .. } => return ModelProblem::Unreachable,
        ModelError::Cut | ModelError::Silent { .. } => return ModelProblem::Interrupted,
        ModelError::Rollout { .. } => return ModelProblem::Rollout,
        ModelError::BuiltIn(_) => return ModelProblem::BuiltIn,
        _ => return ModelProblem::NoAction,
    };
    let text = format!("{message} {}", code.as_deref().unwrap_or("")).to_lowercase();
    let says = |list: &[&str]| list.iter().any(|word| text.contains(word));
    let names_key = says(&[
        "api key",
        "api_key",
        "apikey",
        "x-api-key",
        "authentication",
        "unauthorized",
    ]);
    let names_model = text.contains("model")
        && says(&[
            "not found",
            "not exist",
            "not_found",
            "unknown",
            "invalid model",
            "no such",
        ]);
    match status {
        401 if !has_key => ModelProblem::NoKey,
        401 => ModelProblem::WrongKey,
        // Gemini responds 400 to a wrong key, and 403 to a missing one.
        400 | 403 if names_key && !has_key => ModelProblem::NoKey,
        400 | 403 if names_key => ModelProblem::WrongKey,
        403 => ModelProblem::NotAllowed,
        404 | 405 if says(&["web page"]) => ModelProblem::NotAModel,
        404 => ModelProblem::WrongModel,
        400 | 422 if names_model => ModelProblem::WrongModel,
        429 => ModelProblem::RateLimit,
        408 | 504 => ModelProblem::Interrupted,
        500..=599 => ModelProblem::ServerFailure,
        _ => ModelProblem::Refused,
    }
}

/// The HTTP status equivalent to an error code.
fn status_of_code(code: &str, is_transient: bool) -> u16 {
    let code = code.to_lowercase();
    if let Ok(status) = code.parse() {
        status
    } else if code.contains("rate_limit") || code.contains("exhausted") {
        429
    } else if code.contains("authentication") {
        401
    } else if code.contains("not_found") {
        404
    } else if is_transient {
        503
    } else {
        400
    }
}

fn remedy(connection: &Connection, problem: ModelProblem, error: &ModelError) -> String {
    if let ModelError::BuiltIn(error) = error {
        return error.remedy().to_owned();
    }
    let key_page = connection.preset().and_then(|preset| preset.key_url);
    match problem {
        ModelProblem::WrongKey | ModelProblem::NoKey => match key_page {
            Some(url) => format!(
                "Enter a key of {} without anything before or after it. Create keys at {url}.",
                connection.name
            ),
            None => "Enter the key that the server was started with.".to_owned(),
        },
        ModelProblem::NotAllowed => {
            "Check in the provider's settings what the key may be used for, and whether the model is \
             available to the account and the region."
                .to_owned()
        }
        ModelProblem::WrongModel => {
            "Pick a model from the list, or check its name. If no list appears, check the base URL."
                .to_owned()
        }
        ModelProblem::RateLimit => match error {
            ModelError::Status {
                retry_after: Some(seconds),
                ..
            } => format!("Wait {seconds:.0} s and try again, or run fewer episodes at once."),
            _ => "Wait a moment and try again, or run fewer episodes at once.".to_owned(),
        },
        ModelProblem::Rollout => {
            "Check the chat template and the tokenizer of this connection in the settings. Steps so \
             far are kept."
                .to_owned()
        }
        ModelProblem::NoCredit => {
            "Add credit in the provider's billing settings, or use another connection.".to_owned()
        }
        ModelProblem::Refused if wants_responses(connection, error) => {
            "This model supports tools only through OpenAI's Responses API: choose the provider \
             OpenAI instead of OpenAI (Chat Completions)."
                .to_owned()
        }
        ModelProblem::Refused => {
            "Change the policy settings or the model.".to_owned()
        }
        ModelProblem::ServerFailure => "Try again later, or use another model.".to_owned(),
        ModelProblem::NotAModel => {
            "Check the base URL: it must be the provider's API, not its web site, and the provider \
             must be correct."
                .to_owned()
        }
        ModelProblem::Unreachable | ModelProblem::Interrupted => {
            "Try again. The content received so far is kept.".to_owned()
        }
        _ => "Try again, or take the step manually.".to_owned(),
    }
}

fn wants_responses(connection: &Connection, error: &ModelError) -> bool {
    connection.kind == ProviderKind::OpenAiChat && error.to_string().contains("/v1/responses")
}
