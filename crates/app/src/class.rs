//! The state machines of a class.
//!
//! - [`assignment_form`]: a teacher makes an assignment.
//! - [`board`]: the hand-ins that a teacher sees, and the connection to a class server. [`work_desk`]: a pupil's work on
//!   an assignment. [`download_name`]: names of the files that both save.

pub mod assignment_form;
pub mod board;
pub mod download_name;
pub mod work_desk;
