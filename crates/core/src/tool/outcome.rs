//! The result of a call, a value or an error, and its conversion to the content of a response.
//!
//! As in aviary: a text is used as it is, unflagged; a message provides its stored content and flag; a record
//! (a model in aviary) becomes compact JSON without null fields; anything else becomes its JSON text.

use std::borrow::Cow;
use std::fmt;

use crate::json::repr::text_repr;
use crate::json::{Json, Object, Text};
use crate::message::{Body, Message};

/// The value that a tool returns.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolValue {
    /// A text: becomes the content unchanged.
    Text(Text),
    /// A JSON value, null included: becomes its JSON text, flagged.
    Json(Json),
    /// A record (a model in aviary): becomes compact JSON without nulls, flagged.
    Record(Object),
    /// A message: its stored content and flag; a message without content fails.
    Message(Message),
}

pub type ToolResult = Result<ToolValue, ToolError>;

/// A failed call, with the name of the class under which aviary reports it. Displayed as its text, or
/// as its class without one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// Such as `ValueError`. Responses contain `Class('text')`.
    pub class: Cow<'static, str>,
    /// The message. `None` for exceptions without arguments (`TimeoutError()`).
    pub text: Option<Text>,
    /// The parts of a group of failures; empty otherwise.
    pub parts: Vec<ToolError>,
}

impl ToolValue {
    /// The content of the response; fails for a message without content.
    pub fn into_body(self) -> Result<Body, ToolError> {
        match self {
            ToolValue::Text(text) => Ok(Body::text(text)),
            ToolValue::Json(value) => Ok(Body::json(&value)),
            ToolValue::Record(record) => Ok(Body {
                content: Some(Json::Object(record).to_compact_text_without_nulls().into()),
                content_is_json_str: true,
                ..Body::default()
            }),
            ToolValue::Message(message) if message.body.content.is_none() => Err(ToolError::value(
                "A tool returned a message without content.",
            )),
            ToolValue::Message(message) => Ok(Body {
                content: message.body.content,
                content_is_json_str: message.body.content_is_json_str,
                ..Body::default()
            }),
        }
    }
}

impl ToolError {
    /// An error of a class, with its text.
    pub fn new(class: impl Into<Cow<'static, str>>, text: impl Into<Text>) -> Self {
        ToolError {
            class: class.into(),
            text: Some(text.into()),
            parts: Vec::new(),
        }
    }

    /// A `ValueError`.
    pub fn value(text: impl Into<Text>) -> Self {
        ToolError::new("ValueError", text)
    }

    /// A `TypeError` for wrong arguments.
    pub fn arguments(text: impl Into<Text>) -> Self {
        ToolError::new("TypeError", text)
    }

    /// A `RuntimeError`.
    pub fn runtime(text: impl Into<Text>) -> Self {
        ToolError::new("RuntimeError", text)
    }

    /// A `TimeoutError`.
    pub fn timeout() -> Self {
        ToolError {
            class: "TimeoutError".into(),
            text: None,
            parts: Vec::new(),
        }
    }

    /// Several errors as one.
    pub fn group(text: impl Into<Text>, parts: Vec<ToolError>) -> Self {
        ToolError {
            parts,
            ..ToolError::new("ExceptionGroup", text)
        }
    }

    /// The failure as formatted in responses, aviary's `R`: `Class('text')`; for a group its text, the
    /// number of its parts, and each part.
    pub fn to_repr(&self) -> String {
        if self.parts.is_empty() {
            return self.to_class_repr();
        }
        let parts: Vec<String> = self.parts.iter().map(ToolError::to_class_repr).collect();
        format!("{self}, where sub-exceptions are: {}", parts.join(", "))
    }

    /// Python's `repr` of the exception itself.
    fn to_class_repr(&self) -> String {
        let text = self.text.as_deref().map(text_repr).unwrap_or_default();
        if self.parts.is_empty() {
            return format!("{}({text})", self.class);
        }
        let parts: Vec<String> = self.parts.iter().map(ToolError::to_class_repr).collect();
        format!("{}({text}, [{}])", self.class, parts.join(", "))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            // Python formats a missing key as its `repr`.
            Some(key) if self.class == "KeyError" => formatter.write_str(&text_repr(key))?,
            Some(text) => formatter.write_str(text)?,
            None => formatter.write_str(&self.class)?,
        }
        match self.parts.len() {
            0 => Ok(()),
            1 => formatter.write_str(" (1 sub-exception)"),
            count => write!(formatter, " ({count} sub-exceptions)"),
        }
    }
}

impl std::error::Error for ToolError {}

/// The return types of tool functions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a tool",
    label = "this has no JSON",
    note = "derive `ToolRecord` for a struct of your own, or give `Json`"
)]
pub trait IntoToolResult {
    /// Converts to the value of the response, or the error.
    fn into_tool_result(self) -> ToolResult;
}

impl<T: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolResult {
        self.map_err(Into::into)?.into_tool_result()
    }
}

impl IntoToolResult for ToolValue {
    fn into_tool_result(self) -> ToolResult {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolValue::Json(Json::Null))
    }
}

impl IntoToolResult for Message {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolValue::Message(self))
    }
}

/// A text value becomes a text; any other stays JSON.
impl IntoToolResult for Json {
    fn into_tool_result(self) -> ToolResult {
        Ok(match self {
            Json::Text(text) => ToolValue::Text(text),
            other => ToolValue::Json(other),
        })
    }
}

impl<T: IntoToolResult> IntoToolResult for Option<T> {
    fn into_tool_result(self) -> ToolResult {
        match self {
            Some(value) => value.into_tool_result(),
            None => ().into_tool_result(),
        }
    }
}

macro_rules! texts {
    ($($type:ty),*) => { $(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> ToolResult {
                Ok(ToolValue::Text(self.into()))
            }
        }
    )* };
}

texts!(&str, String, Text);

macro_rules! values {
    ($($type:ty),*) => { $(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> ToolResult {
                Ok(ToolValue::Json(self.into()))
            }
        }
    )* };
}

values!(bool, i32, i64, u32, f64, Object);

impl IntoToolResult for f32 {
    fn into_tool_result(self) -> ToolResult {
        f64::from(self).into_tool_result()
    }
}

impl<T: Into<Json>> IntoToolResult for Vec<T> {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolValue::Json(self.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_as_replies_show_them() {
        let value = ToolError::value("no good");
        assert_eq!(value.to_repr(), "ValueError('no good')");
        assert_eq!(value.to_string(), "no good");
        assert_eq!(ToolError::timeout().to_repr(), "TimeoutError()");
        let group = ToolError::group("several", vec![value.clone(), ToolError::runtime("it's")]);
        assert_eq!(group.to_string(), "several (2 sub-exceptions)");
        assert_eq!(
            group.to_repr(),
            "several (2 sub-exceptions), where sub-exceptions are: ValueError('no good'), \
             RuntimeError(\"it's\")"
        );
        let one = ToolError::group("one", vec![ToolError::group("inner", vec![value])]);
        assert_eq!(
            one.to_repr(),
            "one (1 sub-exception), where sub-exceptions are: \
             ExceptionGroup('inner', [ValueError('no good')])"
        );
    }

    #[test]
    fn values_as_contents() {
        let content = |value: ToolResult| {
            let body = value.unwrap().into_body().unwrap();
            (body.content.unwrap().to_string(), body.content_is_json_str)
        };
        let json = |text: &str| (text.to_owned(), true);
        let text = |text: &str| (text.to_owned(), false);
        assert_eq!(content(().into_tool_result()), json("null"));
        assert_eq!(content(1.0.into_tool_result()), json("1.0"));
        assert_eq!(content(None::<&str>.into_tool_result()), json("null"));
        assert_eq!(content(Some("a").into_tool_result()), text("a"));
        assert_eq!(content(Json::from("a").into_tool_result()), text("a"));
        assert_eq!(content(vec!["a"].into_tool_result()), json("[\"a\"]"));
        let ok: Result<_, ToolError> = Ok("é");
        assert_eq!(content(ok.into_tool_result()), text("é"));
        let message = Message {
            body: Body::json(&Json::from(vec![1])),
            ..Message::default()
        };
        assert_eq!(content(message.into_tool_result()), json("[1]"));
        assert!(ToolValue::Message(Message::default()).into_body().is_err());
    }
}
