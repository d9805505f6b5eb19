//! The messages between the page and its workers, as serde types, and their encoding. Pure.
//!
//! - [`envelope`]: the envelope of every message: request ids, and the end of a stream of replies.
//! - [`environments`]: playing environments, one action after the other.
//! - [`library`]: the stored trajectories: listing, opening, searching, importing.
//! - [`asking`]: the texts of trajectories for questions to models.
//! - [`behaviour`]: what agents do in many trajectories.
//! - [`evaluation`]: playing whole cells of an evaluation.
//! - [`checkout`]: reading and storing a checkout of tau-bench.
//! - [`rollout`]: prompts, replies and tokens of rollouts.
//! - [`school`]: training a small policy, update by update.
//! - [`episode`]: an episode in chunks, and its assembly.
//! - [`Calls`]: assigns replies to calls; [`WorkerLoss`]: why a worker does not reply any more.
//! - [`ChangedEpisodes`]: what another tab or worker stored or deleted.
//! - [`WorkerPart`]: what a worker is started for.
//!
//! Invariants:
//! - Every request has an id that is never reused by a worker's client; every reply carries the id of its request.
//! - Page and worker are the same build, so messages are encoded with postcard, which has no field names and no
//!   version. Nothing in this format is ever stored.
//! - Values with a JSON codec of their own (episodes, steps, messages, table rows: integers of any size, `NaN`) are
//!   encoded as the text of that codec (`coded`), which only the reader parses, once.
//!
//! `tests/golden/` shows every message as JSON, and a test fails for a message that is missing there.
//! `UPDATE_GOLDEN=1 cargo test -p volary-protocol` rewrites the files.

pub mod asking;
pub mod behaviour;
mod calls;
mod changed_episodes;
pub mod checkout;
mod coded;
pub mod envelope;
pub mod environments;
pub mod episode;
pub mod evaluation;
pub mod library;
pub mod rollout;
pub mod school;
mod worker_loss;
mod worker_part;

pub use calls::Calls;
pub use changed_episodes::ChangedEpisodes;
pub use envelope::{Channel, DecodeError, Delivery, Request, RequestId, decode_event, encode};
pub use worker_loss::WorkerLoss;
pub use worker_part::WorkerPart;

#[cfg(test)]
mod tests;
