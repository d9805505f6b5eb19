//! The state machines of Review.
//!
//! - [`opening`]: what the address names is opened, and renewed while it grows. [`time_axis`]: the time of samples, a part
//!   of which is shown. [`notes_sync`]: notes in the file of a server. [`note_draft`]: the form for a note. [`episode_search`]: the search in the open
//!   episode. [`table_tools`]: the tools of the table for agents.

pub mod episode_search;
pub mod note_draft;
pub mod notes_sync;
pub mod opening;
pub mod table_tools;
pub mod time_axis;
