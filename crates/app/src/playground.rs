//! One episode that is played step by step.
//!
//! - [`session`]: how the shown episode relates to the worker's environment; commands out, events in.
//! - [`action`]: actions that the user makes by hand.
//! - [`address`]: what the address says about the episode.
//! - [`consent`]: whether an episode may run at once, or only after the user agreed.
//! - [`policy`]: the policies and their settings; [`run`]: which run is current.
//! - [`redraw`]: when the page draws what changed.
//! - [`replay`]: what a replay says about the episode.
//! - [`run_choice`]: what **Run** does.
//! - [`saver`]: under which id a played episode is stored.
//! - [`sharing`]: what a shared link holds.
//! - [`tasks`]: lists of tasks, and the recipes of tasks.

pub mod action;
pub mod address;
pub mod consent;
pub mod policy;
pub mod redraw;
pub mod replay;
pub mod run;
pub mod run_choice;
pub mod saver;
pub mod session;
pub mod sharing;
pub mod tasks;
