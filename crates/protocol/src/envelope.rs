//! The envelope of every message: channel, request id, and kind of delivery.
//!
//! A request is `(channel, id, request)`. A reply is a [`Delivery`] with the request's id, followed by the event, if
//! it delivers one. Both are decoded in two steps, so that the code which routes a message need not know its type.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Identifies a request of one client. Ids count up and are not reused.
pub type RequestId = u32;

/// The service of a worker that handles a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Channel {
    /// [`crate::environments`]
    Environments,
    /// [`crate::library`]
    Library,
    /// [`crate::evaluation`]
    Evaluation,
    /// [`crate::checkout`]
    Checkout,
    /// [`crate::rollout`]
    Rollout,
    /// [`crate::school`]
    School,
}

/// A request type: one for each channel.
pub trait Request: Serialize + DeserializeOwned {
    /// The channel on which it is sent.
    const CHANNEL: Channel;
    /// The type of the events in its replies.
    type Event: Serialize + DeserializeOwned;
}

/// The kind of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivery {
    /// An event, whose bytes follow.
    Event {
        /// The request.
        id: RequestId,
    },
    /// The request is complete; no more replies follow.
    End {
        /// The request.
        id: RequestId,
    },
    /// The worker panicked and will not reply any more.
    Panicked {
        /// The panic message, with its source location.
        message: String,
    },
}

/// Bytes that do not encode a message. Page and worker are one build, so this is a bug.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A message between page and worker could not be read: {reason}.")]
pub struct DecodeError {
    /// The error of the decoder.
    pub reason: String,
}

impl From<postcard::Error> for DecodeError {
    fn from(error: postcard::Error) -> Self {
        DecodeError {
            reason: error.to_string(),
        }
    }
}

/// Encodes a request for [`decode_header`].
pub fn encode<R: Request>(id: RequestId, request: &R) -> Vec<u8> {
    to_bytes(&(R::CHANNEL, id, request))
}

/// Decodes the channel and the id of a request. Returns them with the remaining bytes for [`decode_request`].
pub fn decode_header(bytes: &[u8]) -> Result<(Channel, RequestId, &[u8]), DecodeError> {
    let ((channel, id), rest) = postcard::take_from_bytes(bytes)?;
    Ok((channel, id, rest))
}

/// Decodes the request that follows a header.
pub fn decode_request<R: Request>(rest: &[u8]) -> Result<R, DecodeError> {
    Ok(postcard::from_bytes(rest)?)
}

/// Encodes a reply that delivers an event.
pub fn encode_event<E: Serialize>(id: RequestId, event: &E) -> Vec<u8> {
    to_bytes(&(Delivery::Event { id }, event))
}

/// Encodes a reply without an event.
pub fn encode_delivery(delivery: &Delivery) -> Vec<u8> {
    to_bytes(delivery)
}

/// Decodes the kind of a reply. Returns it with the bytes of its event for [`decode_event`].
pub fn decode_delivery(bytes: &[u8]) -> Result<(Delivery, &[u8]), DecodeError> {
    Ok(postcard::take_from_bytes(bytes)?)
}

/// Decodes the event of a reply.
pub fn decode_event<E: DeserializeOwned>(rest: &[u8]) -> Result<E, DecodeError> {
    Ok(postcard::from_bytes(rest)?)
}

fn to_bytes(message: &impl Serialize) -> Vec<u8> {
    // postcard fails only for types of unknown length, which no message contains; a reader rejects empty bytes.
    postcard::to_allocvec(message).unwrap_or_default()
}
