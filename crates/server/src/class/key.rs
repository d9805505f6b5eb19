//! The teacher's key: how it is made, what the file stores of it, and how a request's key is compared.
//!
//! The file has only a slow, salted hash of the key (Argon2id), so that a copy of the file does not help to find the key.
//! The hash is computed once for each start of the server. Afterwards requests are compared with a MAC of the key, under
//! random bytes of this process.
//!
//! Invariants: the key is neither stored nor logged, and the code for pupils does not depend on it. Wrong keys are
//! rejected one at a time, so that nobody can try many; the right key never waits for them once it was accepted.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{self, PasswordHasher, PasswordVerifier};
use hmac_sha256::HMAC;
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// The minimum length of a key, in bytes.
pub const SHORTEST: usize = 16;

/// How long each wrong key delays the next one.
const WRONG_KEY_DELAY: Duration = Duration::from_millis(50);

/// 32 letters and digits that are not mistaken for each other.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    #[error(
        "the class key is too short: it needs at least {SHORTEST} characters. Leave it out, and a new class gets a \
         random one"
    )]
    TooShort,
    #[error("the hash of the class key cannot be computed or read: {0}")]
    Hash(#[from] password_hash::Error),
    #[error("cannot get random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// Compares the keys of requests with the teacher's.
pub struct TeacherKey {
    /// The slow hash, as the file stores it.
    hash: Arc<str>,
    /// The key of the MAC.
    process_key: [u8; 32],
    /// The MAC of the teacher's key, once it is known.
    accepted: OnceLock<[u8; 32]>,
    /// Permits one attempt at a time.
    attempts: Semaphore,
}

impl TeacherKey {
    /// The key with this hash. It is not known before a request has it.
    pub fn of_hash(hash: &str) -> Result<TeacherKey, KeyError> {
        PasswordHash::new(hash).map_err(password_hash::Error::from)?;
        let mut process_key = [0; 32];
        getrandom::fill(&mut process_key)?;
        Ok(TeacherKey {
            hash: hash.into(),
            process_key,
            accepted: OnceLock::new(),
            attempts: Semaphore::new(1),
        })
    }

    /// The key with this hash, which was verified before.
    pub fn known(hash: &str, key: &str) -> Result<TeacherKey, KeyError> {
        let teacher = TeacherKey::of_hash(hash)?;
        teacher.accept(key.as_bytes());
        Ok(teacher)
    }

    /// Returns whether a request has the key.
    pub async fn matches(&self, given: &[u8]) -> bool {
        if self.is_accepted(given) {
            return true;
        }
        // The semaphore is never closed.
        let Ok(_turn) = self.attempts.acquire().await else {
            return false;
        };
        // The attempt before may have been the right key.
        let matches = match self.accepted.get() {
            Some(_) => self.is_accepted(given),
            None => self.verify_slowly(given).await,
        };
        if !matches {
            sleep(WRONG_KEY_DELAY).await;
        }
        matches
    }

    async fn verify_slowly(&self, given: &[u8]) -> bool {
        if given.len() < SHORTEST {
            return false;
        }
        let (hash, key) = (Arc::clone(&self.hash), given.to_vec());
        let verified = tokio::task::spawn_blocking(move || verify(&hash, &key)).await;
        let matches = verified.unwrap_or(false);
        if matches {
            self.accept(given);
        }
        matches
    }

    fn is_accepted(&self, given: &[u8]) -> bool {
        let accepted = self.accepted.get();
        accepted.is_some_and(|accepted| self.mac(given).ct_eq(accepted).into())
    }

    fn accept(&self, key: &[u8]) {
        self.accepted.get_or_init(|| self.mac(key));
    }

    fn mac(&self, key: &[u8]) -> [u8; 32] {
        HMAC::mac(key, self.process_key)
    }
}

/// A random key: 125 bits in groups that are easy to type.
pub fn random_key() -> Result<String, KeyError> {
    let mut bytes = [0; 25];
    getrandom::fill(&mut bytes)?;
    let groups = bytes.chunks(5).map(|group| {
        let letters = group.iter().map(|byte| ALPHABET[usize::from(byte % 32)]);
        letters.map(char::from).collect::<String>()
    });
    Ok(groups.collect::<Vec<_>>().join("-"))
}

/// The slow, salted hash of a key, as a PHC string. Fails for short keys.
pub fn hash(key: &str) -> Result<String, KeyError> {
    check(key)?;
    let hash = Argon2::default().hash_password(key.as_bytes())?;
    Ok(hash.to_string())
}

/// Fails for short keys.
pub fn check(key: &str) -> Result<(), KeyError> {
    if key.len() < SHORTEST {
        return Err(KeyError::TooShort);
    }
    Ok(())
}

/// Returns whether a key has this hash. Slow.
pub fn verify(hash: &str, key: &[u8]) -> bool {
    let hash = PasswordHash::new(hash);
    hash.is_ok_and(|hash| Argon2::default().verify_password(key, &hash).is_ok())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use futures_util::FutureExt;
    use tokio::runtime::Builder;

    use super::*;

    const KEY: &str = "the teacher's key";

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(future)
    }

    #[test]
    fn hashes_are_slow_and_salted_and_verify_only_their_key() {
        let one = hash(KEY).unwrap();
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert!(!one.contains(KEY));
        assert_ne!(hash(KEY).unwrap(), one);
        assert!(verify(&one, KEY.as_bytes()));
        assert!(!verify(&one, b"the teacher's kex"));
        assert!(!verify("", b""));
    }

    #[test]
    fn short_keys_are_rejected() {
        assert!(matches!(hash("fifteen letters"), Err(KeyError::TooShort)));
        assert!(check("sixteen letters!").is_ok());
    }

    #[test]
    fn random_keys_differ_and_are_long_enough() {
        let (one, other) = (random_key().unwrap(), random_key().unwrap());
        assert_ne!(one, other);
        assert!(check(&one).is_ok());
        assert_eq!(one.split('-').map(str::len).collect::<Vec<_>>(), [5; 5]);
    }

    #[test]
    fn a_key_is_accepted_by_its_hash_and_afterwards_at_once() {
        let key = TeacherKey::of_hash(&hash(KEY).unwrap()).unwrap();
        block_on(async {
            for wrong in ["", "short", "the teacher's kex"] {
                assert!(!key.matches(wrong.as_bytes()).await, "{wrong}");
            }
            assert!(key.accepted.get().is_none());
            assert!(key.matches(KEY.as_bytes()).await);
            // Without a hash there is nothing to wait for.
            assert_eq!(key.matches(KEY.as_bytes()).now_or_never(), Some(true));
            assert!(!key.matches(b"the teacher's kex").await);
        });
        assert!(TeacherKey::of_hash("not a hash").is_err());
    }

    #[test]
    fn wrong_keys_wait_for_each_other_and_the_right_one_does_not() {
        let key = TeacherKey::known(&hash(KEY).unwrap(), KEY).unwrap();
        block_on(async {
            let begin = Instant::now();
            let wrong = || key.matches(b"another teacher's key");
            let right = async {
                tokio::task::yield_now().await;
                key.matches(KEY.as_bytes()).now_or_never()
            };
            let (one, other, right) = tokio::join!(wrong(), wrong(), right);
            assert_eq!((one, other, right), (false, false, Some(true)));
            assert!(begin.elapsed() >= WRONG_KEY_DELAY * 2);
        });
    }
}
