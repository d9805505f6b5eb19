//! Evaluations: tasks × policies × trials, their results and statistics.
//!
//! - [`plan`]: tasks, policies and trials; the cells, each with its seeds.
//! - [`mod@play`]: plays a cell whose policy needs no model.
//! - [`schedule`]: selects the next cell and limits the rate of requests: a state machine without I/O.
//! - [`result`]: the result of one cell. [`table`]: statistics of all. [`reason`]: why some failed. [`export`]:
//!   as files.
//!
//! Invariants: a cell's seeds follow from the plan and its index alone. The schedule is rebuilt from the plan and the
//! stored results, so an evaluation survives a closed or crashed page.

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
pub use schedule::{EvaluationPhase, Lane, Permit, Progress, Schedule};
pub use table::Table;
