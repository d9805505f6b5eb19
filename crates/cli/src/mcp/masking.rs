//! Masks secrets in what a tool returns.
//!
//! Invariant: each text that leaves the server was masked here or, before it was cut, by the function that rendered it.
//! Identifiers of trajectories and names of files are left, because they are passed back as arguments.

use serde_json::Value;
use volary_analysis::sensitive::masked_text;

/// The members with identifiers and names of files.
const IDENTIFIERS: [&str; 3] = ["id", "file", "url"];

/// Masks all texts of a value.
pub fn mask(value: &mut Value) {
    match value {
        Value::String(text) => *text = masked_text(text),
        Value::Array(list) => list.iter_mut().for_each(mask),
        Value::Object(members) => members
            .iter_mut()
            .filter(|(name, _)| !IDENTIFIERS.contains(&name.as_str()))
            .for_each(|(_, value)| mask(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_texts_but_identifiers_are_masked() {
        let secret = "password=hunter22secret";
        let mut value =
            json!({"id": secret, "name": secret, "list": [{"text": secret}], "steps": 3});
        mask(&mut value);
        assert_eq!(value["id"], secret);
        assert_eq!(value["steps"], 3);
        assert!(!value["name"].as_str().unwrap().contains("hunter22"));
        assert!(
            !value["list"][0]["text"]
                .as_str()
                .unwrap()
                .contains("hunter22")
        );
    }
}
