//! Reads a record of a file as a derived type, all of whose members are optional.
//!
//! Invariant: nothing is lost. A member that has another type than expected is returned, and reported.

use serde::de::DeserializeOwned;
use volary_core::json::{Json, Object, from_json};

use super::members::names;
use super::reader::Sink;

/// Reads a record. Returns also the members that do not fit; null counts as missing. `what` is the record with its article,
/// for the report: "A step".
pub(super) fn record<T: DeserializeOwned + Default>(
    value: Json,
    what: &str,
    sink: &mut Sink<'_>,
) -> (T, Object) {
    if let Ok(record) = from_json(&value) {
        return (record, Object::new());
    }
    let Json::Object(object) = value else {
        sink.lost(format!("{what} is not an object."));
        return (T::default(), Object::new());
    };
    let (mut fitting, mut odd) = (Vec::new(), Vec::new());
    for (key, value) in object {
        let alone = Json::Object(Object::from_pairs(vec![(key.clone(), value)]));
        let fits = from_json::<T>(&alone).is_ok();
        if let Json::Object(alone) = alone {
            let members = if fits { &mut fitting } else { &mut odd };
            members.extend(alone);
        }
    }
    odd.retain(|(_, value)| !value.is_null());
    let odd = Object::from_pairs(odd);
    if !odd.is_empty() {
        sink.lost(format!(
            "{what} has members of an unexpected type, which are kept unchanged: {}.",
            names(&odd)
        ));
    }
    let fitting = Json::Object(Object::from_pairs(fitting));
    (from_json(&fitting).unwrap_or_default(), odd)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use volary_core::json::Text;

    use super::*;
    use crate::import::ImportOutcome;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Row {
        name: Option<Text>,
        numbers: Vec<u64>,
        #[serde(flatten)]
        rest: Object,
    }

    #[test]
    fn members_that_do_not_fit_are_returned() {
        let mut outcome = ImportOutcome::default();
        let mut sink = Sink::new(&mut outcome, "", "");
        let value = Json::parse(r#"{"name": 7, "numbers": [1], "more": {"a": NaN}}"#).unwrap();
        let (row, odd) = record::<Row>(value, "A row", &mut sink);
        assert_eq!((row.name, row.numbers), (None, vec![1]));
        assert!(row.rest.contains_key("more"));
        assert_eq!(odd.get("name"), Some(&Json::from(7)));
        assert!(outcome.notes[0].text.contains("unexpected type"));
    }

    #[test]
    fn null_is_missing() {
        let mut outcome = ImportOutcome::default();
        let mut sink = Sink::new(&mut outcome, "", "");
        let value = Json::parse(r#"{"name": "a", "numbers": null}"#).unwrap();
        let (row, odd) = record::<Row>(value, "A row", &mut sink);
        assert_eq!((row.name.as_deref(), odd.len()), (Some("a"), 0));
        assert!(outcome.notes.is_empty());
    }
}
