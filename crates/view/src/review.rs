//! Review: what its table, its groups and its open trajectory show.
//!
//! - [`screen`]: which part of Review the address names; [`address`]: what is written into it.
//! - [`table_rows`]: the rows of the table; [`row_selection`]: those that are selected; [`filter_texts`]: filters, columns and
//!   grouping; [`column_widths`]: their widths; [`table_neighbours`]: the rows before and after the open trajectory.
//! - [`group_cells`]: the table of groups; [`cross_cells`]: groups by two columns.
//! - [`episode_facts`]: the facts about an episode; [`forked`]: which episode continues another one; [`note_texts`]: notes;
//!   [`grid_texts`]: several episodes as a grid; [`side_panels`]: the panels next to an episode; [`tool_details`]: its tools.
//! - [`behaviour_map`]: the map of behaviour; [`behaviour_cells`]: what the table shows of behaviour.
//! - [`training`]: training runs.
//! - [`mapping_texts`]: the mapping of the members of unknown records.

pub mod address;
pub mod behaviour_cells;
pub mod behaviour_map;
pub mod column_widths;
pub mod cross_cells;
pub mod episode_facts;
pub mod filter_texts;
pub mod forked;
pub mod grid_texts;
pub mod group_cells;
pub mod mapping_texts;
pub mod note_texts;
pub mod row_selection;
pub mod screen;
pub mod side_panels;
pub mod table_neighbours;
pub mod table_rows;
pub mod tool_details;
pub mod training;
