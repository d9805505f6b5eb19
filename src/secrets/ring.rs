//! Keys and whom they belong to, as a value. Pure.

use volary_agent::model::ApiKey;
use volary_core::json;
use volary_core::json::{Json, read};

/// The keys. No `Debug`: there is nothing in it that may be shown.
#[derive(Clone, Default)]
pub struct Ring(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    owner: String,
    origin: String,
    key: ApiKey,
}

impl Ring {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn find(&self, owner: &str, url: &str) -> Option<&Entry> {
        let origin = origin(url);
        let mut entries = self.0.iter();
        entries.find(|entry| entry.owner == owner && entry.origin == origin)
    }

    /// Whether the owner has a key for an address.
    pub fn has(&self, owner: &str, url: &str) -> bool {
        self.find(owner, url).is_some()
    }

    /// The owner's key for an address; an empty one if there is none.
    pub fn key(&self, owner: &str, url: &str) -> ApiKey {
        let found = self.find(owner, url);
        found.map_or_else(ApiKey::default, |entry| entry.key.clone())
    }

    /// Takes a key for an address, in place of any other of the owner. An empty one only takes away.
    pub fn put(&mut self, owner: &str, url: &str, key: &ApiKey) {
        self.remove(owner);
        if !key.is_empty() {
            self.0.push(Entry {
                owner: owner.to_owned(),
                origin: origin(url),
                key: key.clone(),
            });
        }
    }

    /// Takes away the owner's key.
    pub fn remove(&mut self, owner: &str) {
        self.0.retain(|entry| entry.owner != owner);
    }

    /// Gives another owner the same key, for the same origin.
    pub fn copy(&mut self, from: &str, to: &str) {
        let found = self.0.iter().find(|entry| entry.owner == from).cloned();
        if let Some(mut entry) = found {
            self.remove(to);
            entry.owner = to.to_owned();
            self.0.push(entry);
        }
    }

    /// As it is stored. The keys stand in it.
    pub fn to_text(&self) -> String {
        let entries = self.0.iter().map(|entry| {
            json!({
                "owner": (entry.owner.as_str()),
                "origin": (entry.origin.as_str()),
                "key": (entry.key.expose())
            })
        });
        Json::List(entries.collect()).to_compact_text()
    }

    /// From what was stored; what is no key is left out.
    pub fn read(text: &str) -> Self {
        let mut ring = Ring::default();
        let stored = read(text).unwrap_or(Json::Null);
        for entry in stored.as_list().unwrap_or(&[]) {
            let text = |name: &str| entry.get(name).and_then(Json::as_text);
            if let (Some(owner), Some(origin), Some(key)) =
                (text("owner"), text("origin"), text("key"))
            {
                ring.put(owner, origin, &ApiKey::new(key));
            }
        }
        ring
    }
}

/// Scheme, host and port of an address. What is no address yet stands for itself: nothing can be sent there.
fn origin(url: &str) -> String {
    let url = url.trim();
    let origin = url.split_once("://").map(|(scheme, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        format!("{scheme}://{authority}")
    });
    origin
        .unwrap_or_else(|| url.to_owned())
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAI: &str = "https://api.openai.com/v1";

    fn ring() -> Ring {
        let mut ring = Ring::default();
        ring.put("model.1", OPENAI, &ApiKey::new("sk-one-0123456789"));
        ring.put(
            "server.1",
            "http://localhost:8000",
            &ApiKey::new("two-0123456789"),
        );
        ring
    }

    #[test]
    fn a_key_is_for_its_owner_and_its_origin() {
        let ring = ring();
        let has = |owner, url| ring.has(owner, url);
        assert!(has("model.1", OPENAI));
        assert!(has("model.1", " HTTPS://API.openai.com/v2/x "));
        for url in [
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com.example/v1",
            "https://api.openai.com@example.org/",
            "",
        ] {
            assert!(!has("model.1", url), "{url}");
            assert!(ring.key("model.1", url).is_empty(), "{url}");
        }
        assert!(!has("model.2", OPENAI));
        let mut ring = ring;
        ring.put("model.3", "localhost:8000", &ApiKey::new("three"));
        assert!(ring.has("model.3", "localhost:8000"));
        assert!(!ring.has("model.3", "http://localhost:8000"));
    }

    #[test]
    fn keys_are_replaced_copied_and_taken_away() {
        let mut ring = ring();
        ring.copy("model.1", "model.2");
        ring.copy("model.9", "model.3");
        assert_eq!(ring.key("model.2", OPENAI).expose(), "sk-one-0123456789");
        ring.put("model.1", "https://other.example", &ApiKey::new("three"));
        assert!(!ring.has("model.1", OPENAI));
        ring.put("model.2", OPENAI, &ApiKey::default());
        assert_eq!(ring.len(), 2);
        ring.remove("model.1");
        assert_eq!(ring.len(), 1);
    }

    #[test]
    fn what_is_stored_comes_back_and_nonsense_is_no_key() {
        let ring = ring();
        let back = Ring::read(&ring.to_text());
        assert_eq!(back.to_text(), ring.to_text());
        for nonsense in ["", "{", "[1, {\"owner\": \"x\"}]", "{}"] {
            assert_eq!(Ring::read(nonsense).len(), 0, "{nonsense}");
        }
    }
}
