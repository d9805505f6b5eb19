//! A class: a teacher gives an assignment, pupils hand in, and a board shows who has reached what.
//! `docs/classroom.md` describes the formats.
//!
//! - [`assignment`]: a list of tasks, as the text of a link or as a file. [`hand_in`]: what a pupil hands in.
//! - [`board`]: the rows of the board, the names that it shows, and its table for spreadsheets.
//! - [`blind`]: pairs of trajectories to judge without knowing who acted.
//! - [`wire`]: the messages between page and class server. [`work`]: a pupil's work, as the browser stores it.
//!
//! Invariants: nothing here does I/O. Every text that is read may come from anybody: its version, its lengths and its
//! counts are checked before it is used. The teacher's key is in none of these values.

pub mod assignment;
pub mod blind;
pub mod board;
pub mod hand_in;
pub mod name;
pub mod wire;
pub mod work;

pub use assignment::{AssignedTask, Assignment, AssignmentError, Class, TaskStart};
pub use board::{BoardRow, Standing, TaskState};
pub use hand_in::{HandIn, HandInError, HandedTask};
pub use name::Name;
pub use work::Work;
