//! Review: reading trajectories of any origin.
//!
//! - [`page`]: the library or one of its episodes. [`library_page`] with its [`table`], whose display state is in
//!   [`selection`]; [`filters`], [`groups`], [`cross_table`] and [`chart`]; actions on [`chosen`] rows; storage in
//!   [`storage_dialog`]. [`progress`]: running imports; [`field_mapping`]: records of unknown shapes.
//! - [`opening`]: opens what an address names; `file_in_address` asks before a file named there is fetched.
//!   [`gradually`]: computation in time slices.
//! - [`opened_pages`]: a training run, an episode or several, whose code is loaded when the first is opened.
//! - [`compare_page`]: two episodes, with their state in [`comparison`]; [`grid_page`]: several as a grid; [`forks`]:
//!   other continuations of an episode. [`training`]: training runs, with their steps and groups.
//! - `agent_tools`: the tools of the table for agents in the browser.
//! - [`actions`]: actions on an episode; [`link_reach`]: who can open a link; `export_chosen`: the export of
//!   several episodes.
//! - [`sequence`]: moving from one trajectory of the table to the next; [`result_panel`]: how an episode ended and why.
//! - [`viewer`]: the state of an open episode; [`episode_page`]: its page, with the side panels in [`panels`] and
//!   [`state_panel`], and notes in [`notes`], `stored_notes`, `found_runs`, [`notes_file`] and [`notes_panel`].
//! - [`lanes`]: subagents and parallel calls below the step bar, and related trajectories. [`sample_time`]: the spans of
//!   time that the file records.
//! - [`reading_bar`]: display options of the transcript; [`marks`]: its highlights, whose places are in `spots`;
//!   [`quote`]: the selected text. [`tokens`]: the recorded tokens below messages.

pub mod actions;
mod agent_tools;
pub mod chart;
pub mod chosen;
pub mod compare_page;
pub mod comparison;
pub mod cross_table;
pub mod episode_page;
pub mod evaluation_bar;
mod export_chosen;
pub mod field_mapping;
mod file_in_address;
pub mod filters;
pub mod forks;
mod found_runs;
pub mod gradually;
pub mod grid_page;
pub mod groups;
pub mod lanes;
pub mod library_page;
pub mod link_reach;
pub mod marks;
pub mod notes;
pub mod notes_file;
pub mod notes_panel;
pub mod opened_pages;
pub mod opening;
pub mod page;
pub mod panels;
pub mod progress;
pub mod quote;
pub mod reading_bar;
pub mod result_panel;
mod sample_time;
pub mod selection;
pub mod sequence;
pub mod sharing_check;
mod spots;
pub mod state_panel;
pub mod storage_dialog;
mod stored_notes;
pub mod table;
pub mod tokens;
mod tool_list;
pub mod training;
pub mod viewer;

/// The keyboard shortcuts, as the help overlay lists them.
pub const KEYS: volary_ui::navigation::Keys = &[
    ("?", "Show keyboard shortcuts"),
    ("/", "Find words"),
    ("j", "Select the next step"),
    ("k", "Select the previous step"),
    ("n", "Select the next step with a reward or error"),
    ("N", "Select the previous one"),
    (
        "]",
        "Open the next trajectory of the table, or the next step or group of a training run",
    ),
    ("[", "Open the previous one"),
    ("e", "Open the next failure at the failing line"),
    ("E", "Open the previous failure"),
    ("gg", "Select the start"),
    ("G", "Select the last step"),
    ("h", "Collapse the step to one line per message"),
    ("l", "Expand the step"),
    ("J", "Go to the next message"),
    ("K", "Go to the previous message"),
    ("t", "Go to the next token that the tokens panel ranks"),
    ("T", "Go to the previous one"),
    ("a", "Add a note on the selected text or the step"),
    ("1 to 9", "Put a label on the step, or take it away"),
    ("p", "Play or pause"),
    ("Arrow keys on the timeline", "Move from step to step"),
    ("Escape", "Close the open dialog or menu"),
];
