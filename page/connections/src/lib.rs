//! What episodes use from outside of the page.
//!
//! - [`models`]: model connections and requests; [`outside`]: what environments ask of pages, models and the person.
//! - [`remote`]: task dataset servers, whose environments are played like local ones. [`python`]: environments in Python.
//! - [`tokenizer`]: the tokenizer that the user picked. [`tau_bench`]: the user's checkout of tau-bench.

pub mod models;
pub mod outside;
pub mod python;
pub mod remote;
pub mod tau_bench;
pub mod tokenizer;

use volary_browser::storage::{self, Keep};

/// The names under which servers, Python files and the checkout of tau-bench are stored.
const STORED: [&str; 3] = ["servers", "python-files", "tau-bench"];

/// Whether this browser stores environments that are no part of the page. Does not read them.
pub fn has_stored() -> bool {
    STORED
        .iter()
        .any(|name| storage::get(Keep::Always, name).is_some())
}
