//! Pure projections from episodes, values and schemas to the rows that the page draws, and the addresses of the page. No
//! front end: everything is tested natively.
//!
//! - [`transcript`]: an episode as blocks of messages to scroll through; [`heights`]: the heights of blocks.
//! - [`scroll`]: the scroll position, and the blocks to render.
//! - [`link`]: matches responses to calls.
//! - [`text`]: untrusted text made safe to display: folded, split into parts, invisible characters named.
//! - [`content`]: the content of a message in its most readable form.
//! - [`pretty`]: JSON values as coloured, indented text.
//! - [`tree`]: frames as rows of a tree with change marks.
//! - [`form`]: forms from JSON Schema, their drafts and errors.
//! - [`task_groups`]: lists of tasks for choosing one.
//! - [`glossary`]: definitions of terms. [`plain_words`]: terms of the word problems in plain words. [`hidden_answer`]: when
//!   a player sees the answer.
//! - [`compare`]: comparison of two episodes.
//! - [`library`]: the table of trajectories.
//! - [`review`]: what Review shows around it. [`ask`]: questions to models about trajectories.
//! - [`passage_link`]: passages in addresses. [`prose`]: Markdown as a tree. [`ansi`]: terminal output.
//!   [`highlight`]: highlights in a text and on the page.
//! - [`outline`]: one line per step. [`step_bar`]: all steps as one bar. [`rows`]: virtual scrolling of equal
//!   rows.
//! - [`state_path`]: rows of a frame as paths into the state. [`measures`]: per-step amounts.
//! - [`curve`]: amounts as geometry; [`curve_texts`]: in words. [`shapes`]: SVG paths. [`drawing`]: gauges and drawings. [`point_keys`]: the keys of a chart. [`summary`]: the summary of an episode.
//! - [`turn`]: a streaming model response. [`welcome`]: the guide for newcomers.
//! - [`recovery`]: the status while an evaluation is loaded, or stored results are migrated.
//! - [`token_text`]: tokens in display form. [`token_lines`]: tokens as lines to scroll. [`token_shades`]: their shades by
//!   a stream. [`token_cell`]: their marks. [`token_words`]: what is said about them.
//!   [`token_histogram`], [`token_curves`]: streams as charts.
//! - [`training`]: curves and histograms of training runs. [`time_lanes`]: spans of time as lanes.
//! - [`school`]: a run of the school: curves, knobs, samples, a group explained.
//! - [`route`]: the URL's hash as a value.
//! - [`exchange_texts`]: requests to models in words. [`sharing_texts`]: what was found before something is shared. [`asking`]: model usage in words. [`tally`]: running totals of reward and usage.

pub mod ansi;
pub mod ask;
pub mod asking;
pub mod compare;
pub mod content;
pub mod curve;
pub mod curve_texts;
pub mod drawing;
pub mod exchange_texts;
pub mod form;
pub mod glossary;
pub mod heights;
pub mod hidden_answer;
pub mod highlight;
pub mod library;
pub mod link;
pub mod measures;
pub mod outline;
pub mod passage_link;
pub mod plain_words;
pub mod point_keys;
pub mod pretty;
pub mod prose;
pub mod recovery;
pub mod review;
pub mod route;
pub mod rows;
pub mod school;
pub mod scroll;
pub mod shapes;
pub mod sharing_texts;
pub mod state_path;
pub mod step_bar;
pub mod summary;
pub mod tally;
pub mod task_groups;
pub mod text;
pub mod time_lanes;
pub mod token_cell;
pub mod token_curves;
pub mod token_histogram;
pub mod token_lines;
pub mod token_shades;
pub mod token_text;
pub mod token_words;
pub mod training;
pub mod transcript;
pub mod tree;
pub mod turn;
pub mod welcome;
