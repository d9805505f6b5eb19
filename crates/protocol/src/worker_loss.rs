//! Why a worker does not reply any more.

use volary_core::json::Text;

use crate::DecodeError;

/// Why a worker does not reply any more.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkerLoss {
    /// Its code could not be loaded.
    #[error("Its code could not be loaded: you are offline, or the site was updated.")]
    Unloaded,
    /// It panicked, or the browser ended it.
    #[error("{message}")]
    Crashed {
        /// What is known about it.
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
