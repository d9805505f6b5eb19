//! Behaviour over many trajectories, above the table of Review, and the diagnostics of an open one.
//!
//! - [`link`]: what the table needs of it, which is loaded with the table. [`panel`]: the section above the table, with its
//!   `state`; `clusters_view`, `map_view` with `map_table`, `rules_view` with `rule_form` and `rule_file`; `work_view`: what is
//!   being computed; `naming_view` and `naming`: names of clusters by a model. `restoring`: what the address names.
//! - [`diagnostics_view`]: the diagnostics of an episode.

mod clusters_view;
pub mod diagnostics_view;
pub mod link;
mod map_table;
mod map_view;
mod naming;
mod naming_view;
pub mod panel;
mod restoring;
mod rule_file;
mod rule_form;
mod rules_view;
mod state;
mod work_view;
