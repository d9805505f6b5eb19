//! Reading what providers send without insisting on it: what is missing or of another kind is empty.

use volary_core::json::{Json, Text};

/// The text under a key; empty if there is none.
pub(super) fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value
        .get(key)
        .and_then(Json::as_text)
        .map_or("", |text| text)
}

/// The text under a key, if it is not empty.
pub(super) fn some_text(value: &Json, key: &str) -> Option<Text> {
    let text = value.get(key)?.as_text()?;
    (!text.is_empty()).then(|| text.clone())
}

/// The list under a key; empty if there is none.
pub(super) fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value.get(key).and_then(Json::as_list).unwrap_or(&[])
}

/// The count at the end of a path of keys.
pub(super) fn count(value: &Json, path: &[&str]) -> Option<u64> {
    let found = path.iter().try_fold(value, |value, key| value.get(key))?;
    u64::try_from(found.as_i64()?).ok()
}
