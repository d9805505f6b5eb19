//! Policies, and the runner that plays an environment and records the episode.
//!
//! - [`policy`]: the policy trait; [`scripted`], [`random`] (by [`draw`]), [`oracle`], [`student`] need no model.
//! - [`model`]: requests to models and their answers, for policies that call one.
//! - [`runner`]: opens a recipe, steps it, replays it up to any step.
//! - [`mod@rollout`]: plays a whole episode of an environment under a policy, with limits.
//! - [`evaluation`]: many tasks × policies × trials: plan, schedule, results.
//! - [`statistics`]: estimates and intervals for the results of many episodes.
//! - [`mod@check`]: checks that a recorded episode is reproducible.

pub mod check;
pub mod draw;
pub mod evaluation;
pub mod model;
pub mod oracle;
pub mod policy;
pub mod random;
pub mod rollout;
pub mod runner;
pub mod scripted;
pub mod student;

pub use volary_analysis::statistics;

pub use check::{Check, Divergence, check, compare};
pub use oracle::Oracle;
pub use policy::{Decision, Policy, PolicyError, PolicyInput};
pub use random::RandomPolicy;
pub use rollout::{Cancel, Limits, Next, RolloutError, Stop, decide, rollout, step_note};
pub use runner::{Opening, Runner, RunnerError, Stage, Stepped};
pub use scripted::{ScriptError, Scripted};
pub use student::{Fault, Student};
