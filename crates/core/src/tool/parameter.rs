//! Rust types as JSON Schema and back: the types of a tool's parameters.
//!
//! The schema of a type equals that of the corresponding Python type in aviary. The standard types are in
//! `scalars` and `collections`; `#[derive(ToolParameter)]` of volary-macros makes structs and enums into
//! parameters, as pydantic does with models and enums.

use std::fmt;

use crate::json::{Json, Object};

mod collections;
pub mod model;
mod scalars;

/// A type of parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a tool",
    label = "a model can't be told what this is",
    note = "derive `ToolParameter` for a type of your own; `Json` takes anything"
)]
pub trait Parameter: Sized {
    /// The JSON Schema. A named type puts its schema into `definitions` (what becomes `$defs`) and
    /// gives a reference to it.
    fn schema(definitions: &mut Object) -> Object;

    /// Reads a value. Numbers may come as whole floats for integers and as integers for floats,
    /// since JSON of other makers does not tell them apart; else the type must fit.
    fn read(value: &Json) -> Result<Self, ParameterError>;

    /// The value as JSON, as a schema contains a default. Reads back as the same value.
    fn dump(&self) -> Json;
}

/// A value that does not match its parameter. Displayed as `{path} {problem}`, to follow a name: `[2].name must
/// be a string, not 5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError {
    /// Where inside the value: empty, or such as `[2].name`.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
}

/// How much of a value an error shows, in characters.
const SHOWN: usize = 60;

impl ParameterError {
    /// A value of the wrong type; `expected` with its article, as in "an integer".
    pub fn expected(expected: &str, found: &Json) -> Self {
        ParameterError::new(format!("must be {expected}, not {}", shown(found)))
    }

    /// Any problem with the whole value.
    pub fn new(problem: impl Into<String>) -> Self {
        ParameterError {
            place: String::new(),
            problem: problem.into(),
        }
    }

    /// The same error, seen from the list that holds the value.
    #[must_use]
    pub fn at_index(mut self, index: usize) -> Self {
        self.place = format!("[{index}]{}", self.place);
        self
    }

    /// The same error, seen from the object that holds the value.
    #[must_use]
    pub fn at_key(mut self, key: &str) -> Self {
        self.place = format!(".{key}{}", self.place);
        self
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.place, self.problem)
    }
}

impl std::error::Error for ParameterError {}

/// The value as an error shows it: whole if short, and never made longer than that to be cut.
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
