//! The template and mask lab: what a chat template makes of messages, and what of it would be trained.
//!
//! - [`input`]: what the user typed, read with an error at each field. [`examples`]: two worked ones.
//! - [`report`]: the rendered text, its tokens, and the three modes side by side. Pure.
//! - [`checks`]: questions about a template and their answers with reasons. Pure.
//! - [`given`]: what a file is that the user gave; `address`: one that is fetched.
//! - [`link`]: the input in an address, and the messages of an episode.
//! - [`page`]: the page; [`controls`]: its fields; [`results`]: its report.
//!
//! Nothing here is part of the first load: templates and tokenizers are large.

mod address;
mod checks;
mod controls;
mod examples;
mod given;
mod input;
mod link;
pub mod page;
mod report;
mod results;
