//! The bodies of requests. Unknown fields are ignored; numbers may come as texts, as the original's
//! framework takes them.

use volary_core::json::number::float_from_text;
use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, object};

use crate::body::BodyProblem;

/// Which task to start.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Start {
    /// A new environment of the dataset's choice.
    #[default]
    Any,
    /// The task at a place; negative ones count from the end.
    Index(i64),
    /// A task made from arguments.
    Arguments(Object),
}

/// An action for an environment.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRequest {
    /// The environment.
    pub env_id: Text,
    /// The action.
    pub action: AnyMessage,
}

/// How long ago an environment must have been used to be old, in seconds, where not said.
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
            (Some(_), Some(_)) => Err(vec![BodyProblem::whole(
                "value_error",
                "Value error, task_idx and task_kwargs are mutually exclusive; specify at most one.",
                &Json::Object(object.clone()),
            )]),
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

/// Reads a body that names an environment and nothing else.
pub fn read_env_id(body: Option<&Json>) -> Result<Text, Problems> {
    let object = fields(body)?;
    env_id(object).map_err(|problem| vec![problem])
}

impl StepRequest {
    /// Reads the body of `/step`. `notes` takes what was read otherwise than it was written.
    pub fn read(body: Option<&Json>) -> Result<Self, Problems> {
        let object = fields(body)?;
        let env_id = env_id(object);
        let action = action(object);
        match (env_id, action) {
            (Ok(env_id), Ok(action)) => Ok(StepRequest { env_id, action }),
            (env_id, action) => Err(env_id.err().into_iter().chain(action.err()).collect()),
        }
    }
}

/// Reads the body of `/close_old_envs`: seconds.
pub fn read_last_used(body: Option<&Json>) -> Result<f64, Problems> {
    let object = fields(body)?;
    // Null is refused here, unlike in fields that may be null.
    match object.get("last_used") {
        Some(value) => float("last_used", value).map_err(|problem| vec![problem]),
        None => Ok(DEFAULT_LAST_USED),
    }
}

fn fields(body: Option<&Json>) -> Result<&Object, Problems> {
    match body {
        Some(Json::Object(object)) => Ok(object),
        None | Some(Json::Null) => Err(vec![BodyProblem::whole(
            "missing",
            "Field required",
            &Json::Null,
        )]),
        Some(other) => Err(vec![BodyProblem::whole(
            "model_attributes_type",
            "Input should be a valid dictionary or object to extract fields from",
            other,
        )]),
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

fn action(object: &Object) -> Result<AnyMessage, BodyProblem> {
    let value = object
        .get("action")
        .ok_or_else(|| missing(object, "action"))?;
    AnyMessage::read(value).map_err(|error| {
        let message = format!("Value error, {error}");
        BodyProblem::field("value_error", "action", &message, value)
    })
}

fn integer(name: &'static str, value: &Json) -> Result<i64, BodyProblem> {
    let problem = |kind, message: &str| BodyProblem::field(kind, name, message, value);
    match value {
        Json::Bool(flag) => Ok(i64::from(*flag)),
        Json::Integer(_) => value.as_i64().ok_or_else(|| {
            problem(
                "int_parsing_size",
                "Unable to parse input string as an integer, exceeded maximum size",
            )
        }),
        Json::Float(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(53) => {
            // Exact: whole and below 2^53.
            #[allow(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            let whole = *number as i64;
            Ok(whole)
        }
        Json::Float(_) => Err(problem(
            "int_from_float",
            "Input should be a valid integer, got a number with a fractional part",
        )),
        Json::Text(text) => whole_text(text).ok_or_else(|| {
            problem(
                "int_parsing",
                "Input should be a valid integer, unable to parse string as an integer",
            )
        }),
        _ => Err(problem("int_type", "Input should be a valid integer")),
    }
}

/// An integer as a text: digits, perhaps signed, `_` between digits, `.0` behind them.
fn whole_text(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = match text.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
        Some(_) => return None,
        None => text,
    };
    let parts: Vec<&str> = digits.split('_').collect();
    let (first, rest) = parts.split_first()?;
    let fits = |part: &&str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    let first_digits = first.strip_prefix(['+', '-']).unwrap_or(first);
    if !fits(&first_digits) || !rest.iter().all(fits) {
        return None;
    }
    parts.concat().parse().ok()
}

fn float(name: &'static str, value: &Json) -> Result<f64, BodyProblem> {
    let problem = |kind, message: &str| BodyProblem::field(kind, name, message, value);
    match value {
        Json::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Json::Text(text) => float_from_text(text).ok_or_else(|| {
            problem(
                "float_parsing",
                "Input should be a valid number, unable to parse string as a number",
            )
        }),
        other => other
            .as_f64()
            .ok_or_else(|| problem("float_type", "Input should be a valid number")),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;
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
    fn indexes_in_every_form() {
        for (body, index) in [
            (r#"{"task_idx": 3}"#, 3),
            (r#"{"task_idx": -1}"#, -1),
            (r#"{"task_idx": " 1_0 "}"#, 10),
            (r#"{"task_idx": "7.0"}"#, 7),
            (r#"{"task_idx": 2.0}"#, 2),
            (r#"{"task_idx": true}"#, 1),
        ] {
            let body = read(body).unwrap();
            assert_eq!(
                Start::read(Some(&body)),
                Ok(Start::Index(index)),
                "{body:?}"
            );
        }
        for (body, kind) in [
            (r#"{"task_idx": "a"}"#, "int_parsing"),
            (r#"{"task_idx": 1.5}"#, "int_from_float"),
            (r#"{"task_idx": []}"#, "int_type"),
            (r#"{"task_kwargs": []}"#, "dict_type"),
            (r#"{"task_idx": 0, "task_kwargs": {}}"#, "value_error"),
            ("[]", "model_attributes_type"),
            ("null", "missing"),
        ] {
            let body = read(body).unwrap();
            assert_eq!(kinds(Start::read(Some(&body))), [kind], "{body:?}");
        }
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
    fn all_problems_are_said() {
        assert_eq!(
            kinds(StepRequest::read(Some(&json!({})))),
            ["missing", "missing"]
        );
        let body = json!({"env_id": 5, "action": {"role": "bogus"}});
        assert_eq!(
            kinds(StepRequest::read(Some(&body))),
            ["string_type", "value_error"]
        );
        assert_eq!(kinds(read_env_id(None)), ["missing"]);
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
