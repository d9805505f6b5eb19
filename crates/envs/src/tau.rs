//! tau-bench: an agent serves a customer with tools that change data, and is rewarded if the final data are
//! correct.
//!
//! [`retail`] and [`airline`] behave like the original (sierra-research/tau-bench at 59a200c), whose data
//! and tasks the user provides: [`checkout`] reads them, [`checkout_files`] determines the required files, and
//! [`original`] registers them as environments.
//!
//! - [`domain`]: tools, data, policy and tasks. [`tool`]: the definition of a tool; [`common`]: shared tools.
//! - [`episode`]: actions and their results; [`environment`]: an episode as an environment; [`reward`];
//!   [`pass_hat_k`](mod@pass_hat_k).
//! - [`customer`]: a script, a person, or a model that plays one. [`configuration`]: selects one.
//! - [`view`]: the rich view; [`oracle`]: the policy that takes a task's own actions.
//! - [`database`], [`state`], [`hash`]: the data as read, the changes of an episode, and their hash.
//! - [`python`]: Python's operations on values of any type. [`literal`]: parses Python's
//!   literals.
//!
//! Invariants: nothing here does I/O, and no argument or file causes a panic.

pub mod airline;
pub mod checkout;
pub mod checkout_files;
pub mod common;
pub mod configuration;
pub mod customer;
pub mod database;
pub mod domain;
pub mod environment;
pub mod episode;
pub mod hash;
pub mod literal;
pub mod oracle;
pub mod original;
pub mod pass_hat_k;
pub mod python;
pub mod retail;
pub mod reward;
pub mod state;
pub mod tool;
pub mod view;

pub use customer::{Customer, CustomerError, CustomerStep};
pub use domain::{Action, Domain, RESPOND, STOP, Task};
pub use episode::{Episode, Step, TurnResult};
pub use pass_hat_k::pass_hat_k;
pub use reward::Reward;
