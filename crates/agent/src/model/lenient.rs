//! Lenient parsing of replies: missing or malformed values are read as empty.
//!
//! Compatible servers omit fields, send `null`, or send another type. [`Lenient`] and [`LenientList`] are types for
//! such fields of wire types; the functions read bodies that have no fixed shape.

use std::fmt::Debug;
use std::ops::Deref;

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use volary_core::json::{Json, Text, from_json};

/// A field of any shape; `None` if the value does not fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lenient<T>(pub Option<T>);

/// A list with elements of any shape: one that does not fit becomes the default. `None` if the value is not a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LenientList<T>(pub Option<Vec<T>>);

/// Deserializes a value; returns the default if the value does not fit.
pub(super) fn read_or_default<T: DeserializeOwned + Default>(value: &Json) -> T {
    from_json(value).unwrap_or_default()
}

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Lenient(None)
    }
}

impl<T> Default for LenientList<T> {
    fn default() -> Self {
        LenientList(None)
    }
}

impl<T> Deref for Lenient<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

/// Derefs to the elements; empty if the value is not a list.
impl<T> Deref for LenientList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Lenient<Text> {
    /// The text; empty if missing.
    pub(super) fn or_empty(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The text, if it is not empty.
    pub(super) fn not_empty(&self) -> Option<&Text> {
        self.0.as_ref().filter(|text| !text.is_empty())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        Ok(Lenient(from_json(&value).ok()))
    }
}

impl<'de, T: DeserializeOwned + Default> Deserialize<'de> for LenientList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        let elements = value.as_list();
        Ok(LenientList(elements.map(|elements| {
            elements.iter().map(read_or_default).collect()
        })))
    }
}

impl<T: Serialize> Serialize for Lenient<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: Serialize> Serialize for LenientList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The text under a key; empty if missing.
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

/// The list under a key; empty if missing.
pub(super) fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value.get(key).and_then(Json::as_list).unwrap_or(&[])
}
