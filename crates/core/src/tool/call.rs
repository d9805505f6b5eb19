//! Tool calls: construction, parsing, display.

use std::fmt;

use super::Tool;
use crate::fields::{self, FieldError};
use crate::json::{Integer, Json, Key, Object, Text, read};
use crate::message::Notes;
use crate::random::Random;

/// The name of a call whose arguments are not valid JSON.
pub const INVALID: &str = "INVALID";

/// The key in an action's `info` under which the original text of [`INVALID`] calls is stored: an object from call id
/// to `{"name", "arguments"}`, both strings. An extension of volary; `info` is not sent to models or servers.
pub const INVALID_CALLS_KEY: &str = "invalid_calls";

/// The maximum number of digits that Python parses as an integer.
const DIGITS_LIMIT: usize = 4300;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// Links the call to its response.
    pub id: Text,
    /// The function and its arguments.
    pub function: ToolCallFunction,
}

/// The function and the arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCallFunction {
    /// The name of the tool; [`INVALID`] if the arguments are not valid JSON.
    pub name: Text,
    /// The arguments by name.
    pub arguments: Object,
}

impl ToolCall {
    /// A call by name.
    pub fn new(id: impl Into<Text>, name: impl Into<Text>, arguments: Object) -> Self {
        ToolCall {
            id: id.into(),
            function: ToolCallFunction {
                name: name.into(),
                arguments,
            },
        }
    }

    /// A new id: nine letters and digits, which every model provider accepts.
    pub fn new_id(random: &mut Random) -> Text {
        const CHARACTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let mut draw = || random.pick(CHARACTERS).copied().map_or('0', char::from);
        let id: String = std::iter::repeat_with(&mut draw).take(9).collect();
        id.into()
    }

    /// A call by name, with a new id.
    pub fn from_name(name: impl Into<Text>, arguments: Object, random: &mut Random) -> Self {
        ToolCall::new(ToolCall::new_id(random), name, arguments)
    }

    /// A call of a tool. Positional values are assigned to its parameters in order and override named ones;
    /// surplus values are dropped. An empty id is replaced by a new one.
    pub fn from_tool(
        tool: &Tool,
        positional: Vec<Json>,
        named: Object,
        id: Text,
        random: &mut Random,
    ) -> Self {
        let mut call = ToolCall::from_name(tool.info.name.clone(), named, random);
        if !id.is_empty() {
            call.id = id;
        }
        if let Some(parameters) = &tool.info.parameters {
            for (name, value) in parameters.properties.keys().zip(positional) {
                call.function.arguments.insert(Key::clone(name), value);
            }
        }
        call
    }

    /// Reads a call.
    pub fn read(value: &Json) -> Result<Self, FieldError> {
        ToolCall::read_noting(value, &mut Notes::new())
    }

    /// Reads a call, with notes about invalid arguments.
    pub fn read_noting(value: &Json, notes: &mut Notes) -> Result<Self, FieldError> {
        let object = fields::object("", value)?;
        if let Some(kind) = object.get("type") {
            fields::constant("type", kind, "function")?;
        }
        let id = fields::text("id", fields::required(object, "id")?)?;
        let function = fields::required(object, "function")?;
        let function = ToolCallFunction::read_noting(function, notes)
            .map_err(|error| error.within("function"))?;
        Ok(ToolCall { id, function })
    }

    /// The call as JSON.
    pub fn dump(&self) -> Object {
        Object::from_distinct(vec![
            ("id".into(), self.id.clone().into()),
            ("type".into(), "function".into()),
            ("function".into(), self.function.dump().into()),
        ])
    }
}

impl ToolCallFunction {
    /// Reads the function of a call; see [`ToolCallFunction::read_noting`].
    pub fn read(value: &Json) -> Result<Self, FieldError> {
        ToolCallFunction::read_noting(value, &mut Notes::new())
    }

    /// Reads the function of a call. Arguments are an object or its JSON text; null and an empty text mean no
    /// arguments. Invalid JSON makes a call of [`INVALID`] without arguments, whatever its name, so that the
    /// model gets an error; the note contains the reason.
    pub fn read_noting(value: &Json, notes: &mut Notes) -> Result<Self, FieldError> {
        let object = fields::object("", value)?;
        let arguments = match fields::required(object, "arguments")? {
            Json::Null => Object::new(),
            Json::Text(text) if text.is_empty() => Object::new(),
            Json::Text(text) => match read(text) {
                // Python rejects such integers with an error other than invalid JSON.
                Ok(value) if text.len() > DIGITS_LIMIT && is_too_long(&value) => {
                    let reason = format!("an integer has more than {DIGITS_LIMIT} digits");
                    return Err(FieldError::new("arguments", reason));
                }
                Ok(Json::Object(arguments)) => arguments,
                Ok(other) => return Err(not_an_object(&other)),
                Err(error) => {
                    let name = object.get("name").unwrap_or(&Json::Null).to_display();
                    notes.push(
                        format!("The arguments of a call of {name} are not valid JSON ({error}); the call became {INVALID}.")
                            .into(),
                    );
                    return Ok(ToolCallFunction {
                        name: INVALID.into(),
                        arguments: Object::new(),
                    });
                }
            },
            Json::Object(arguments) => arguments.clone(),
            other => return Err(not_an_object(other)),
        };
        let name = fields::text("name", fields::required(object, "name")?)?;
        Ok(ToolCallFunction { name, arguments })
    }

    /// The function as JSON, with the arguments as JSON text.
    pub fn dump(&self) -> Object {
        Object::from_distinct(vec![
            ("arguments".into(), self.arguments.to_python_text().into()),
            ("name".into(), self.name.clone().into()),
        ])
    }
}

/// Whether the value contains an integer with too many digits.
fn is_too_long(value: &Json) -> bool {
    match value {
        Json::Integer(Integer::Large(digits)) => {
            digits.trim_start_matches('-').len() > DIGITS_LIMIT
        }
        Json::List(list) => list.iter().any(is_too_long),
        Json::Object(object) => object.iter().any(|(_, value)| is_too_long(value)),
        _ => false,
    }
}

fn not_an_object(found: &Json) -> FieldError {
    FieldError::new(
        "arguments",
        format!("an object is needed, not {}", fields::kind_of(found)),
    )
}

impl fmt::Display for ToolCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.function.fmt(formatter)
    }
}

/// Formats a call with keyword arguments; each value is the quoted `str` of Python.
impl fmt::Display for ToolCallFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}(", self.name)?;
        for (index, (key, value)) in self.arguments.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            write!(formatter, "{separator}{key}='{}'", value.to_display())?;
        }
        formatter.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn new_ids_are_nine_letters_and_digits() {
        let mut random = Random::new(0);
        let first = ToolCall::new_id(&mut random);
        let second = ToolCall::new_id(&mut random);
        assert_ne!(first, second);
        for id in [first, second] {
            assert_eq!(id.len(), 9);
            assert!(
                id.chars()
                    .all(|character| character.is_ascii_alphanumeric())
            );
        }
    }

    #[test]
    fn unreadable_arguments_are_noted() {
        let mut notes = Notes::new();
        let value = json!({"id": "1", "function": {"name": "f", "arguments": "oops"}});
        let call = ToolCall::read_noting(&value, &mut notes);
        assert!(call.is_ok_and(|call| &*call.function.name == INVALID));
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn integers_that_python_does_not_read_are_an_error() {
        let read = |digits: usize| {
            let text = format!("{{\"a\": [-{}]}}", "9".repeat(digits));
            ToolCallFunction::read(&json!({"name": "f", "arguments": text}))
        };
        assert_eq!(read(4300).unwrap().name, "f".into());
        assert!(read(4301).is_err());
    }

    #[test]
    fn missing_arguments_are_an_error() {
        let value = json!({"id": "1", "function": {"name": "f"}});
        let error = ToolCall::read(&value).map_err(|error| error.to_string());
        assert_eq!(error, Err("function.arguments: is required".to_owned()));
    }
}
