//! Errors of expressions, with the classes and texts of Python's exceptions.

use std::borrow::Cow;

use volary_core::json::text_repr;

/// Why an expression has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// A division by zero, a remainder by zero, or zero to a negative power.
    #[error("Division by zero is not allowed")]
    DivisionByZero(ZeroDivision),
    /// Not an expression, an unsupported expression, or operands of the wrong type.
    #[error("Invalid mathematical expression: {reason}")]
    Invalid {
        /// Python's text for the syntax, type or value error.
        reason: Cow<'static, str>,
    },
    /// A number that is too large for a float, or an infinite result.
    #[error("{reason}")]
    Overflow {
        /// Python's text.
        reason: &'static str,
    },
    /// A power that is too large for a float: Python gives this one an error number.
    #[error("(34, 'Numerical result out of range')")]
    PowerOverflow,
    #[error("int() argument must be a string, a bytes-like object or a real number, not 'complex'")]
    ComplexResult,
    /// The argument is not a text.
    #[error("'{type_name}' object has no attribute 'strip'")]
    NotText {
        /// Python's name for the type of the argument.
        type_name: &'static str,
    },
}

impl EvaluationError {
    /// A value or type error, or a construct that is not supported.
    pub(super) fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        EvaluationError::Invalid {
            reason: reason.into(),
        }
    }

    /// The class of exception that Python raises.
    pub fn exception(&self) -> &'static str {
        match self {
            EvaluationError::DivisionByZero(_) | EvaluationError::Invalid { .. } => "ValueError",
            EvaluationError::Overflow { .. } | EvaluationError::PowerOverflow => "OverflowError",
            EvaluationError::ComplexResult => "TypeError",
            EvaluationError::NotText { .. } => "AttributeError",
        }
    }

    /// The exception as formatted by Python's `repr`: `ValueError('…')`.
    pub fn repr(&self) -> String {
        match self {
            EvaluationError::PowerOverflow => format!("{}{self}", self.exception()),
            _ => format!("{}({})", self.exception(), text_repr(&self.to_string())),
        }
    }
}

/// The operation that divided by zero. aviary's calculator has one message for all of them, Python
/// has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZeroDivision {
    /// `/` of integers.
    Integers,
    /// `/` of floats.
    Floats,
    /// `//` or `%` of integers.
    IntegerFloor,
    /// `//` of floats.
    FloatFloor,
    /// `%` of floats.
    FloatModulo,
    /// Zero to a negative power.
    Power,
    /// `/` of complex numbers.
    Complex,
    /// Complex zero to a power that is negative or complex.
    ComplexPower,
}

impl ZeroDivision {
    /// The message of CPython 3.11.
    pub fn python_text(self) -> &'static str {
        match self {
            ZeroDivision::Integers => "division by zero",
            ZeroDivision::Floats => "float division by zero",
            ZeroDivision::IntegerFloor => "integer division or modulo by zero",
            ZeroDivision::FloatFloor => "float floor division by zero",
            ZeroDivision::FloatModulo => "float modulo",
            ZeroDivision::Power => "0.0 cannot be raised to a negative power",
            ZeroDivision::Complex => "complex division by zero",
            ZeroDivision::ComplexPower => "0.0 to a negative or complex power",
        }
    }
}

/// A syntax error that will be converted to an [`EvaluationError`].
#[derive(Clone, Debug)]
pub struct SyntaxFault {
    /// Python's message; `None` means the plain `invalid syntax`.
    pub message: Option<Cow<'static, str>>,
    /// The byte offset, whose line becomes part of the text.
    pub at: usize,
}

impl SyntaxFault {
    pub fn new(message: impl Into<Cow<'static, str>>, at: usize) -> Self {
        SyntaxFault {
            message: Some(message.into()),
            at,
        }
    }

    /// The error for a token that matches no rule.
    pub fn unexpected(at: usize) -> Self {
        SyntaxFault { message: None, at }
    }

    /// The error with its line in `source`, worded as in Python.
    pub fn in_source(self, source: &str) -> EvaluationError {
        let message = self.message.unwrap_or(Cow::Borrowed("invalid syntax"));
        // In an empty source Python counts no line.
        let line = match source {
            "" => 0,
            _ => {
                1 + source
                    .bytes()
                    .take(self.at)
                    .filter(|byte| *byte == b'\n')
                    .count()
            }
        };
        EvaluationError::invalid(format!("{message} (<unknown>, line {line})"))
    }
}
