//! The data hash: SHA-256 of Python's `str` of the data as nested, sorted tuples.
//!
//! Two data sets are equal exactly if these texts are: an integer differs from a float, the order of keys does
//! not matter, and an empty list equals an empty object.

use sha2::{Digest, Sha256};
use volary_core::Json;
use volary_core::json::repr::write_text_repr;

/// The data hash of a value, in hexadecimal digits.
pub fn data_hash(value: &Json) -> String {
    // A text is its own `str`, without quotes.
    if let Json::Text(text) = value {
        return sha256(text);
    }
    let mut text = String::new();
    write_hashable(&mut text, value);
    sha256(&text)
}

/// SHA-256 of a text, in hexadecimal digits.
pub fn sha256(text: &str) -> String {
    hexadecimal(Sha256::digest(text.as_bytes()).as_slice())
}

/// The bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Appends the text of a value: objects as tuples of pairs sorted by key, lists as tuples.
pub fn write_hashable(out: &mut String, value: &Json) {
    match value {
        Json::List(list) => write_tuple(out, list.len(), list.iter(), write_hashable),
        Json::Object(object) => {
            let mut pairs: Vec<_> = object.iter().collect();
            pairs.sort_unstable_by_key(|(key, _)| &**key);
            write_tuple(out, pairs.len(), pairs, |out, (key, value)| {
                write_pair(out, key, |out| write_hashable(out, value));
            });
        }
        Json::Text(text) => write_text_repr(out, text),
        other => out.push_str(&other.to_repr()),
    }
}

/// Appends `('key', value)`.
pub fn write_pair(out: &mut String, key: &str, value: impl FnOnce(&mut String)) {
    out.push('(');
    write_text_repr(out, key);
    out.push_str(", ");
    value(out);
    out.push(')');
}

/// Appends a tuple: a single element is followed by a comma.
pub fn write_tuple<T>(
    out: &mut String,
    length: usize,
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push('(');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(out, element);
    }
    out.push_str(if length == 1 { ",)" } else { ")" });
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn values_become_sorted_tuples() {
        let mut text = String::new();
        write_hashable(
            &mut text,
            &json!({"b": 1, "a": [true, null, 1.0, "x"], "c": [[]]}),
        );
        assert_eq!(
            text,
            "(('a', (True, None, 1.0, 'x')), ('b', 1), ('c', ((),)))"
        );
        assert_eq!(
            data_hash(&json!({"b": 1, "a": [true, null, 1.0, "x"]})),
            "5930430b516e6aa6b3bc4d184ebb8ee4d87370dc47c1069f9c9af0d63324089d"
        );
        assert_eq!(data_hash(&json!({})), data_hash(&json!([])));
    }
}
