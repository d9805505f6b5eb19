//! Request bodies. Unknown fields are ignored; numbers may be texts, as in the original's
//! framework.

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, json, object};

use crate::body::BodyProblem;
use crate::number::{float, integer};

/// The task to start.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Start {
    /// A new environment, chosen by the dataset.
    #[default]
    Any,
    /// The task at an index; negative indices count from the end.
    Index(i64),
    /// A task made from arguments.
    Arguments(Object),
}

/// An action for an environment.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRequest {
    /// The environment.
    pub env_id: Text,
    pub action: AnyMessage,
}

/// The default age of an old environment: the seconds since it was last used.
pub const DEFAULT_LAST_USED: f64 = 3600.0;

type Problems = Vec<BodyProblem>;

impl Start {
    /// Reads the body of `/start`.
    pub fn read(body: Option<&Json>) -> Result<Self, Problems> {
        let object = fields(body)?;
        let mut problems = Problems::new();
        let index = match present(object, "task_idx") {
            Some(value) => integer("task_idx", value)
                .map_err(|problem| problems.push(problem))
                .ok(),
            None => None,
        };
        let arguments = match present(object, "task_kwargs") {
            Some(Json::Object(arguments)) => Some(arguments.clone()),
            Some(value) => {
                let message = "Input should be a valid dictionary";
                problems.push(BodyProblem::field(
                    "dict_type",
                    "task_kwargs",
                    message,
                    value,
                ));
                None
            }
            None => None,
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        match (index, arguments) {
            (None, None) => Ok(Start::Any),
            (Some(index), None) => Ok(Start::Index(index)),
            (None, Some(arguments)) => Ok(Start::Arguments(arguments)),
            (Some(_), Some(_)) => Err(vec![BodyProblem {
                // The original puts the exception here, which serializes to an empty object.
                context: Some(json!({"error": {}})),
                ..BodyProblem::whole(
                    "value_error",
                    "Value error, task_idx and task_kwargs are mutually exclusive; specify at most one.",
                    &Json::Object(object.clone()),
                )
            }]),
        }
    }

    /// The body as a client sends it.
    pub fn to_json(&self) -> Json {
        Json::Object(match self {
            Start::Any => object!({"task_idx": null}),
            Start::Index(index) => object!({"task_idx": (*index)}),
            Start::Arguments(arguments) => object!({"task_kwargs": (arguments.clone())}),
        })
    }
}

/// Reads a body whose only field is the id of an environment.
pub fn read_env_id(body: Option<&Json>) -> Result<Text, Problems> {
    let object = fields(body)?;
    env_id(object).map_err(|problem| vec![problem])
}

impl StepRequest {
    /// Reads the body of `/step`.
    pub fn read(body: Option<&Json>) -> Result<Self, Problems> {
        let object = fields(body)?;
        let env_id = env_id(object);
        let action = action(object);
        match (env_id, action) {
            (Ok(env_id), Ok(action)) => Ok(StepRequest { env_id, action }),
            (env_id, action) => {
                let action = action.err().unwrap_or_default();
                Err(env_id.err().into_iter().chain(action).collect())
            }
        }
    }
}

/// Reads the body of `/steps`, an extension: unparsed bodies of `/step`.
pub fn read_steps(body: Option<&Json>) -> Result<&[Json], Problems> {
    let object = fields(body)?;
    let steps = object
        .get("steps")
        .ok_or_else(|| vec![missing(object, "steps")])?;
    steps.as_list().ok_or_else(|| {
        let message = "Input should be a valid list";
        vec![BodyProblem::field("list_type", "steps", message, steps)]
    })
}

/// Reads the body of `/close_old_envs`: seconds.
pub fn read_last_used(body: Option<&Json>) -> Result<f64, Problems> {
    let object = fields(body)?;
    // Null is rejected here, unlike in nullable fields.
    match object.get("last_used") {
        Some(value) => float("last_used", value).map_err(|problem| vec![problem]),
        None => Ok(DEFAULT_LAST_USED),
    }
}

fn fields(body: Option<&Json>) -> Result<&Object, Problems> {
    match body {
        Some(Json::Object(object)) => Ok(object),
        None => Err(vec![BodyProblem::whole(
            "missing",
            "Field required",
            &Json::Null,
        )]),
        Some(other) => Err(vec![not_an_object(Vec::new(), other)]),
    }
}

fn present<'a>(object: &'a Object, key: &str) -> Option<&'a Json> {
    object.get(key).filter(|value| !value.is_null())
}

fn missing(object: &Object, name: &'static str) -> BodyProblem {
    BodyProblem::field(
        "missing",
        name,
        "Field required",
        &Json::Object(object.clone()),
    )
}

fn env_id(object: &Object) -> Result<Text, BodyProblem> {
    match object.get("env_id") {
        Some(Json::Text(id)) => Ok(id.clone()),
        Some(other) => {
            let message = "Input should be a valid string";
            Err(BodyProblem::field("string_type", "env_id", message, other))
        }
        None => Err(missing(object, "env_id")),
    }
}

/// The kinds of action; a value that is not an object matches none of them, and each reports an error.
const ACTIONS: [&str; 3] = ["ToolRequestMessage", "ToolResponseMessage", "Message"];

fn action(object: &Object) -> Result<AnyMessage, Problems> {
    let value = object
        .get("action")
        .ok_or_else(|| vec![missing(object, "action")])?;
    if !matches!(value, Json::Object(_)) {
        let place = |kind: &'static str| vec!["action".into(), kind.into()];
        return Err(ACTIONS.map(|kind| not_an_object(place(kind), value)).into());
    }
    let lacking = calls_without_arguments(value);
    if !lacking.is_empty() {
        return Err(lacking);
    }
    AnyMessage::read(value).map_err(|error| {
        let message = format!("Value error, {error}");
        vec![BodyProblem::field("value_error", "action", &message, value)]
    })
}

/// Rejects a call without arguments. The original crashes on it; read as a message, the call would
/// be dropped silently.
fn calls_without_arguments(action: &Json) -> Problems {
    let calls = action.get("tool_calls").and_then(Json::as_list);
    let functions = calls.unwrap_or(&[]).iter().enumerate();
    functions
        .filter_map(|(index, call)| {
            let function = call.get("function")?.as_object()?;
            let index = i64::try_from(index).ok()?;
            (!function.contains_key("arguments")).then(|| BodyProblem {
                place: vec![
                    "action".into(),
                    "tool_calls".into(),
                    index.into(),
                    "function".into(),
                    "arguments".into(),
                ],
                ..missing(function, "arguments")
            })
        })
        .collect()
}

fn not_an_object(place: Vec<Json>, value: &Json) -> BodyProblem {
    let message = "Input should be a valid dictionary or object to extract fields from";
    BodyProblem {
        place,
        ..BodyProblem::whole("model_attributes_type", message, value)
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json::read::read;

    use super::*;

    fn kinds<T>(result: Result<T, Problems>) -> Vec<&'static str> {
        result
            .err()
            .into_iter()
            .flatten()
            .map(|problem| problem.kind)
            .collect()
    }

    #[test]
    fn starts_that_do_not_fit() {
        for (body, kind) in [
            (r#"{"task_idx": "a"}"#, "int_parsing"),
            (r#"{"task_kwargs": []}"#, "dict_type"),
            (r#"{"task_idx": 0, "task_kwargs": {}}"#, "value_error"),
            ("[]", "model_attributes_type"),
            ("null", "model_attributes_type"),
        ] {
            let body = read(body).unwrap();
            assert_eq!(kinds(Start::read(Some(&body))), [kind], "{body:?}");
        }
        assert_eq!(kinds(Start::read(None)), ["missing"]);
    }

    #[test]
    fn what_is_sent_is_read() {
        for start in [
            Start::Any,
            Start::Index(-2),
            Start::Arguments(object!({"problem": "p"})),
        ] {
            assert_eq!(Start::read(Some(&start.to_json())), Ok(start));
        }
    }

    #[test]
    fn all_problems_are_listed() {
        assert_eq!(
            kinds(StepRequest::read(Some(&json!({})))),
            ["missing", "missing"]
        );
        let body = json!({"env_id": 5, "action": {"role": "bogus"}});
        assert_eq!(
            kinds(StepRequest::read(Some(&body))),
            ["string_type", "value_error"]
        );
        let body = json!({"env_id": "a", "action": "hi"});
        assert_eq!(
            kinds(StepRequest::read(Some(&body))),
            ["model_attributes_type"; 3]
        );
        let call = json!({"id": "1", "type": "function", "function": {"name": "a"}});
        let body = json!({"env_id": "a", "action": {"role": "user", "tool_calls": [call]}});
        assert_eq!(kinds(StepRequest::read(Some(&body))), ["missing"]);
        assert_eq!(kinds(read_env_id(None)), ["missing"]);
        for (body, kind) in [
            (json!([]), "model_attributes_type"),
            (json!({}), "missing"),
            (json!({"steps": {}}), "list_type"),
        ] {
            assert_eq!(kinds(read_steps(Some(&body))), [kind]);
        }
        assert_eq!(
            kinds(read_last_used(Some(&json!({"last_used": "x"})))),
            ["float_parsing"]
        );
        assert_eq!(
            kinds(read_last_used(Some(&json!({"last_used": null})))),
            ["float_type"]
        );
    }
}
