//! Questions to models about trajectories, with quotes that are checked. No I/O: texts and events in, texts and effects
//! out.
//!
//! - [`render`]: a trajectory as one compact text with numbered messages, which models, people and other programs read.
//!   [`parts`]: the text in parts that fit into a context.
//! - [`quotes`]: checks whether a quote occurs in the message that it names.
//! - [`question`]: questions and types of answers; [`presets`]; [`prompt`]: the messages that are sent.
//! - [`reply`]: what a model replied, read leniently. [`answer`]: the checked answer. [`merge`]: one answer of several
//!   parts.
//! - [`plan`]: requests, tokens and costs before anything is sent. [`run`]: the state machine that asks.
//!   [`rates`]: how often the quotes of each model hold.
//! - [`cache`]: paid answers, by what they depend on.
//! - [`calibration`]: a sample that a person labels first, and the agreement. [`synthesis`]: findings over many answers.
//! - [`cluster_names`]: names of groups of similar trajectories.

pub mod answer;
pub mod cache;
pub mod calibration;
pub mod cluster_names;
pub mod merge;
pub mod parts;
pub mod plan;
mod position;
pub mod presets;
pub mod prompt;
pub mod question;
pub mod quotes;
pub mod rates;
pub mod render;
pub mod reply;
pub mod run;
pub mod synthesis;

pub use answer::{Answer, Support};
pub use question::{AnswerType, Question};
pub use quotes::{QuoteCheck, QuoteIndex, QuoteState};
pub use render::{RenderOptions, Rendered};
