//! The playground: pick an environment, configure it, act, watch.
//!
//! - [`session`]: the life of the episode, a pure state machine; [`incoming`]: episodes in parts.
//! - [`state`]: all signals in one value, [`state::Playground`]; panes read them and call its intents.
//! - [`engine`]: session and worker together; [`setup`], [`hands`], [`drive`]: what a person sets up,
//!   does by hand, leaves to a policy; [`player`]: who plays then; [`model`]: a model does.
//! - [`run_loop`], [`playback`]: what goes on by itself.
//! - [`opening`]: what a first visit shows before anything else is loaded; [`intents`]: what a person
//!   wants, and the loading of what does it.
//! - [`abroad`]: environments on task dataset servers; [`consent`]: whether an episode may run on one, [`planned`]: those that
//!   wait for the user to agree, in the [`plan_dialog`].
//! - [`python`]: environments of the user's Python files.
//! - [`transfer`]: export, import, share; [`place`]: the address. `saving`: what was played goes into the library.
//! - [`page`] and the panes draw it.

pub mod consent;
pub mod controls;
pub mod episode_bar;
pub mod frame_pane;
pub mod hint;
pub mod incoming;
pub mod intents;
pub mod linked_code;
pub mod manual_action;
pub mod model;
pub mod opening;
pub mod outside;
pub mod outside_dialog;
pub mod page;
pub mod plan_dialog;
mod planned;
pub mod playback;
pub mod player;
pub mod policy_pane;
pub mod policy_settings;
pub mod python;
pub mod remote_environments;
pub mod run_loop;
mod saving;
pub mod session;
pub mod session_driver;
pub mod setup;
pub mod setup_pane;
pub mod state;
pub mod tasks;
mod tool_drafts;
pub mod tools_pane;
pub mod transfer;
pub mod transfer_dialogs;
pub mod url_sync;
