//! The calculator's expressions: Python arithmetic, evaluated without Python.
//!
//! [`evaluate`] takes a model's input and returns the result of CPython 3.11: integers of any size,
//! floats exact to the last bit, the same errors with the same texts. It parses the whole expression
//! grammar, so that a list is rejected as a list and not as a syntax error.
//!
//! Invariants: no input panics, overflows the stack or takes long. Only brackets recurse, of which at
//! most 200 may be open; the sizes of integers are limited (`numbers::budget`), where
//! CPython would run for hours. Results are bit-identical natively and in WebAssembly: no
//! function of the platform's mathematical library is used.
//!
//! The stages of an expression: `lexer` → `parser` → `program` → `evaluate`.

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

#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExpressionResult {
    /// An integer, or a float without a fraction.
    Integer(Integer),
    /// A number with a fraction, or nan.
    Float(f64),
}

impl ExpressionResult {
    /// The number as Python's `str`. Integers have at most 4300 digits.
    pub fn to_text(&self) -> String {
        match self {
            ExpressionResult::Integer(value) => value.to_string(),
            ExpressionResult::Float(value) => float_text(*value),
        }
    }
}

/// The maximum length of a source in bytes. Python has no such limit, but a page must stay responsive.
const MAXIMUM_LENGTH: usize = 1 << 20;

/// Evaluates an expression.
///
/// # Errors
/// The exception that aviary's calculator reports; and an error about the size for expressions on which the
/// original would hang or fail without a reply.
pub fn evaluate(source: &str) -> Result<ExpressionResult, EvaluationError> {
    numbers::conclude(value(source)?)
}

/// Python's own value, before the calculator converts it to its result.
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
