//! Errors of the browser's database.

use wasm_bindgen::prelude::*;
use web_sys::{DomException, Event, IdbTransaction};

use crate::js_error::text_of;

/// A database error. Every error leaves the database unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The browser has no database.
    #[error("This browser does not support IndexedDB.")]
    Absent,
    /// The browser refuses to store anything.
    #[error("The browser refuses to store data for this page ({reason})")]
    Refused {
        /// The browser's message.
        reason: String,
    },
    /// Out of space.
    #[error("Storage is full: there is no space left on the disk or in this page's quota.")]
    Full,
    /// A newer version of this page upgraded the database: it can be read, not changed.
    #[error(
        "A newer version of this page stored data in this browser. This older version can read it \
         but not change it."
    )]
    Newer,
    /// A new record exists already.
    #[error("Another tab stored a record with the same key.")]
    Taken,
    /// Anything else.
    #[error("The browser's database failed: {reason}")]
    Failed {
        /// The browser's message.
        reason: String,
    },
}

impl DatabaseError {
    /// Advice for the user.
    pub fn advice(&self) -> &'static str {
        match self {
            DatabaseError::Absent | DatabaseError::Refused { .. } => {
                "Use a non-private window or allow this page to store data. Until then, save files."
            }
            DatabaseError::Full => {
                "Delete stored episodes (Settings, Storage) or free disk space. Until then, save \
                 files."
            }
            DatabaseError::Newer => {
                "Reload to get the newer version, or use its address. Export what you need: data \
                 created here is lost when you leave."
            }
            DatabaseError::Taken | DatabaseError::Failed { .. } => {
                "Reload the page. Until then, save files."
            }
        }
    }

    /// The reason of an aborted transaction.
    pub(super) fn of_event(event: &Event) -> Self {
        let transaction = event
            .target()
            .and_then(|target| target.dyn_into::<IdbTransaction>().ok());
        match transaction.and_then(|transaction| transaction.error()) {
            Some(exception) => DatabaseError::of_exception(&exception),
            None => DatabaseError::Failed {
                reason: "a transaction was aborted".to_owned(),
            },
        }
    }

    fn of_exception(exception: &DomException) -> Self {
        let reason = || format!("{}: {}", exception.name(), exception.message());
        match exception.name().as_str() {
            "QuotaExceededError" => DatabaseError::Full,
            "ConstraintError" => DatabaseError::Taken,
            "VersionError" => DatabaseError::Newer,
            "SecurityError" | "InvalidAccessError" | "NotAllowedError" => {
                DatabaseError::Refused { reason: reason() }
            }
            _ => DatabaseError::Failed { reason: reason() },
        }
    }

    fn of_value(value: &JsValue) -> Self {
        match value.dyn_ref::<DomException>() {
            Some(exception) => DatabaseError::of_exception(exception),
            None => DatabaseError::Failed {
                reason: text_of(value),
            },
        }
    }
}

impl From<idb::Error> for DatabaseError {
    fn from(error: idb::Error) -> Self {
        use idb::Error::*;
        match &error {
            DomException(exception) => DatabaseError::of_exception(exception),
            IndexedDbNotFound(_) => DatabaseError::Absent,
            IndexedDbOpenFailed(value) => match DatabaseError::of_value(value) {
                DatabaseError::Failed { reason } => DatabaseError::Refused { reason },
                other => other,
            },
            AddFailed(value)
            | ClearFailed(value)
            | DeleteFailed(value)
            | GetFailed(value)
            | GetAllFailed(value)
            | GetAllKeysFailed(value)
            | TransactionOpenFailed(value)
            | ObjectStoreNotFound(value)
            | KeyRangeCreateFailed(value)
            | UpdateFailed(value) => DatabaseError::of_value(value),
            _ => DatabaseError::Failed {
                reason: error.to_string(),
            },
        }
    }
}
