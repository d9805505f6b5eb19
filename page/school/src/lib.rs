//! The school: a page on which a small agent learns by reinforcement while somebody watches.
//!
//! - [`page`]: the page. `state`: its state machine, [`volary_app::school`], and the worker that trains.
//! - `controls`: Train, Stop. `curves`: the figures of all updates, and the update that is looked at.
//! - `samples`: what the policy did. `group_view`: one group, slowly. `questions`: prompts and exams.
//! - `task_view`: the task of a lesson. `contest_view`: a person plays against the policy. `class_view`: hand-ins as warm start.
//! - `knobs_view`: settings. `checks_view`: what looks wrong, and planted failures. `storing_view`: samples for Review.
//!
//! Invariant: nothing is computed here; the views draw projections of `volary_view::school`.

mod checks_view;
mod class_view;
mod contest_view;
mod controls;
mod curves;
mod group_view;
mod knobs_view;
pub mod page;
mod questions;
mod samples;
mod state;
mod storing_view;
mod strip;
mod task_view;
