//! The template and mask lab: shows how a chat template renders messages, and which tokens would be trained.
//!
//! - [`input`]: the user's input, with an error at each field. [`examples`]: two worked examples.
//! - [`report`]: the rendered text, its tokens, and the three modes side by side. Pure.
//! - [`checks`]: questions about a template and their answers with reasons. Pure.
//! - [`given`]: detects the kind of a file; `address`: fetches a file.
//! - [`late_episode`]: whether an episode that was read is still wanted. Pure.
//! - [`link`]: links to an input, and the messages of an episode.
//! - [`token_runs`]: tokens as runs of trained and untrained ones. Pure.
//! - [`page`]: the page; [`controls`]: its fields; [`results`]: its report.
//!
//! Nothing here is part of the first load: templates and tokenizers are large.

mod address;
mod checks;
mod controls;
mod examples;
mod given;
mod input;
mod late_episode;
mod link;
pub mod page;
mod report;
mod results;
mod token_runs;
