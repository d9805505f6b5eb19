//! Errors of messages.

use crate::fields::FieldError;
use crate::json::{ReadError, Text};

/// Why a message could not be read, changed or dumped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// A field does not fit the kind of message.
    #[error("A {kind} can't be read: {error}.")]
    Field {
        /// The kind of message.
        kind: &'static str,
        /// The field and the reason.
        error: FieldError,
    },
    /// Flagged content that is not valid JSON.
    #[error("Content is not valid JSON. {error}.")]
    ContentNotJson {
        /// The syntax error.
        error: ReadError,
    },
    /// Flagged content that is null.
    #[error("Content is not valid JSON. It is flagged as JSON but null.")]
    ContentNull,
    /// A block of flagged content whose type is a list or an object, which aviary cannot look up.
    #[error("The type of a content block must be a string, not {found}.")]
    BlockType {
        /// The kind of the type's value.
        found: &'static str,
    },
    /// A text was added to JSON content that is not a list.
    #[error("JSON content is not a list.")]
    ContentNotList,
    /// The data of an image cannot be decoded.
    #[error("Invalid base64 encoded image")]
    Image,
    /// The numbers of calls and contents differ.
    #[error("{calls} tool calls can't be answered by {contents} contents; each call needs one.")]
    Unpaired {
        /// The number of calls.
        calls: usize,
        /// The number of contents.
        contents: usize,
    },
}

/// The output of a model is not a usable message (aviary's error of that name).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MalformedMessageError {
    /// The reason.
    pub message: Text,
}
