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
