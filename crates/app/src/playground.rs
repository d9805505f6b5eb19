//! One episode that is played step by step.
//!
//! - [`session`]: how the shown episode relates to the worker's environment; commands out, events in.
//! - [`consent`]: whether an episode may run at once, or only after the user agreed.
//! - [`replay`]: what a replay says about the episode.
//! - [`run_choice`]: what **Run** does.
//! - [`saver`]: under which id a played episode is stored.

pub mod consent;
pub mod replay;
pub mod run_choice;
pub mod saver;
pub mod session;
