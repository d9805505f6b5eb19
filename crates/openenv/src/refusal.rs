//! Why a server refuses a message.

use volary_core::fields::FieldError;
use volary_core::json::Text;

/// The codes of OpenEnv's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    InvalidJson,
    UnknownType,
    /// The fields of a message do not fit.
    Validation,
    /// The environment failed.
    Execution,
    CapacityReached,
    /// The environment could not be made.
    Factory,
    /// The session ends.
    Session,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [ErrorCode; 7] = [
        ErrorCode::InvalidJson,
        ErrorCode::UnknownType,
        ErrorCode::Validation,
        ErrorCode::Execution,
        ErrorCode::CapacityReached,
        ErrorCode::Factory,
        ErrorCode::Session,
    ];

    /// The code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidJson => "INVALID_JSON",
            ErrorCode::UnknownType => "UNKNOWN_TYPE",
            ErrorCode::Validation => "VALIDATION_ERROR",
            ErrorCode::Execution => "EXECUTION_ERROR",
            ErrorCode::CapacityReached => "CAPACITY_REACHED",
            ErrorCode::Factory => "FACTORY_ERROR",
            ErrorCode::Session => "SESSION_ERROR",
        }
    }

    /// The code of a text on the wire.
    pub fn from_name(name: &str) -> Option<ErrorCode> {
        ErrorCode::ALL
            .into_iter()
            .find(|code| code.as_str() == name)
    }
}

/// A refusal, as the client reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub code: ErrorCode,
    /// What failed, why, and what to do.
    pub message: Text,
}

impl Refusal {
    pub fn new(code: ErrorCode, message: impl Into<Text>) -> Refusal {
        Refusal {
            code,
            message: message.into(),
        }
    }
}

impl From<FieldError> for Refusal {
    fn from(error: FieldError) -> Self {
        Refusal::new(ErrorCode::Validation, format!("Invalid message: {error}."))
    }
}
