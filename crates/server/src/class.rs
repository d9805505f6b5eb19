//! A class: pupils hand in, and their teacher reads what they handed in. One SQLite file is one class.
//!
//! - [`store`]: the file. [`writer`]: the thread that owns it. [`handlers`]: one for each path. [`key`]: the teacher's
//!   key.
//!
//! A class has two keys. The teacher's key lists, reads and exports. The code for pupils, which every link to an
//! assignment contains, only hands in. The code is random: nothing about the key follows from it.
//!
//! Invariants: a confirmed hand-in survives the death of the process and of the machine. A hand-in that is refused, or
//! for which there is no space, changes nothing. Neither names nor keys nor hand-ins are logged.

pub mod handlers;
pub mod key;
pub mod store;
pub mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use subtle::ConstantTimeEq;
use volary_classroom::wire;
use volary_remote::KEY_HEADER;

use crate::error::ApiError;
use crate::origin;
use crate::server::Server;
use key::{KeyError, TeacherKey};
use store::{Limits, Store, StoreError};
use writer::Writer;

/// The file of a class, its key and its limits.
#[derive(Clone, Debug)]
pub struct ClassOptions {
    /// The SQLite file; it is created if it does not exist.
    pub file: PathBuf,
    /// The teacher's key from now on. By default it is the one of the last start; a class without one gets a random key.
    pub key: Option<String>,
    /// Whether pupils get a new code, which makes the links with the former one useless.
    pub renew_code: bool,
    /// The maximum size of a hand-in, in bytes.
    pub max_hand_in: usize,
    pub limits: Limits,
}

/// A class that is served.
pub struct Class {
    /// The name of its file.
    pub name: String,
    key: TeacherKey,
    /// The code for pupils.
    pub code: String,
    /// The maximum size of a hand-in, in bytes.
    pub max_hand_in: usize,
    /// The thread with its file.
    pub writer: Writer,
}

/// A class, and what there is to say about it once.
pub struct OpenedClass {
    pub class: Class,
    /// The random key that it got.
    pub new_key: Option<String>,
    /// Whether the file was made by a version whose code for pupils was derived from the key. It has a new code now.
    pub was_migrated: bool,
}

/// Why a class cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// The key that an endpoint requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    /// The teacher's key.
    Teacher,
    /// The code for pupils, or the teacher's key.
    Pupil,
}

impl Class {
    /// Opens the file of a class.
    pub fn open(options: ClassOptions) -> Result<OpenedClass, ClassError> {
        // Before the file is created.
        options.key.as_deref().map(key::check).transpose()?;
        let store = Store::open(&options.file, options.limits)?;
        if options.renew_code {
            store.renew_code()?;
        }
        let (key, new_key) = teacher_key(&store, options.key)?;
        Ok(OpenedClass {
            was_migrated: store.was_migrated,
            new_key,
            class: Class {
                name: name(&options.file),
                code: store.code()?,
                key,
                max_hand_in: options.max_hand_in,
                writer: Writer::start(store)?,
            },
        })
    }

    async fn admits(&self, headers: &HeaderMap, admission: Admission) -> bool {
        let given = headers
            .get(KEY_HEADER)
            .map_or(&[][..], |given| given.as_bytes());
        if given.is_empty() {
            return false;
        }
        if given.ct_eq(self.code.as_bytes()).into() {
            return admission == Admission::Pupil;
        }
        self.key.matches(given).await
    }
}

/// The teacher's key, and the random key that the class got if it had none. The file has its hash.
fn teacher_key(
    store: &Store,
    given: Option<String>,
) -> Result<(TeacherKey, Option<String>), ClassError> {
    let stored = store.key_hash()?;
    let (key, new_key) = match (given, &stored) {
        (Some(key), Some(hash)) if key::verify(hash, key.as_bytes()) => {
            return Ok((TeacherKey::known(hash, &key)?, None));
        }
        (None, Some(hash)) => return Ok((TeacherKey::of_hash(hash)?, None)),
        (Some(key), _) => (key, None),
        (None, None) => {
            let key = key::random_key()?;
            (key.clone(), Some(key))
        }
    };
    let hash = key::hash(&key)?;
    store.set_key_hash(&hash)?;
    Ok((TeacherKey::known(&hash, &key)?, new_key))
}

/// The state that all handlers share.
#[derive(Clone)]
pub struct ClassState {
    server: Arc<Server>,
    class: Arc<Class>,
}

impl ClassState {
    async fn authorize(&self, headers: &HeaderMap, admission: Admission) -> Result<(), ApiError> {
        if !self.class.admits(headers, admission).await {
            return Err(match admission {
                Admission::Teacher => ApiError::InvalidClassKey,
                Admission::Pupil => ApiError::InvalidClassCode,
            });
        }
        origin::check(&self.server.shared.options, headers)
    }
}

/// The routes of a class.
pub fn routes(server: Arc<Server>, class: Arc<Class>) -> Router<Arc<Server>> {
    let hand_in = format!("{}/{{id}}", wire::HAND_INS);
    Router::new()
        .route(wire::CLASS, get(handlers::info))
        .route(wire::HAND_INS, post(handlers::hand_in).get(handlers::board))
        .route(&hand_in, get(handlers::one))
        .route(wire::EXPORT, get(handlers::export))
        .with_state(ClassState { server, class })
}

/// The name of a class, as the teacher's page shows it.
fn name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_named_after_its_file() {
        assert_eq!(name(Path::new("/home/ada/10b.db")), "10b");
    }
}
