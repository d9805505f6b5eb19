//! Conversion between JSON values and the engine's values.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Object as ValueObject, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};
use volary_core::json::Integer;
use volary_core::{Json, Object};

use super::TemplateError;
use super::mapping::Mapping;
use super::python::pay_for_bytes;

/// The keys of reasoning in messages; templates read the first one.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];
/// Deeper values are rejected: a template can build a value that contains itself many times.
const DEPTH_LIMIT: usize = 200;

/// An integer out of the range of the engine's integers. It can be printed, but not used in arithmetic.
#[derive(Debug)]
struct LargeInteger(Integer);

impl ValueObject for LargeInteger {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Json::Integer(self.0.clone()).to_repr())
    }
}

/// A value for the engine.
pub(super) fn from_json(value: &Json) -> Value {
    match value {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Integer(integer) => from_integer(integer),
        Json::Float(value) => Value::from(*value),
        Json::Text(text) => Value::from(Arc::clone(text)),
        Json::List(list) => Value::from(list.iter().map(from_json).collect::<Vec<_>>()),
        Json::Object(object) => {
            Mapping::value(object.iter().map(|(key, value)| (&**key, from_json(value))))
        }
    }
}

fn from_integer(integer: &Integer) -> Value {
    match integer.to_i64() {
        Some(value) => Value::from(value),
        None => match Json::Integer(integer.clone()).to_repr().parse::<i128>() {
            Ok(value) => Value::from(value),
            Err(_) => Value::from_object(LargeInteger(integer.clone())),
        },
    }
}

/// A message for the engine: without null members, and with its reasoning under the key that templates read.
pub(super) fn from_message(message: &Json) -> Result<Value, TemplateError> {
    let Json::Object(message) = message else {
        return Err(TemplateError::NoObject(message.to_repr()));
    };
    let given = |key: &str| message.get(key).filter(|value| !value.is_null());
    let reasoning = REASONING.into_iter().find_map(given);
    let mut changed = Object::new();
    if let Some(reasoning) = reasoning {
        changed.insert("thinking", reasoning.clone());
    }
    for (key, value) in message.iter().filter(|(_, value)| !value.is_null()) {
        changed.insert(key.clone(), value.clone());
    }
    if let Some(reasoning) = reasoning {
        changed.insert(REASONING[0], reasoning.clone());
    }
    Ok(from_json(&Json::Object(changed)))
}

/// Converts a value of the engine to JSON, with the rules of Python's `json.dumps`.
pub(super) fn to_json(state: &State<'_, '_>, value: &Value) -> Result<Json, Error> {
    read(state, value, 0)
}

fn read(state: &State<'_, '_>, value: &Value, depth: usize) -> Result<Json, Error> {
    state.consume_fuel(1)?;
    let refused = |what: String| Error::new(ErrorKind::BadSerialization, what);
    if depth > DEPTH_LIMIT {
        return Err(refused("the value is nested too deeply".to_owned()));
    }
    Ok(match value.kind() {
        ValueKind::None => Json::Null,
        ValueKind::Bool => Json::Bool(value.is_true()),
        ValueKind::Number => number(value)?,
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            pay_for_bytes(state, text.len())?;
            Json::from(text)
        }
        ValueKind::Seq => {
            let elements = value.try_iter()?;
            let elements = elements.map(|element| read(state, &element, depth + 1));
            Json::List(elements.collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut object = Object::new();
            for key in value.try_iter()? {
                let member = read(state, &value.get_item(&key)?, depth + 1)?;
                object.insert(text_of_key(state, &key)?, member);
            }
            Json::Object(object)
        }
        kind => match value.downcast_object_ref::<LargeInteger>() {
            Some(LargeInteger(integer)) => Json::Integer(integer.clone()),
            None => {
                return Err(refused(format!(
                    "a value of type {kind} cannot be written as JSON"
                )));
            }
        },
    })
}

fn number(value: &Value) -> Result<Json, Error> {
    if value.is_integer() {
        let integer = Integer::from_digits(&value.to_string());
        return integer
            .map(Json::Integer)
            .ok_or_else(|| Error::new(ErrorKind::BadSerialization, "no integer"));
    }
    f64::try_from(value.clone()).map(Json::Float)
}

/// A key as `json.dumps` writes it: numbers, booleans and null become texts.
fn text_of_key(state: &State<'_, '_>, key: &Value) -> Result<String, Error> {
    match key.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => match read(state, key, 0)? {
            Json::List(_) | Json::Object(_) => Err(Error::new(
                ErrorKind::BadSerialization,
                "a key must be a text, a number, a truth value or null",
            )),
            plain => Ok(plain.to_python_text()),
        },
    }
}
