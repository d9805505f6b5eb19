//! The aviary core: messages, tools, environments, frames, renderer, task datasets.
//!
//! Invariants: no I/O, no time, no randomness of its own. Time comes in through
//! [`Clock`], randomness through a seed ([`random::Random`]), pages and models through
//! [`outside::Outside`], so that the same calls give the same
//! results natively, in WebAssembly and in tests. On the wire everything equals aviary
//! (fhaviary 0.37), which the golden cases prove.
//!
//! Where to start: [`environment::Environment`] is what an environment is, [`tool`] what it offers,
//! [`exec::exec_tool_calls`] how calls are run, [`registry::Registry`] how it is found by name.

pub mod clock;
pub mod dataset;
pub mod environment;
pub mod exec;
pub mod fields;
pub mod frame;
pub mod functional;
pub mod json;
pub mod message;
pub mod outside;
pub mod random;
pub mod registry;
pub mod renderer;
pub mod schema;
pub mod task_config;
pub mod tool;
pub mod view;
pub mod virtual_clock;

pub use clock::Clock;
pub use environment::{Environment, EnvironmentError, Reset, Step};
pub use frame::Frame;
pub use json::{Json, Object, Text};
pub use message::{AnyMessage, Message, Role, ToolRequestMessage, ToolResponseMessage};
pub use tool::{FunctionInfo, Parameters, Tool, ToolCall, ToolError, ToolSet, ToolValue};
