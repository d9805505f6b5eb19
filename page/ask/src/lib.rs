//! Ask in Review: questions to models about the trajectories of the table, with quotes that are checked.
//!
//! - [`host`]: what Review gives to Ask, and the code that is loaded for it. `state`: the state machine
//!   [`volary_app::ask`] with its effects; `sending`: requests to models.
//! - `page`: which screen is shown. `setup_view`: the form of a question, whose value is in `setup`; `plan_view`: what it will
//!   send and cost. `questions_view`: what was asked before.
//! - `question_view`: the page of a question, with its run in `run_view`. `answers_view`: answers with their quotes.
//!   `calibration_view`: labels of a person, and the agreement. `findings_view`: claims over the answers, which
//!   `findings_export` saves as a page.
//!
//! Invariants: trajectories are rendered and quotes are checked in the library's worker. Keys are only read by
//! `volary_connections`; no type of this crate has one.

mod answers_view;
mod calibration_view;
mod findings_export;
mod findings_view;
pub mod host;
mod page;
mod plan_view;
mod question_view;
mod questions_view;
mod run_view;
mod sending;
mod setup;
mod setup_view;
mod state;

pub use host::{AskHost, load};
