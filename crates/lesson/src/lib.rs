//! Lessons: Markdown files with episodes, tasks, checks and hints. `docs/lessons.md` describes the format.
//!
//! - [`lesson`]: the data model; [`parse`]: parser of a file, [`block`] of a block's fields, [`actions`] of actions.
//! - [`school_block`]: tasks on the page of the school. [`goal`]: goals of checks, as pure functions of an episode.
//! - [`verify`]: verifies that the episodes of a lesson can be played and its checks met.
//! - [`slides`]: a lesson as slides for a presentation.
//! - [`catalog`]: the built-in lessons; [`progress`]: the progress of a reader.
//!
//! Invariants: every parse error has the line of the fault; raw HTML stays text; nothing here does I/O.

pub mod actions;
pub mod block;
pub mod catalog;
pub mod goal;
pub mod lesson;
pub mod parse;
pub mod progress;
pub mod school_block;
pub mod slides;
pub mod verify;

pub use goal::{Condition, Goal};
pub use lesson::{Check, Lesson, Piece, Play, Problem, Question, Recording};
pub use parse::parse;
pub use progress::Progress;
pub use school_block::SchoolBlock;
