//! What can be wrong with a message.

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
        /// The field and what is wrong with it.
        error: FieldError,
    },
    /// Flagged content that is not valid JSON.
    #[error("Content is not valid JSON. {error}.")]
    ContentNotJson {
        /// What is wrong with the text.
        error: ReadError,
    },
    /// Flagged content that is null.
    #[error("Content is not valid JSON. It is flagged as JSON but null.")]
    ContentNull,
    /// A block of flagged content whose type is a list or an object, which aviary cannot look up.
    #[error("The type of a content block must be a string, not {found}.")]
    BlockType {
        /// What it is.
        found: &'static str,
    },
    /// Text for JSON content that cannot take it.
    #[error("JSON content is not a list.")]
    ContentNotList,
    /// An image whose data cannot be read.
    #[error("Invalid base64 encoded image")]
    Image,
    /// Calls and contents that do not pair up.
    #[error("{calls} tool calls can't be answered by {contents} contents; each call needs one.")]
    Unpaired {
        /// How many calls there are.
        calls: usize,
        /// How many contents there are.
        contents: usize,
    },
}

/// The output of a model is not a usable message (aviary's error of that name).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MalformedMessageError {
    /// What is wrong with it.
    pub message: Text,
}
