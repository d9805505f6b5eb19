//! Errors of compiling and rendering templates.

use minijinja::ErrorKind;

/// Why a template cannot be compiled or rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A syntax error, or a run-time error with these messages.
    #[error("The chat template fails{}: {reason}", at_line(*line))]
    Failed {
        /// The line, from 1, if it is known.
        line: Option<usize>,
        reason: String,
    },
    /// The template rejected the messages with `raise_exception`.
    #[error("The chat template refuses the messages{}: {message}", at_line(*line))]
    Raised {
        /// The line, from 1, if it is known.
        line: Option<usize>,
        /// The template's own message.
        message: String,
    },
    /// The rendering exceeded the work limit.
    #[error("The chat template takes too long{}: it was stopped", at_line(*line))]
    TooLong {
        /// The line, from 1, where it was stopped, if it is known.
        line: Option<usize>,
    },
    /// An expression has too many operators.
    #[error(
        "The chat template has an expression with hundreds of operators, or hundreds of `elif` branches: it is not compiled. Divide \
         it with `{{% set %}}`"
    )]
    LongExpression,
    /// There is nothing to render.
    #[error("A chat template needs at least one message")]
    NoMessages,
    /// A message is not an object.
    #[error("A message must be an object with a role, not {0}")]
    NoObject(String),
}

/// Marks an error as raised by `raise_exception`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Raised(pub(super) String);

impl TemplateError {
    pub(super) fn of(error: &minijinja::Error) -> Self {
        let line = error.line();
        if error.kind() == ErrorKind::OutOfFuel {
            return TemplateError::TooLong { line };
        }
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            if let Some(Raised(message)) = cause.downcast_ref() {
                let message = message.clone();
                return TemplateError::Raised { line, message };
            }
            source = cause.source();
        }
        let kind = error.kind();
        let reason = match error.detail() {
            Some(detail) => format!("{kind}: {detail}"),
            None => kind.to_string(),
        };
        TemplateError::Failed { line, reason }
    }

    /// The line of the template, from 1, if it is known.
    pub fn line(&self) -> Option<usize> {
        match self {
            TemplateError::Failed { line, .. }
            | TemplateError::Raised { line, .. }
            | TemplateError::TooLong { line } => *line,
            TemplateError::LongExpression
            | TemplateError::NoMessages
            | TemplateError::NoObject(_) => None,
        }
    }
}

fn at_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(" in line {line}"))
}
