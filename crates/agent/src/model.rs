//! Models as policies: requests, answers, and the wire format of each provider.
//!
//! Everything here is sans-I/O: a [`Provider`] encodes a [`ModelRequest`] as an [`HttpRequest`], and decodes the bytes
//! of the reply to an [`Answer`]. The caller transfers the bytes.
//!
//! On the wire:
//! - [`request`], [`answer`], [`error`]: types that all providers share.
//! - [`history`]: messages as turns that every provider accepts.
//! - [`sse`]: server-sent events; [`reply`]: decodes a reply's bytes to deltas and the answer.
//! - [`openai_chat`], [`openai_responses`], [`anthropic`], [`gemini`], [`mistral`], [`sglang`]: the providers.
//! - [`prompt_api`]: the model built into the browser, which is called instead of a server.
//! - [`parameter_fallback`]: parameters to drop when a model rejects a request.
//!
//! Above it:
//! - [`selector`]: aviary's ToolSelector and its ledger, over any of them; [`selection`]: answer to action.
//! - [`connection`]: addresses and options of models; [`diagnosis`]: why a model is unreachable, and what to do.
//! - [`exchange`]: the stored record of a request and its reply; [`redactor`]: deltas without the key.
//! - [`retry`]: whether and when to retry; [`limits`]: when to stop; [`price`]: the cost.

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
pub mod prompt_api;
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
pub use parameter_fallback::{ParameterFallback, ParameterFallbacks, fallback_for};
pub use provider::{Provider, ProviderKind, StreamReader};
pub use redactor::DeltaRedactor;
pub use reply::Reply;
pub use request::{Effort, ModelRequest, ToolChoice};
pub use selection::select;
