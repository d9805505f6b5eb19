//! What agents do, without a model: acts, what is wrong in them, similar failures, a graph of all behaviour, and rules.
//!
//! - [`acts`]: the calls of an episode, each with its kind, its error and whether it writes.
//! - [`diagnostics`]: what is wrong in an episode, each with its step.
//! - [`signature`]: an episode as a short sequence of symbols. [`clusters`]: groups of similar signatures.
//!   [`distinctive`]: the words by which groups differ.
//! - [`graph`]: the acts of many episodes as one graph.
//! - [`rules`]: conditions on episodes, proposed from a labelled step and checked over all.
//!
//! All of it is deterministic. What a tool does is inferred from its name, so a person decides.

pub mod acts;
pub mod clusters;
pub mod diagnostics;
pub mod distinctive;
pub mod graph;
pub mod rules;
pub mod signature;
