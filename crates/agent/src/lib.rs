//! Policies, and the runner that plays an environment and records the episode.
//!
//! - [`policy`]: what a policy is; [`scripted`], [`random`], [`oracle`] need no model.
//! - [`runner`]: opens a recipe, steps it, re-runs it up to any step.
//! - [`rollout`]: a whole episode of an environment under a policy, with limits.

pub mod model;
pub mod policy;

pub use policy::{Decision, Policy, PolicyError, PolicyInput};
