//! Wire types against golden requests and recorded replies, in both directions.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use volary_core::json::{Json, from_json, read, to_json};

use super::sse::SseParser;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// Every golden body deserializes as the provider's request type, and serializes to the same bytes.
pub(super) fn requests_come_back<Request: Serialize + DeserializeOwned>(provider: &str) {
    let path = folder("golden/requests").join(format!("{provider}.jsonl"));
    let bodies = std::fs::read_to_string(path).unwrap();
    for body in bodies.lines() {
        let request: Request = from_json(&read(body).unwrap()).unwrap();
        assert_eq!(to_json(&request).unwrap().to_compact_text(), body);
    }
    assert!(bodies.lines().count() >= 20, "{provider}");
}

/// Every recorded reply (`json` or `sse`) survives a round trip: the type's known members are preserved.
pub(super) fn replies_come_back<Reply>(provider: &str, extension: &str)
where
    Reply: Serialize + DeserializeOwned + PartialEq + Debug + Default,
{
    let mut known = 0;
    for value in recorded(provider, extension) {
        let Ok(reply) = from_json::<Reply>(&value) else {
            continue;
        };
        let written = to_json(&reply).unwrap();
        assert_eq!(
            from_json::<Reply>(&written).unwrap(),
            reply,
            "{}",
            value.to_compact_text()
        );
        known += usize::from(reply != Reply::default());
    }
    assert!(
        known >= 3,
        "{provider} has only {known} replies of this type"
    );
}

fn recorded(provider: &str, extension: &str) -> Vec<Json> {
    let mut values = Vec::new();
    for file in std::fs::read_dir(folder("fixtures").join(provider)).unwrap() {
        let path = file.unwrap().path();
        if path.ends_with("expected.json")
            || path.extension().is_none_or(|found| found != extension)
        {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        if extension == "json" {
            values.extend(read(&String::from_utf8_lossy(&bytes)));
            continue;
        }
        let mut parser = SseParser::default();
        let mut texts = Vec::new();
        let taken: Result<(), ()> = parser.push(&bytes, &mut |event| {
            texts.push(event.data.clone());
            Ok(())
        });
        taken.unwrap();
        texts.extend(parser.finish().map(|event| event.data));
        values.extend(texts.iter().filter_map(|text| read(text).ok()));
    }
    values
}
