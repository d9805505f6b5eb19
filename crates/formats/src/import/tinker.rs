//! Files of tinker-cookbook.
//!
//! - `rollout_summaries`: rewards and lengths of the rollouts of a training iteration.
//! - `evaluation`: trajectories of a benchmark, with texts.
//! - `capture`: tokens of single calls of the sampler.

mod capture;
mod evaluation;
mod rollout_summaries;

pub(super) use capture::SAMPLES;
pub(super) use evaluation::EVALUATION;
pub(super) use rollout_summaries::ROLLOUT_SUMMARIES;
