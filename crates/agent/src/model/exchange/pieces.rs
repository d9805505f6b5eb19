//! Detects a key that the body of a reply contains in pieces: a part of it in each event of a stream, or in each of
//! several texts that belong together. Pure.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use volary_core::json::{Json, read};

use crate::model::ApiKey;

/// Whether the texts of a body, joined as a parser of the format joins them, contain the key. The body is one JSON
/// document, or lines that may each contain one (server-sent events, JSON Lines).
pub(super) fn hold_key(body: &str, key: &ApiKey) -> bool {
    if key.is_empty() {
        return false;
    }
    let mut texts = Texts::default();
    match read(body) {
        Ok(document) => texts.collect(&document, Path::default()),
        Err(_) => {
            for line in body.lines() {
                let line = line.strip_prefix("data:").unwrap_or(line).trim();
                if let Ok(document) = read(line) {
                    texts.collect(&document, Path::default());
                }
            }
        }
    }
    let all = texts.exact.values().chain(texts.loose.values());
    all.into_iter().any(|text| key.is_in(text))
}

/// The texts of a body; texts with the same path are joined in order.
#[derive(Default)]
struct Texts {
    /// By full path. Separates the texts of interleaved calls.
    exact: HashMap<u64, String>,
    /// By the names in the path only. Joins the elements of a list.
    loose: HashMap<u64, String>,
}

/// The path of a text, as hashes.
#[derive(Clone, Copy, Default)]
struct Path {
    exact: u64,
    loose: u64,
}

impl Path {
    fn at(self, name: &str) -> Path {
        Path {
            exact: hash(self.exact, name),
            loose: hash(self.loose, name),
        }
    }

    /// The path of a list element: a different exact path for each index, the same loose path.
    fn at_index(self, index: i64) -> Path {
        Path {
            exact: hash(self.exact, index),
            loose: self.loose,
        }
    }
}

fn hash(before: u64, next: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (before, next).hash(&mut hasher);
    hasher.finish()
}

impl Texts {
    fn collect(&mut self, value: &Json, path: Path) {
        match value {
            Json::Text(text) => {
                for (texts, path) in [(&mut self.exact, path.exact), (&mut self.loose, path.loose)]
                {
                    texts.entry(path).or_default().push_str(text);
                }
            }
            Json::List(items) => {
                for (index, item) in (0..).zip(items.iter()) {
                    self.collect(item, path.at_index(index));
                }
            }
            Json::Object(members) => {
                // Indices identify the part of the answer that an event belongs to: `index`, `output_index`.
                let indices = members.iter().filter(|(name, _)| name.ends_with("index"));
                let path = indices
                    .filter_map(|(_, index)| index.as_i64())
                    .fold(path, Path::at_index);
                for (name, member) in members.iter() {
                    self.collect(member, path.at(name));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(body: &str) -> bool {
        hold_key(body, &ApiKey::new("sk-secret-0123456789"))
    }

    #[test]
    fn pieces_that_belong_together_are_joined() {
        assert!(holds(
            "data: {\"index\":0,\"delta\":{\"text\":\"so: sk-sec\"}}\n\ndata: {\"index\":0,\"delta\":{\"text\":\"ret-0123456789\"}}\n"
        ));
        assert!(holds(
            r#"{"parts":[{"text":"sk-sec"},{"text":"ret-0123456789"}]}"#
        ));
        assert!(holds(r#"{"message":"sk\u002dsecret-0123456789"}"#));
        // Two interleaved calls.
        let body: String = ["sk-sec", "ret-0123", "456789"]
            .iter()
            .flat_map(|piece| [(0, *piece), (1, "{}")])
            .map(|(call, piece)| {
                format!("data: {{\"calls\":[{{\"index\":{call},\"arguments\":\"{piece}\"}}]}}\n\n")
            })
            .collect();
        assert!(holds(&body));
    }

    #[test]
    fn other_replies_are_left_alone() {
        for body in [
            "",
            "{",
            "data: [DONE]",
            "{\"a\":\"sk-sec\",\"b\":\"ret-0123456789\"}",
        ] {
            assert!(!holds(body), "{body}");
        }
        assert!(!hold_key("{\"a\":\"b\"}", &ApiKey::default()));
    }
}
