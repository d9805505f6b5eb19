//! The playground: one episode, played step by step.
//!
//! - [`session`]: state machine between the shown episode and the worker's environment; commands out, events in.
//! - [`action`]: actions that the user makes by hand.
//! - [`chosen_action`]: an action with what its player records.
//! - [`address`]: the address of the shown episode.
//! - [`consent`]: whether an episode may run immediately or needs the user's consent.
//! - [`incoming_episode`]: the episode of a second play, which counts once it is complete.
//! - [`linked_code`]: a Python file at an address.
//! - [`policy`]: the policies and their settings; [`run`]: which run is current.
//! - [`redraw`]: throttle of redraws.
//! - [`replay`]: comparison of a replay with its record; [`replay_check`]: whether the result of a check still counts.
//! - [`rival_match`]: a policy plays the task that a person played.
//! - [`run_choice`]: what **Run** does.
//! - [`saver`]: under which id a played episode is stored.
//! - [`unattended`]: a session whose environment can ask nobody.
//! - [`worker_losses`]: whether a lost worker is replaced at once.
//! - [`sharing`]: contents of a shared link.
//! - [`tasks`]: lists of tasks, and the recipes of tasks.

pub mod action;
pub mod address;
pub mod chosen_action;
pub mod consent;
pub mod incoming_episode;
pub mod linked_code;
pub mod policy;
pub mod redraw;
pub mod replay;
pub mod replay_check;
pub mod rival_match;
pub mod run;
pub mod run_choice;
pub mod saver;
pub mod session;
pub mod sharing;
pub mod tasks;
pub mod unattended;
pub mod worker_losses;
