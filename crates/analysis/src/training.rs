//! Training runs: rows of a table whose metadata has a training step, by run, step, group (the samples of one prompt)
//! and sample.
//!
//! - [`catalog`]: the runs among rows; [`run_name`] says to which run a row belongs. [`sample`]: what a row says of a
//!   sample. [`measure`]: the figures that are compared. [`run`]: a run with its steps and groups. [`spread`]: the
//!   distribution of a figure. [`series`]: curves over steps. [`advantage`]: whether advantages
//!   follow from rewards. [`tasks`]: tasks over steps. [`times`]: when the samples of a step ran.
//!
//! Invariants: a missing reward is not 0; NaN and infinite values are counted and are in no mean; samples are in the
//! order of step, group and sample, whatever the order of the rows.

pub mod advantage;
pub mod catalog;
pub mod measure;
pub mod run;
mod run_name;
pub mod sample;
pub mod series;
pub mod spread;
pub mod tasks;
pub mod times;

pub use catalog::{Catalog, RunRows};
pub use measure::Measure;
pub use run::{RewardChoice, SampleGroup, StepSummary, TrainingRun};
pub use sample::{Sample, step_of_metadata};
pub use series::{Series, SeriesPoint};
pub use spread::{Histogram, Spread};
