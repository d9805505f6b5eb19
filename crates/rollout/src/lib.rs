//! Rollouts of trained agents: an agent and an environment take turns, and each turn's tokens and loss mask are
//! recorded, as slime's tau-bench agent does.
//!
//! - [`mod@rollout`]: the loop as a state machine. It does no I/O: it returns effects and receives their results.
//! - [`sglang`]: requests and replies of SGLang's `/generate`.
//! - [`chat`]: the same loop with any chat model; its agents are tool-calling, few-shot, act and react.
//! - [`environment`]: the interface of environments; [`drive`] runs a rollout with a synchronous one.
//! - [`result`]: the recording, and how it ended.
//! - [`mod@drift`]: compares the recorded tokens with the history rendered again.
//! - [`mod@replay`]: a rollout rebuilt from the turns of an episode that is stored elsewhere.
//! - [`export`]: records for slime and tau-bench.
//!
//! Invariants: the mask has the length of the tokens after the prompt, however a rollout ends, and the recording
//! before a failure is preserved.

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
pub use replay::{Replay, ReplayedTurn};
pub use result::{InteractionResult, Status, StopReason};
pub use rollout::{Effect, Event, Rollout, RolloutSettings};
pub use sglang::{GenerateReply, GenerateRequest, SamplingParams};
