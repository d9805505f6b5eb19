//! The key ring: API keys and their owners, as a value. Pure.

use serde::{Deserialize, Serialize};
use volary_agent::model::ApiKey;
use volary_core::json::{Json, from_json, read, to_json};

use super::KeyOrigin;

/// The keys: at most one per owner and origin. No `Debug`, because the contents must never be printed.
#[derive(Clone, Default)]
pub struct Ring(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    owner: String,
    origin: KeyOrigin,
    key: ApiKey,
}

/// The stored form of a key. No `Debug` either.
#[derive(Serialize, Deserialize)]
struct StoredKey {
    owner: String,
    origin: String,
    key: String,
}

impl Entry {
    fn is_for(&self, owner: &str, origin: &KeyOrigin) -> bool {
        self.owner == owner && self.origin == *origin
    }
}

impl Ring {
    pub(super) const fn new() -> Ring {
        Ring(Vec::new())
    }

    /// The text without the keys.
    pub fn redact(&self, text: &str) -> String {
        let keys = self.0.iter().map(|entry| &entry.key);
        keys.fold(text.to_owned(), |text, key| key.redact(&text))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The owners of the keys; an owner of several keys occurs several times.
    pub fn owners(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.owner.as_str())
    }

    /// The origins for which an owner has keys.
    pub fn origins(&self, owner: &str) -> impl Iterator<Item = &KeyOrigin> {
        let own = self.0.iter().filter(move |entry| entry.owner == owner);
        own.map(|entry| &entry.origin)
    }

    fn find(&self, owner: &str, origin: &KeyOrigin) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.is_for(owner, origin))
    }

    /// Whether an owner has a key for an origin.
    pub fn has(&self, owner: &str, origin: &KeyOrigin) -> bool {
        self.find(owner, origin).is_some()
    }

    /// The owner's key for an origin; empty if there is none.
    pub fn key(&self, owner: &str, origin: &KeyOrigin) -> ApiKey {
        let found = self.find(owner, origin);
        found.map_or_else(ApiKey::default, |entry| entry.key.clone())
    }

    /// Sets the owner's key for an origin. An empty key removes it.
    pub fn put(&mut self, owner: &str, origin: &KeyOrigin, key: &ApiKey) {
        self.0.retain(|entry| !entry.is_for(owner, origin));
        if !key.is_empty() {
            self.0.push(Entry {
                owner: owner.to_owned(),
                origin: origin.clone(),
                key: key.clone(),
            });
        }
    }

    /// Removes all keys of an owner.
    pub fn remove(&mut self, owner: &str) {
        self.retain(|known| known != owner);
    }

    /// Removes all keys of the owners for which `stays` is false.
    pub fn retain(&mut self, stays: impl Fn(&str) -> bool) {
        self.0.retain(|entry| stays(&entry.owner));
    }

    /// Copies the keys of an owner to another one and replaces those of the latter.
    pub fn copy(&mut self, from: &str, to: &str) {
        let own = self.0.iter().filter(|entry| entry.owner == from);
        let copies: Vec<Entry> = own
            .map(|entry| Entry {
                owner: to.to_owned(),
                ..entry.clone()
            })
            .collect();
        if !copies.is_empty() {
            self.remove(to);
            self.0.extend(copies);
        }
    }

    /// Adds the keys of another ring. Where both have one for an owner and an origin, that of this ring stays.
    pub fn add_missing(&mut self, other: Ring) {
        for entry in other.0 {
            if !self.has(&entry.owner, &entry.origin) {
                self.0.push(entry);
            }
        }
    }

    /// Encodes the keys for storage. The text contains them.
    pub fn to_text(&self) -> String {
        let entries = self.0.iter().map(|entry| StoredKey {
            owner: entry.owner.clone(),
            origin: entry.origin.as_str().to_owned(),
            key: entry.key.expose().to_owned(),
        });
        let entries: Vec<StoredKey> = entries.collect();
        // Strings can always be serialized.
        to_json(&entries).unwrap_or_default().to_compact_text()
    }

    /// Decodes stored keys; invalid entries are dropped.
    pub fn read(text: &str) -> Self {
        let mut ring = Ring::default();
        let stored = read(text).unwrap_or(Json::Null);
        let entries = stored.as_list().unwrap_or(&[]).iter();
        for entry in entries.filter_map(|entry| from_json::<StoredKey>(entry).ok()) {
            ring.put(
                &entry.owner,
                &KeyOrigin::of(&entry.origin),
                &ApiKey::new(&entry.key),
            );
        }
        ring
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAI: &str = "https://api.openai.com/v1";

    fn to(url: &str) -> KeyOrigin {
        KeyOrigin::of(url)
    }

    fn ring() -> Ring {
        let mut ring = Ring::default();
        ring.put("model.1", &to(OPENAI), &ApiKey::new("sk-one-0123456789"));
        ring.put(
            "server.1",
            &to("http://localhost:8000"),
            &ApiKey::new("two-0123456789"),
        );
        ring
    }

    #[test]
    fn no_key_is_left_in_a_text() {
        let text = "byte index 3 is out of bounds of `sk-one-0123456789 two-0123456789`";
        let redacted = ring().redact(text);
        assert!(redacted.starts_with("byte index 3 is out of bounds of `"));
        assert!(!redacted.contains("0123456789"), "{redacted}");
    }

    #[test]
    fn a_key_is_for_its_owner_and_its_origin() {
        let ring = ring();
        assert!(ring.has("model.1", &to("https://api.openai.com/v2/x")));
        assert!(!ring.has("model.2", &to(OPENAI)));
        for url in ["http://api.openai.com/v1", "https://other.example", ""] {
            assert!(!ring.has("model.1", &to(url)), "{url}");
            assert!(ring.key("model.1", &to(url)).is_empty(), "{url}");
        }
    }

    #[test]
    fn a_key_stays_with_its_origin_when_the_owner_gets_another_one() {
        let mut ring = ring();
        ring.put(
            "model.1",
            &to("https://other.example"),
            &ApiKey::new("three"),
        );
        assert_eq!(
            ring.key("model.1", &to(OPENAI)).expose(),
            "sk-one-0123456789"
        );
        let origins: Vec<&str> = ring.origins("model.1").map(KeyOrigin::as_str).collect();
        assert_eq!(origins, ["https://api.openai.com", "https://other.example"]);
        ring.put("model.1", &to(OPENAI), &ApiKey::default());
        assert!(!ring.has("model.1", &to(OPENAI)));
        assert!(ring.has("model.1", &to("https://other.example")));
    }

    #[test]
    fn keys_are_copied_and_taken_away() {
        let mut ring = ring();
        ring.put(
            "model.1",
            &to("https://other.example"),
            &ApiKey::new("three"),
        );
        ring.copy("model.1", "model.2");
        ring.copy("model.9", "model.3");
        assert_eq!(
            ring.key("model.2", &to(OPENAI)).expose(),
            "sk-one-0123456789"
        );
        assert_eq!(ring.len(), 5);
        ring.remove("model.1");
        assert_eq!(ring.len(), 3);
        ring.retain(|owner| !owner.starts_with("model."));
        assert_eq!(ring.owners().collect::<Vec<_>>(), ["server.1"]);
    }

    #[test]
    fn keys_round_trip_and_malformed_records_are_dropped() {
        let ring = ring();
        let back = Ring::read(&ring.to_text());
        assert_eq!(back.to_text(), ring.to_text());
        for nonsense in ["", "{", "[1, {\"owner\": \"x\"}]", "{}"] {
            assert_eq!(Ring::read(nonsense).len(), 0, "{nonsense}");
        }
    }
}
