//! Evaluations: tasks × policies × repeats, their results and statistics.
//!
//! - [`plan`]: what is to be done: tasks, policies, repeats; its cells, each with its seeds.
//! - [`mod@play`]: playing a cell whose policy needs no model.
//! - [`schedule`]: which cell is next and whether a request may be sent now: a state machine without I/O.
//! - [`result`]: the result of one cell. [`table`]: statistics of all. [`reason`]: why some failed. [`export`]:
//!   as files.
//!
//! Invariants: a cell's seeds follow from the plan and its place alone, and the schedule is rebuilt from
//! the plan and the results that are kept, so an evaluation survives whatever ends the page.

pub mod export;
pub mod plan;
pub mod play;
pub mod reason;
pub mod result;
pub mod schedule;
pub mod table;

pub use plan::{Actor, Cell, Plan, PlannedPolicy, PlannedTask, Selection};
pub use play::{Job, episode_id};
pub use reason::MainReason;
pub use result::{CellResult, Failure, FailureKind, Status};
pub use schedule::{Lane, Permit, Phase, Progress, Schedule};
pub use table::Table;
