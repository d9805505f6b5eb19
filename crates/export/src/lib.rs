//! Writers for the formats of other tools, and for reading. Pure: episodes in, text out.
//!
//! - [`atif`]: ATIF 1.7 (Harbor). [`inspect`]: a log of Inspect, `.json`. [`ldp`]: trajectories of ldp.
//! - [`html`]: one episode as a self-contained page. [`findings`]: notes on several, as a page.
//! - [`slime`]: samples and interactions of slime, with tokens. [`tau_bench`]: an array of results.
//! - [`training_rows`]: rows of data sets, with tokens.
//! - `parts`: shared helpers.
//!
//! - [`messages_jsonl`]: OpenAI-style messages; [`chat_rules`]: what chat APIs refuse. [`markdown`]: an episode as Markdown.
//!
//! The other writers are [`native`](volary_episode::native) and `volary_formats::renderer_files`. A table for spreadsheets
//! is `volary_analysis::csv`.
//!
//! Invariants: the output is standard JSON; numbers that JSON cannot represent become null, except in [`training_rows`],
//! where null is a gap.

pub mod atif;
pub mod chat_rules;
pub mod findings;
pub mod html;
pub mod inspect;
pub mod ldp;
pub mod markdown;
pub mod messages_jsonl;
mod parts;
pub mod slime;
pub mod tau_bench;
pub mod training_rows;
