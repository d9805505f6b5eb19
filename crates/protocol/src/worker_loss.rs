//! The loss of a worker.

use volary_core::json::Text;

use crate::DecodeError;

/// The reason why a worker does not reply any more.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkerLoss {
    /// Its code could not be loaded.
    #[error("Its code could not be loaded: you are offline, or the site was updated.")]
    Unloaded,
    /// It panicked, or the browser terminated it.
    #[error("{message}")]
    Crashed {
        /// The known cause.
        message: Text,
    },
}

impl From<DecodeError> for WorkerLoss {
    fn from(error: DecodeError) -> Self {
        WorkerLoss::Crashed {
            message: error.to_string().into(),
        }
    }
}
