//! The aviary core: messages, tools, environments, frames, renderer, task datasets.
//!
//! Invariants: no I/O, no time and no randomness of its own. Time is passed in as a [`Clock`], randomness as a
//! seed ([`random::Random`]), pages and models through [`outside::Outside`], so that the same calls give the
//! same results natively, in WebAssembly and in tests. The wire format equals that of aviary (fhaviary 0.37);
//! golden cases check it.
//!
//! Where to start: [`environment::Environment`] is the trait of environments, [`tool`] defines tools,
//! [`exec::exec_tool_calls`] runs calls, [`registry::Registry`] finds environments by name.

pub mod clock;
pub mod dataset;
pub mod environment;
pub mod exec;
pub mod fields;
pub mod frame;
pub mod functional;
pub mod in_flight;
pub mod json;
pub mod message;
pub mod outside;
pub mod quantity;
pub mod random;
pub mod registry;
pub mod renderer;
pub mod schema;
pub mod task_config;
pub mod token_stream;
pub mod token_strip;
pub mod tool;
pub mod unpacking;
pub mod view;
pub mod virtual_clock;

pub use clock::Clock;
pub use environment::{Environment, EnvironmentError, Reset, Step};
pub use frame::Frame;
pub use json::{Json, Object, Text};
pub use message::{AnyMessage, Message, Role, ToolRequestMessage, ToolResponseMessage};
pub use token_stream::{StreamFigures, TokenStream};
pub use token_strip::{TokenId, TokenStrip};
pub use tool::{FunctionInfo, Parameters, Tool, ToolCall, ToolError, ToolSet, ToolValue};
