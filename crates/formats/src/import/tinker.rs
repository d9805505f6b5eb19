//! Files of tinker-cookbook.
//!
//! - `rollout_summaries`: rewards, lengths and, in newer versions, messages of the rollouts of a training iteration.
//! - `evaluation`: trajectories of a benchmark, with texts. `steps`: the steps of summaries.
//! - `token_db`: rows with the tokens of turns.
//! - `capture`: tokens of single calls of the sampler.

mod capture;
mod evaluation;
mod rollout_summaries;
mod steps;
mod token_db;

pub(super) use capture::SAMPLES;
pub(super) use evaluation::EVALUATION;
pub(super) use rollout_summaries::ROLLOUT_SUMMARIES;
pub(super) use token_db::TokenDb;
