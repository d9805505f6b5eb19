//! The playground: pick an environment, configure it, act, and watch.
//!
//! What happens to the shown episode is decided by a state machine, `volary_app::playground::PlaygroundMachine`.
//!
//! - [`state`]: a handle to the machine and to [`signals`], [`state::Playground`]; panes read them and send events.
//!   The other modules are functions that take this handle. No two of them import each other.
//! - [`start`]: creates the playground. [`page`] and the panes draw it, with `parts` that are drawn once they are needed.
//! - [`session_driver`]: sends events to the machine and carries out its effects. With it: `worker`, `driver_state`,
//!   `players` and `turns`, `redraws` (of the panes), `mirror` (signals that show the machine), `known_environments`,
//!   `saving`, `questions` and `answer_questions` (environments' questions to the page).
//! - Two tables of functions that are loaded after the first view: `play_code`, all that plays (`play_part` has it, and
//!   `lazy_table` what waits for it); `lazy_code`, what playing by hand does not need (`lazy_part`). [`choices`]: what other
//!   pages call of the first.
//! - [`url_sync`]: the address; [`episode_address`]: which episode it names; `links`: those with an episode in them;
//!   `shown_place`: writes the address.
//! - [`linked_code`]: Python files at an address. [`plan_dialog`]: episodes that wait for consent; [`code_consent`]: Python
//!   code before it runs.
//! - [`files`]: the buttons for files; [`transfer`], `imported_files`, [`share_links`]: import, export, share.
//! - [`setup`]: environment, task, configuration and seed; `task_choices`: the options of tasks; [`entries`]: the
//!   environments of the page; `connected`: all others; [`remote_environments`]: those on servers; [`python`],
//!   [`python_entries`]: those of the user's Python files; `tau_bench`: tasks of the user's checkout of tau-bench.
//! - [`manual_action`]: the action of the user, which a [`composer`] holds; [`policy_settings`]: the policy; [`player`]:
//!   the trait of what chooses actions, such as a [`model`]; [`run_loop`], [`playback`]: running and playing back.
//! - [`first_view`], `opening_record`: the first view, shown before anything else is loaded.
//! - `first_episode`: reads the first episode of files. `second_play`, `incoming_episode`: a second play, and its episode.
//! - `forks`: comparison of a forked episode with its original. [`second_run`]: check whether a Python episode is
//!   deterministic. `rival`: a model plays the same task; [`play_against`]: the button for it.
//! - [`welcome`]: what a newcomer sees first; `demonstration`: a scripted agent that solves the first task.
//! - [`next_action`]: the control in which the person acts next. `outlook`: what **Step** would do.

mod answer_questions;
pub mod choices;
pub mod code_consent;
pub mod composer;
mod connected;
mod demonstration;
mod driver_state;
pub mod entries;
pub mod episode_address;
pub mod episode_bar;
pub mod files;
pub mod first_episode;
mod first_view;
mod forks;
pub mod frame_pane;
pub mod hidden_members;
mod imported_files;
mod incoming_episode;
mod known_environments;
mod lazy_code;
mod lazy_part;
mod lazy_table;
pub mod linked_code;
mod links;
pub mod manual_action;
mod mirror;
pub mod model;
pub mod next_action;
mod next_task;
mod opening_record;
mod outlook;
pub mod page;
mod parts;
pub mod plan_dialog;
pub mod play_against;
mod play_code;
mod play_part;
pub mod playback;
pub mod player;
mod players;
pub mod policy_dialog;
pub mod policy_pane;
pub mod policy_settings;
pub mod python;
pub mod python_entries;
mod questions;
mod redraws;
pub mod remote_environments;
mod rival;
mod run_controls;
pub mod run_loop;
mod saving;
mod second_play;
pub mod second_run;
pub mod session_driver;
pub mod setup;
pub mod setup_pane;
pub mod share_links;
mod shown_place;
pub mod signals;
pub mod start;
pub mod state;
mod task_choices;
mod tau_bench;
mod tool_drafts;
pub mod tools_pane;
pub mod transfer;
pub mod transfer_dialogs;
mod turns;
pub mod url_sync;
mod view_messages;
pub mod welcome;
mod worker;
