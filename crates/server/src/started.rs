//! The identity of a started environment.

use uuid::Uuid;

/// The id of an environment, ordered by start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Started {
    /// The position in the order of all starts.
    pub order: u64,
    /// The id under which clients address the environment.
    pub id: Uuid,
}
