//! Reads objects field by field, with typed errors.
//!
//! Types are checked as pydantic does in aviary: strings must be strings, booleans may also be words or numbers.

use crate::json::{Json, Object, Text};

/// A value of the wrong type or form, with its path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct FieldError {
    /// The path, such as `tool_calls[0].function.name`.
    pub path: String,
    pub reason: String,
}

impl FieldError {
    /// An error at a path.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        FieldError {
            path: path.into(),
            reason: reason.into(),
        }
    }

    /// The same error, with the path prefixed by that of the parent object.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        let separator = if self.path.starts_with('[') || self.path.is_empty() {
            ""
        } else {
            "."
        };
        self.path = format!("{parent}{separator}{}", self.path);
        self
    }

    fn unfit(key: &str, needed: &str, found: &Json) -> Self {
        FieldError::new(key, format!("{needed} is needed, not {}", kind_of(found)))
    }
}

/// The kind of a value, for error messages.
pub fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Integer(_) => "an integer",
        Json::Float(_) => "a float",
        Json::Text(_) => "a string",
        Json::List(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// The value under a required key.
pub fn required<'a>(object: &'a Object, key: &str) -> Result<&'a Json, FieldError> {
    object
        .get(key)
        .ok_or_else(|| FieldError::new(key, "is required"))
}

/// The value as a text.
pub fn text(key: &str, value: &Json) -> Result<Text, FieldError> {
    value
        .as_text()
        .cloned()
        .ok_or_else(|| FieldError::unfit(key, "a string", value))
}

/// The value as an object.
pub fn object<'a>(key: &str, value: &'a Json) -> Result<&'a Object, FieldError> {
    value
        .as_object()
        .ok_or_else(|| FieldError::unfit(key, "an object", value))
}

/// The value as a list.
pub fn list<'a>(key: &str, value: &'a Json) -> Result<&'a [Json], FieldError> {
    value
        .as_list()
        .ok_or_else(|| FieldError::unfit(key, "a list", value))
}

/// The value as exactly this text.
pub fn constant(key: &str, value: &Json, constant: &str) -> Result<(), FieldError> {
    match value.as_text() {
        Some(text) if &**text == constant => Ok(()),
        _ => Err(FieldError::new(
            key,
            format!("\"{constant}\" is needed, not {}", value.to_compact_text()),
        )),
    }
}

/// The value as a flag: true or false, 1 or 0, or a word for either.
pub fn flag(key: &str, value: &Json) -> Result<bool, FieldError> {
    let read = match value {
        Json::Bool(value) => Some(*value),
        Json::Text(word) => match word.to_ascii_lowercase().as_str() {
            "1" | "true" | "t" | "yes" | "y" | "on" => Some(true),
            "0" | "false" | "f" | "no" | "n" | "off" => Some(false),
            _ => None,
        },
        number => match number.as_f64() {
            Some(1.0) => Some(true),
            Some(0.0) => Some(false),
            _ => None,
        },
    };
    read.ok_or_else(|| FieldError::unfit(key, "true or false", value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn errors_name_the_path() {
        let error = FieldError::new("name", "is required")
            .within("function")
            .within("[0]")
            .within("tool_calls");
        assert_eq!(
            error.to_string(),
            "tool_calls[0].function.name: is required"
        );
    }

    #[test]
    fn flags_in_words_and_numbers() {
        for (value, read) in [
            (json!(true), Some(true)),
            (json!("Yes"), Some(true)),
            (json!(0), Some(false)),
            (json!(1.0), Some(true)),
            (json!(2), None),
            (json!("maybe"), None),
            (json!(null), None),
        ] {
            assert_eq!(flag("k", &value).ok(), read, "{value:?}");
        }
    }
}
