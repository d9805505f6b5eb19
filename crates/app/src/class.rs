//! The state machines of a class.
//!
//! - [`assignment_form`]: a teacher makes an assignment.
//! - [`blind_judging`]: trajectories are judged in pairs.
//! - [`board`]: the hand-ins that a teacher sees, and the connection to a class server. [`work_desk`]: a pupil's work on
//!   an assignment. [`download_name`]: names of the files that both save.

pub mod assignment_form;
pub mod blind_judging;
pub mod board;
pub mod download_name;
pub mod work_desk;
