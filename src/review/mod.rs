//! Review: episodes that people read, whatever made them.
//!
//! - [`page`]: the library or one of its episodes. [`library_page`] with its [`table`], looked at as
//!   [`selection`] says, with [`filters`], [`groups`], what can be done with what is [`chosen`], and how much
//!   room there is in [`room_dialog`]. [`progress`]: what is being read.
//! - [`opening`]: of what an address names. [`linked_file`]: the file that it names, about which [`fetch_question`] asks. [`gradually`]: what takes long, a little at a time.
//! - [`compare_page`]: two episodes side by side, which [`comparison`] holds; [`grid_page`]: several as a grid.
//! - [`actions`]: what can be done with one as a whole; [`link_reach`]: for whom a link to it works; [`export`]: in which formats it is saved.
//! - [`viewer`]: the signals of one episode that is read; [`episode_page`]: how it looks, with the
//!   panels beside it in [`panels`] and [`state_panel`], and what people note in [`notes`] and [`notes_panel`].
//! - [`reading_bar`]: what of the transcript is folded; [`marks`]: words that are marked in it; [`quote`]: words
//!   that a person selected there.

pub mod actions;
pub mod chosen;
pub mod compare_page;
pub mod comparison;
pub mod episode_page;
pub mod export;
pub mod fetch_question;
pub mod filters;
pub mod gradually;
pub mod grid_page;
pub mod groups;
pub mod library_page;
pub mod link_reach;
pub mod linked_file;
pub mod marks;
pub mod notes;
pub mod notes_panel;
pub mod opening;
pub mod page;
pub mod panels;
pub mod progress;
pub mod quote;
pub mod reading_bar;
pub mod room_dialog;
pub mod selection;
pub mod state_panel;
pub mod table;
pub mod viewer;

/// The keys that work, as the overlay lists them.
pub const KEYS: crate::navigation::Keys = &[
    ("?", "Show keyboard shortcuts"),
    ("/", "Find words"),
    ("j", "Select the next step"),
    ("k", "Select the previous step"),
    ("n", "Select the next step with a reward or error"),
    ("N", "Select the previous one"),
    ("gg", "Select the start"),
    ("G", "Select the last step"),
    ("h", "Collapse the step to one line per message"),
    ("l", "Expand the step"),
    ("J", "Go to the next message"),
    ("K", "Go to the previous message"),
    ("a", "Add a note on the selected text or the step"),
    ("p", "Play or pause"),
    ("Arrow keys on the timeline", "Move from step to step"),
    ("Escape", "Close the open dialog or menu"),
];
