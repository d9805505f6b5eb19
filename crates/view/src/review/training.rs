//! What a training run shows in Review: the shown part of a run, its rows of steps, and its texts.
//!
//! - [`shown_run`]: a run at a level: run, step, group or task. [`step_rows`]: the rows of its table of steps. [`texts`]:
//!   facts and figures as text.

pub mod shown_run;
pub mod step_rows;
pub mod texts;
