//! Reads a record of a file as a derived type, all of whose members are optional.
//!
//! Invariant: nothing is lost. A member that has another type than expected is returned, and reported.

use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use volary_core::json::{Json, Key, Object, from_json};

use super::members::names;
use super::reader::Sink;

/// Reads a record. Returns also its other members, and those that do not fit; null counts as missing. `what` is the record
/// with its article, for the report: "A step".
///
/// The others are moved, since they may be large; a flattened field would copy them twice.
pub(super) fn record<T: DeserializeOwned + Default>(
    value: Json,
    what: &str,
    sink: &mut Sink<'_>,
) -> (T, Object) {
    let Json::Object(object) = value else {
        sink.lost(format!("{what} is not an object."));
        return (T::default(), Object::new());
    };
    let fields = fields_of::<T>();
    let (known, others): (Vec<_>, Vec<_>) = object
        .into_iter()
        .partition(|(key, _)| fields.contains(&key.as_ref()));
    let known = Json::Object(Object::from_distinct(known));
    let error = match from_json(&known) {
        Ok(record) => return (record, Object::from_distinct(others)),
        Err(error) => error,
    };
    let Json::Object(known) = known else {
        return (T::default(), Object::from_distinct(others));
    };
    let fits = |(key, value): &(Key, Json)| {
        let alone = Object::from_distinct(vec![(key.clone(), value.clone())]);
        from_json::<T>(&alone.into()).is_ok()
    };
    let (fitting, mut odd): (Vec<_>, Vec<_>) = known.into_iter().partition(fits);
    odd.retain(|(_, value)| !value.is_null());
    let odd = Object::from_distinct(odd);
    if !odd.is_empty() {
        sink.lost(format!(
            "{what} has members of an unexpected type, which are kept unchanged: {} ({error}).",
            names(&odd)
        ));
    }
    let fitting = Json::Object(Object::from_distinct(fitting));
    let others = others.into_iter().chain(odd).collect();
    (
        from_json(&fitting).unwrap_or_default(),
        Object::from_pairs(others),
    )
}

/// The names of the members of a derived type, with their aliases.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    T::deserialize(Probe).map_or_else(|fields| fields.0, |_| &[])
}

/// Is asked for a value by a derived type, and answers with the names that it asked for.
struct Probe;

/// The names, as an error.
#[derive(Debug, thiserror::Error)]
#[error("a probe has no value")]
struct Fields(&'static [&'static str]);

impl serde::de::Error for Fields {
    fn custom<T: std::fmt::Display>(_reason: T) -> Self {
        Fields(&[])
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Fields;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Fields> {
        Err(Fields(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Fields> {
        Err(Fields(fields))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
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
        #[serde(alias = "otherName")]
        other_name: Option<Text>,
    }

    #[test]
    fn members_that_do_not_fit_are_returned() {
        let mut outcome = ImportOutcome::default();
        let mut sink = Sink::new(&mut outcome, "", "");
        let text = r#"{"name": 7, "numbers": [1], "otherName": "b", "more": {"a": NaN}}"#;
        let (row, rest) = record::<Row>(Json::parse(text).unwrap(), "A row", &mut sink);
        assert_eq!((row.name, row.numbers), (None, vec![1]));
        assert_eq!(row.other_name.as_deref(), Some("b"));
        assert!(rest.contains_key("more"));
        assert_eq!(rest.get("name"), Some(&Json::from(7)));
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
