//! OpenEnv's protocol (PyPI `openenv` 0.10), for server and client. `docs/server.md` describes what our server says in it.
//!
//! - [`client_message`], [`server_message`]: the messages on the socket. [`refusal`]: why a server refuses one.
//! - [`reset_request`], [`action`]: what clients request. [`observation`], [`tool_spec`]: what servers return.
//! - [`json_rpc`]: calls of MCP within a message.
//! - [`host_session`], [`client_session`]: one connection, as seen from its two ends: messages in, effects out.
//! - [`schema`]: the reply to `/schema`. [`task_api`]: the lists of tasks.
//!
//! Invariants: nothing here does I/O. Whatever arrives, a session neither panics nor repeats a step.

pub mod action;
pub mod client_message;
pub mod client_session;
pub mod host_session;
pub mod json_rpc;
pub mod observation;
pub mod refusal;
pub mod reset_request;
pub mod schema;
pub mod server_message;
pub mod task_api;
pub mod tool_spec;

pub use action::Action;
pub use client_message::ClientMessage;
pub use client_session::{ClientEvent, ClientFault, ClientSession};
pub use host_session::{Done, Effect, HostSession, Work};
pub use refusal::{ErrorCode, Refusal};
pub use reset_request::{ResetRequest, Which};
pub use server_message::{Observed, ServerMessage};
