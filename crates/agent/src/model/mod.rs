//! Models as policies: what is asked of a model, what it answers, and how each provider says that
//! on the wire.
//!
//! Everything here is sans-I/O: a [`Provider`] turns a [`ModelRequest`] into an [`HttpRequest`], and
//! the bytes of the reply into an [`Answer`]. The caller moves the bytes.
//!
//! On the wire:
//! - [`request`], [`answer`], [`error`]: the words that all providers share.
//! - [`history`]: messages as turns that every provider accepts.
//! - [`sse`]: server-sent events; [`reply`]: bytes of a reply to deltas and the answer.
//! - [`openai_chat`], [`openai_responses`], [`anthropic`], [`gemini`], [`mistral`], [`sglang`]: the providers.
//! - [`parameter_fallback`]: what to do without when a model refuses a request.
//!
//! Above it:
//! - [`selector`]: aviary's ToolSelector and its ledger, over any of them; [`selection`]: answer to action.
//! - [`connection`]: where models are found; [`diagnosis`]: why one can't be reached, and what to do.
//! - [`exchange`]: what went over the wire, as it is kept; [`redactor`]: deltas without the key.
//! - [`retry`]: whether and when to try again; [`limits`]: when to stop; [`price`]: what it cost.

pub mod answer;
pub mod anthropic;
pub mod connection;
pub mod diagnosis;
mod draft;
pub mod error;
mod error_body;
pub mod exchange;
pub mod gemini;
pub mod history;
pub mod http;
mod lenient;
pub mod limits;
pub mod mistral;
pub mod openai_chat;
pub mod openai_responses;
pub mod parameter_fallback;
pub mod price;
pub mod provider;
pub mod redactor;
pub mod reply;
pub mod request;
pub mod retry;
pub mod selection;
pub mod selector;
pub mod sglang;
pub mod sse;
#[cfg(test)]
mod wire_tests;

pub use answer::{Answer, Delta, Finish, RawCall, Usage};
pub use connection::{Connection, Preset};
pub use error::ModelError;
pub use exchange::Exchange;
pub use http::{ApiKey, HttpRequest};
pub use parameter_fallback::{Concession, Concessions, concede};
pub use provider::{Provider, ProviderKind, StreamReader};
pub use redactor::DeltaRedactor;
pub use reply::Reply;
pub use request::{Effort, ModelRequest, ToolChoice};
pub use selection::select;
