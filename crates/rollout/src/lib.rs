//! Rollouts of trained agents: an agent and an environment take turns, and each turn's tokens and loss mask are
//! recorded, as slime's tau-bench agent does.
//!
//! - [`mod@rollout`]: the loop as a state machine. It does no I/O: it returns effects and receives their results.
//! - [`sglang`]: what SGLang's `/generate` is sent and answers.
//! - [`chat`]: the same loop over any chat model; its agents are tool-calling, few-shot, act and react.
//! - [`environment`]: what an environment gives; [`drive`] runs a rollout against one that answers at once.
//! - [`result`]: what was recorded, and how it ended.
//! - [`mod@drift`]: whether recorded tokens are those of the history rendered again.
//! - [`mod@replay`]: a rollout that is rebuilt from the turns of an episode, which is kept elsewhere.
//! - [`export`]: records for slime and tau-bench.
//!
//! Invariants: the mask is as long as the tokens after the prompt, however a rollout ends, and what was recorded
//! before a failure stays.

pub mod chat;
pub mod drift;
pub mod drive;
pub mod environment;
pub mod export;
pub mod replay;
pub mod result;
pub mod rollout;
pub mod sglang;

pub use drift::{Drift, drift};
pub use drive::{drive, drive_chat};
pub use environment::{EnvReset, EnvStep, RolloutEnvironment};
pub use replay::{Replay, Turn};
pub use result::{InteractionResult, Status, StopReason};
pub use rollout::{Effect, Event, Rollout, RolloutSettings};
pub use sglang::{GenerateReply, GenerateRequest, SamplingParams};
