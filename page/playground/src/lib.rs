//! The playground: pick an environment, configure it, act, and watch.
//!
//! What happens to the shown episode is decided by a state machine, `volary_app::playground::PlaygroundMachine`.
//!
//! - [`state`]: a handle to the machine and to signals, [`state::Playground`]; panes read them and send intents. The
//!   other modules are functions that take this handle.
//! - [`session_driver`]: sends events to the machine and carries out its effects. [`setup`]: environment, task, configuration and seed;
//!   `task_choices`: the options of tasks;
//!   [`manual_action`]: the action of the user, which a [`composer`] holds; [`policy_settings`]: the policy; [`player`]: the trait of what chooses
//!   actions, such as a [`model`].
//! - [`run_loop`], [`playback`]: running and playing back.
//! - [`built_in`]: the environments, for a view without the playground.
//! - [`first_view`]: the first view, shown before anything else is loaded; [`intents`]: user intents and the lazy loading
//!   of the code that handles them.
//! - [`remote_environments`]: environments on servers; [`python`], [`python_entries`]: environments of the user's Python
//!   files;
//!   `questions`: environments' questions to the page; `tau_bench`: tasks of the user's checkout of tau-bench.
//! - `first_episode`: reads the first episode of files. `incoming_episode`: waits for the episode of a second play.
//! - `planned`: episodes that wait for consent, shown in the [`plan_dialog`]; [`code_consent`]: Python code before it
//!   runs; [`linked_code`]: Python files at an address.
//! - `forks`: comparison of a forked episode with its original.
//! - [`second_run`]: check whether a Python episode is deterministic.
//! - `outlook`: what **Step** would do, in words.
//! - `terms`: explanations of terms, where they appear.
//! - [`transfer`], `imported_files`: export, import, share; [`url_sync`]: the address;
//!   [`episode_address`]: which episode it names; `saving`: stores played episodes in the library, and reads stored ones.
//! - [`page`] and the panes draw it.

pub mod built_in;
pub mod code_consent;
pub mod composer;
pub mod episode_address;
pub mod episode_bar;
pub mod first_episode;
mod first_view;
mod forks;
pub mod frame_pane;
pub mod hidden_members;
pub mod hint;
mod imported_files;
mod incoming_episode;
pub mod intents;
pub mod linked_code;
pub mod manual_action;
pub mod model;
mod next_task;
mod outlook;
pub mod page;
pub mod plan_dialog;
mod planned;
pub mod playback;
pub mod player;
pub mod policy_dialog;
pub mod policy_pane;
pub mod policy_settings;
pub mod python;
pub mod python_entries;
mod questions;
pub mod remote_environments;
pub mod rival;
mod run_controls;
pub mod run_loop;
mod saving;
pub mod second_run;
pub mod session_driver;
pub mod setup;
pub mod setup_pane;
pub mod state;
mod task_choices;
mod tau_bench;
mod terms;
mod tool_drafts;
pub mod tools_pane;
pub mod transfer;
pub mod transfer_dialogs;
pub mod url_sync;
mod view_messages;
