//! The calculator's expressions: Python arithmetic, evaluated without Python.
//!
//! [`evaluate`] takes what a model wrote and gives what CPython 3.11 would: integers of any size,
//! floats to the last bit, the same errors with the same texts. The whole expression grammar is
//! read, so that a list is refused as a list and not as a syntax error.
//!
//! Invariants: no input panics, overflows the stack or takes long. Nothing recurses but
//! brackets, of which 200 may be open; the sizes of integers are capped (`numbers::budget`), where
//! CPython would go on for hours. Results are the same bit for bit natively and in WebAssembly: no
//! function of the platform's mathematical library is used.
//!
//! The way of an expression: `lexer` → `parser` → `program` → `evaluate`.

mod error;
mod evaluate;
mod functions;
mod identifier;
mod lexer;
mod numbers;
mod parser;
mod program;
mod strings;

use std::borrow::Cow;

use volary_core::json::float_text;
use volary_core::json::text::strip;

pub use error::{EvaluationError, ZeroDivision};
pub use numbers::Integer;
pub(crate) use numbers::{Budget, Value, binary, compare, divide, round_to_digits};
pub(crate) use program::Operator;

/// The result of an expression.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// A whole number, also one that was computed as a float.
    Integer(Integer),
    /// A number with a fraction, or nan.
    Float(f64),
}

impl Outcome {
    /// The number as Python's `str` shows it. Integers have at most 4300 digits.
    pub fn to_text(&self) -> String {
        match self {
            Outcome::Integer(value) => value.to_string(),
            Outcome::Float(value) => float_text(*value),
        }
    }
}

/// How long a source may be, in bytes. Python has no such limit; a page has a user waiting.
const MAXIMUM_LENGTH: usize = 1 << 20;

/// Evaluates an expression.
///
/// # Errors
/// The exception that aviary's calculator reports; and, where that would hang or fail outside the
/// reply, an error about the size.
pub fn evaluate(source: &str) -> Result<Outcome, EvaluationError> {
    numbers::conclude(value(source)?)
}

/// The value that Python itself would give, before the calculator makes its result of it.
///
/// # Errors
/// As [`evaluate`].
pub(crate) fn value(source: &str) -> Result<Value, EvaluationError> {
    let source = strip(source);
    if source.len() > MAXIMUM_LENGTH {
        return Err(EvaluationError::invalid(
            "the expression is longer than 1 MiB",
        ));
    }
    if source.contains('\0') {
        return Err(EvaluationError::invalid(
            "source code string cannot contain null bytes",
        ));
    }
    let source = unify_line_ends(source);
    let program = parser::parse(&source).map_err(|fault| fault.in_source(&source))?;
    evaluate::run(program)
}

fn unify_line_ends(source: &str) -> Cow<'_, str> {
    if source.contains('\r') {
        Cow::Owned(source.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(source)
    }
}
