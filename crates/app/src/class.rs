//! The state machines of a class.
//!
//! - [`board`]: the hand-ins that a teacher sees, and the connection to a class server.

pub mod board;
