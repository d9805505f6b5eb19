//! Writers for the formats of other tools, and for reading.
//!
//! - [`atif`]: ATIF 1.7 (Harbor). [`inspect`]: a log of Inspect, `.json`. [`ldp`]: trajectories of ldp.
//! - [`html`]: one episode as a self-contained page. [`findings`]: notes on several, as a page.
//! - [`slime`]: samples and interactions of slime, with tokens. [`tau_bench`]: an array of results.
//! - [`training_rows`]: rows of data sets, with tokens.
//! - `parts`: shared helpers.
//!
//! The other writers are [`native`](volary_episode::native), [`renderer_files`](crate::renderer_files) and
//! [`messages_jsonl`](crate::messages_jsonl). A table for spreadsheets is `volary_analysis::csv`.
//!
//! Invariants: the output is standard JSON; numbers that JSON cannot represent become null, except in [`training_rows`],
//! where null is a gap.

pub mod atif;
pub mod findings;
pub mod html;
pub mod inspect;
pub mod ldp;
pub(crate) mod parts;
pub mod slime;
pub mod tau_bench;
pub mod training_rows;
