//! A class: pupils hand in, and their teacher reads what they handed in. One SQLite file is one class.
//!
//! - [`store`]: the file. [`writer`]: the thread that owns it. [`handlers`]: one for each path.
//!
//! A class has two keys. The teacher's key, which the server is started with, lists, reads and exports. The code
//! for pupils, which every link to an assignment contains, only hands in. The code is derived from the key, and the key
//! cannot be derived from it.
//!
//! Invariants: a confirmed hand-in survives the death of the process and of the machine. A hand-in that is refused, or
//! for which there is no space, changes nothing. Neither names nor keys nor hand-ins are logged.

pub mod handlers;
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
use store::{Limits, Store, StoreError};
use writer::Writer;

/// The minimum length of a teacher's key, in bytes.
pub const SHORTEST_KEY: usize = 8;

/// The file of a class, its key and its limits.
#[derive(Clone, Debug)]
pub struct ClassOptions {
    /// The SQLite file; it is created if it does not exist.
    pub file: PathBuf,
    /// The teacher's key.
    pub key: String,
    /// The maximum size of a hand-in, in bytes.
    pub max_hand_in: usize,
    pub limits: Limits,
}

/// A class that is served.
pub struct Class {
    /// The name of its file.
    pub name: String,
    key: String,
    /// The code for pupils.
    pub code: String,
    /// The maximum size of a hand-in, in bytes.
    pub max_hand_in: usize,
    /// The thread with its file.
    pub writer: Writer,
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
    pub fn open(options: ClassOptions) -> Result<Class, StoreError> {
        let store = Store::open(&options.file, options.limits)?;
        Ok(Class {
            name: name(&options.file),
            code: code(&options.key),
            key: options.key,
            max_hand_in: options.max_hand_in,
            writer: Writer::start(store)?,
        })
    }

    fn admits(&self, headers: &HeaderMap, admission: Admission) -> bool {
        let given = headers
            .get(KEY_HEADER)
            .map_or(&[][..], |given| given.as_bytes());
        let is_teacher = given.ct_eq(self.key.as_bytes());
        let is_pupil = given.ct_eq(self.code.as_bytes());
        match admission {
            Admission::Teacher => is_teacher.into(),
            Admission::Pupil => (is_teacher | is_pupil).into(),
        }
    }
}

/// The state that all handlers share.
#[derive(Clone)]
pub struct ClassState {
    server: Arc<Server>,
    class: Arc<Class>,
}

impl ClassState {
    fn authorize(&self, headers: &HeaderMap, admission: Admission) -> Result<(), ApiError> {
        if !self.class.admits(headers, admission) {
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

/// The code for pupils: 128 bits that the key determines.
fn code(key: &str) -> String {
    let digest = hmac_sha256::HMAC::mac(b"volary class: hand in", key.as_bytes());
    let hex = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    hex.collect()
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
    fn the_code_follows_from_the_key_and_is_another_word() {
        assert_eq!(code("a key of eight"), code("a key of eight"));
        assert_ne!(code("a key of eight"), code("a key of nine"));
        assert_eq!(code("k").len(), 32);
        assert_eq!(name(Path::new("/home/ada/10b.db")), "10b");
    }
}
