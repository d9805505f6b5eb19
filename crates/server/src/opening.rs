//! Which environment is started.

use volary_core::json::Object;
use volary_remote::request::Start;

/// Selects the environment.
#[derive(Clone, Debug, PartialEq)]
pub enum Opening {
    /// As aviary's clients do.
    Start(Start),
    /// The task with this number in an endless round, or the next environment of an endless dataset.
    Turn(u64),
    /// The environment with this seed, from arguments. Where the tasks are numbered and there are no arguments, the seed
    /// selects one of them.
    Seeded { seed: u64, arguments: Object },
}

impl From<Start> for Opening {
    fn from(start: Start) -> Self {
        Opening::Start(start)
    }
}
