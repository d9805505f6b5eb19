//! A school for a small language agent: it learns by reinforcement to use the tools of a real environment, while somebody
//! watches.
//!
//! - [`learnable`]: what makes an environment learnable: a prompt, a grammar of calls, replies, a verdict. [`calculator`],
//!   [`counter`] and [`hands`] are, in the list of [`courses`]. [`play`]: an environment driven by texts.
//! - [`knobs`]: the settings of a run, and planted failures. [`advantage`] and [`loss`]: GRPO and its relatives.
//! - [`rollout`]: many episodes at once. [`run`]: the state machine, one update at a time. [`warm_start`]: the policy before
//!   the first update, which learned from a faulty student.
//! - [`record`]: what an update shows. [`episodes`]: rollouts as ordinary trajectories. [`inspect`]: what a policy does
//!   with one prompt, in an exam, and how an update changed it. [`findings`]: what looks wrong in a run.
//! - [`classwork`]: what pupils handed in, as a warm start. [`person`]: a person who answers the same task,
//!   with [`moves`].
//!
//! Invariants: nothing here reads files or clocks. The same knobs and the same warm start give the same weights, bit for
//! bit, on every platform, also if the run was stopped and continued from a checkpoint.

pub mod advantage;
pub mod alphabet;
pub mod calculator;
pub mod classwork;
pub mod counter;
pub mod courses;
pub mod episodes;
pub mod findings;
pub mod hands;
pub mod inspect;
pub mod knobs;
pub mod learnable;
pub mod link;
pub mod loss;
pub mod moves;
pub mod person;
pub mod play;
pub mod record;
pub mod rollout;
pub mod run;
pub mod shipped;
pub mod warm_start;

pub use volary_policy as policy;

pub use alphabet::Alphabet;
pub use classwork::{Classwork, PupilWork};
pub use courses::{learnable, learnables};
pub use findings::{Finding, findings};
pub use knobs::{Aggregation, Estimator, Grader, KnobError, Knobs, Preset};
pub use learnable::{Behaviour, Difficulty, Exercise, Learnable};
pub use play::SchoolError;
pub use record::{GroupRecord, UpdateMetrics};
pub use rollout::Rollout;
pub use run::{Run, RunError, Update};
pub use shipped::shipped;
