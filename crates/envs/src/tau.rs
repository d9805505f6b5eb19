//! tau-bench: an agent serves a customer by tools that change data, and is rewarded if the data are the
//! right ones in the end.
//!
//! [`retail`] and [`airline`] behave as the original (sierra-research/tau-bench at 59a200c), whose data
//! and tasks the user brings: [`checkout`] reads them, [`checkout_files`] tells which files that takes, and
//! [`original`] has them as environments in the registry.
//!
//! - [`domain`]: tools, data, policy and tasks. [`tool`]: what a tool is; [`common`]: those that all have.
//! - [`episode`]: actions and their results; [`environment`]: the same as an environment; [`reward`]; [`pass_hat_k`](mod@pass_hat_k).
//! - [`customer`]: a script, a person, or a model that plays one. [`configuration`]: how one is chosen.
//! - [`view`]: the rich view; [`oracle`]: the policy that takes a task's own actions.
//! - [`database`], [`state`], [`hash`]: the data, as read and as changed, and their hash.
//! - [`python`]: operations on values of any type, as Python has them. [`literal`]: reading Python's
//!   literals.
//!
//! Invariants: nothing here does I/O, and no argument or file makes it panic.

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

pub use customer::{Customer, CustomerError, Progress};
pub use domain::{Action, Domain, RESPOND, STOP, Task};
pub use episode::{Episode, Step, Turn};
pub use pass_hat_k::pass_hat_k;
pub use reward::Reward;
