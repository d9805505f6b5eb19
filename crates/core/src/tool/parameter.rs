//! Rust types as JSON Schema and back: the types of a tool's parameters.
//!
//! The schema of a type equals that of the corresponding Python type in aviary. The standard types are in
//! `scalars` and `collections`; `#[derive(ToolParameter)]` of volary-macros implements the trait for structs and enums,
//! like pydantic's models and enums.

use std::fmt;

use crate::json::{Json, Object};

mod collections;
pub mod model;
mod scalars;

/// A type of tool parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a tool",
    label = "a model can't be told what this is",
    note = "derive `ToolParameter` for a type of your own; `Json` takes anything"
)]
pub trait Parameter: Sized {
    /// The JSON Schema. A named type adds its schema to `definitions` (which becomes `$defs`) and
    /// returns a reference to it.
    fn schema(definitions: &mut Object) -> Object;

    /// Reads a value. Integers accept floats without a fraction, and floats accept integers,
    /// since other JSON writers do not distinguish them; otherwise the type must match.
    fn read(value: &Json) -> Result<Self, ParameterError>;

    /// The value as JSON, as used for a default in a schema. It reads back as the same value.
    fn dump(&self) -> Json;
}

/// A value that does not match its parameter. Displayed as `{path} {problem}`, to follow a name: `[2].name must
/// be a string, not 5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// The path within the value: empty, or such as `[2].name`.
    pub path: String,
    /// The reason.
    pub problem: String,
}

/// The maximum length of a value in an error, in characters.
const SHOWN: usize = 60;

impl ParameterError {
    /// A value of the wrong type; `expected` with its article, as in "an integer".
    pub fn expected(expected: &str, found: &Json) -> Self {
        ParameterError::new(format!("must be {expected}, not {}", shown(found)))
    }

    /// Another error of the whole value.
    pub fn new(problem: impl Into<String>) -> Self {
        ParameterError {
            path: String::new(),
            problem: problem.into(),
        }
    }

    /// The same error, with the path prefixed by the index in the parent list.
    #[must_use]
    pub fn at_index(mut self, index: usize) -> Self {
        self.path = format!("[{index}]{}", self.path);
        self
    }

    /// The same error, with the path prefixed by the key in the parent object.
    #[must_use]
    pub fn at_key(mut self, key: &str) -> Self {
        self.path = format!(".{key}{}", self.path);
        self
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.path, self.problem)
    }
}

impl std::error::Error for ParameterError {}

/// The value for an error, truncated if long. Lists and objects with many members are summarized, not serialized.
fn shown(value: &Json) -> String {
    match value {
        Json::List(list) if list.len() > SHOWN => format!("a list of {}", list.len()),
        Json::Object(object) if object.len() > SHOWN => {
            format!("an object with {} keys", object.len())
        }
        other => {
            let text = other.to_compact_text();
            match text.char_indices().nth(SHOWN) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        }
    }
}
