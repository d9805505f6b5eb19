//! Pure projections: what the page shows, computed from episodes, values and schemas without any
//! front end. Everything here runs and is tested natively; nothing here knows leptos.
//!
//! - [`transcript`]: an episode as blocks of messages to scroll through; [`heights`]: of blocks.
//! - [`scroll`]: where a reader is in it, and what has to stand on the page.
//! - [`link`]: which response answers which call.
//! - [`text`]: foreign text made safe to look at: folded, cut into parts, invisible marks shown.
//! - [`content`]: what a message holds, taken apart for reading.
//! - [`pretty`]: JSON values as coloured, indented text.
//! - [`tree`]: frames as rows of a tree with marks of change.
//! - [`form`]: JSON Schema as a form, what is typed as JSON, with errors.
//! - [`compare`]: two episodes beside each other.
//! - [`library`]: the table of trajectories.
//! - [`passage_link`]: a passage in an address. [`prose`]: Markdown as a tree; [`ansi`]: what terminals show; [`marks`]: places in a text and on the page.
//! - [`outline`]: a line a step; [`step_bar`]: the steps as one bar. [`rows`]: long lists of equal rows.
//! - [`state_path`]: rows of a frame as parts of the state. [`measures`]: what steps bring and cost.
//! - [`curve`]: amounts as geometry; [`shapes`] as paths. [`summary`]: an episode in words.
//! - [`notice`]: what went wrong, why, and what to do. [`turn`]: what a model is saying.
//! - [`recovery`]: the status while stored results are recovered.
//! - [`asking`]: what asking the model cost, in words. [`tally`]: what steps brought and cost together.

pub mod ansi;
pub mod asking;
pub mod compare;
pub mod content;
pub mod curve;
pub mod form;
pub mod heights;
pub mod library;
pub mod link;
pub mod marks;
pub mod measures;
pub mod notice;
pub mod outline;
pub mod passage_link;
pub mod pretty;
pub mod prose;
pub mod recovery;
pub mod rows;
pub mod scroll;
pub mod shapes;
pub mod state_path;
pub mod step_bar;
pub mod summary;
pub mod tally;
pub mod text;
pub mod transcript;
pub mod tree;
pub mod turn;

pub use text::size_text;
