//! Lessons: a Markdown file with episodes, tasks, checks and hints. `docs/lessons.md` describes the format.
//!
//! - [`lesson`]: what a lesson consists of; [`parse`] reads it from a file, [`block`] the fields of a block,
//!   [`actions`] its actions.
//! - [`goal`]: what a check asks for, as a pure function of an episode.
//! - [`verify`]: whether the episodes of a lesson can be played and its checks met.
//! - [`catalog`]: the lessons that come with the page; [`progress`]: what a reader has done.
//!
//! Invariants: reading never fails without the line of the fault; raw HTML stays text; nothing here does I/O.

pub mod actions;
pub mod block;
pub mod catalog;
pub mod goal;
pub mod lesson;
pub mod parse;
pub mod progress;
pub mod verify;

pub use goal::{Condition, Goal};
pub use lesson::{Check, Lesson, Piece, Play, Problem, Question, Recording};
pub use parse::parse;
pub use progress::Progress;
