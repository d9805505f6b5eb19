//! Reads and validates a configuration: unknown keys and values of the wrong type are errors that name
//! the key.

use std::ops::RangeInclusive;

use volary_core::Text;
use volary_core::fields::flag;
use volary_core::json::{Json, Object};
use volary_core::registry::RegistryError;

use crate::cast::to_float;

/// A configuration, or a group within one.
pub struct Settings<'a> {
    group: Option<&'static str>,
    values: Option<&'a Object>,
}

impl<'a> Settings<'a> {
    /// The configuration itself. Unknown keys are an error.
    pub fn new(values: &'a Object, known: &[&str]) -> Result<Self, RegistryError> {
        Settings {
            group: None,
            values: Some(values),
        }
        .checked(known)
    }

    /// A group within the configuration: an object under a key. A missing or null group is empty.
    pub fn group(&self, key: &'static str, known: &[&str]) -> Result<Self, RegistryError> {
        let values = match self.value(key) {
            None => None,
            Some(Json::Object(values)) => Some(values),
            Some(other) => return Err(self.expected(key, "an object", other)),
        };
        Settings {
            group: Some(key),
            values,
        }
        .checked(known)
    }

    /// An optional text; null counts as missing.
    pub fn text(&self, key: &str) -> Result<Option<Text>, RegistryError> {
        match self.value(key) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.expected(key, "a string", other)),
        }
    }

    pub fn required_text(&self, key: &str) -> Result<Text, RegistryError> {
        self.text(key)?
            .ok_or_else(|| self.fault(key, "is missing; give a string"))
    }

    /// A boolean, or its default. Within a group, words and numbers with that meaning are accepted, as in
    /// aviary's models.
    pub fn boolean(&self, key: &str, default: bool) -> Result<bool, RegistryError> {
        match self.raw(key) {
            None => Ok(default),
            Some(Json::Bool(value)) => Ok(*value),
            Some(value) => flag(key, value)
                .ok()
                .filter(|_| self.group.is_some())
                .ok_or_else(|| self.expected(key, "true or false", value)),
        }
    }

    /// A number, or its default. Texts that contain a number are accepted, as in aviary.
    pub fn number(&self, key: &str, default: f64) -> Result<f64, RegistryError> {
        match self.raw(key) {
            None => Ok(default),
            Some(value) => self.as_number(key, value),
        }
    }

    pub fn required_number(&self, key: &str) -> Result<f64, RegistryError> {
        match self.raw(key) {
            None => Err(self.fault(key, "is missing; give a number")),
            Some(value) => self.as_number(key, value),
        }
    }

    /// A time span: a number of seconds from 0 to `most`, or its default.
    pub fn seconds(&self, key: &str, default: f64, most: f64) -> Result<f64, RegistryError> {
        let seconds = self.number(key, default)?;
        if (0.0..=most).contains(&seconds) {
            return Ok(seconds);
        }
        Err(self.fault(key, &format!("must lie between 0 and {most} seconds")))
    }

    /// An integer within bounds; `None` if it is missing or null.
    pub fn whole(
        &self,
        key: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, RegistryError> {
        match self.value(key) {
            None => Ok(None),
            Some(value) => match value.as_i64() {
                Some(whole) if range.contains(&whole) => Ok(Some(whole)),
                _ => {
                    let (low, high) = (range.start(), range.end());
                    let wanted = format!("a whole number from {low} to {high}");
                    Err(self.expected(key, &wanted, value))
                }
            },
        }
    }

    /// The error for a key's value.
    pub fn fault(&self, key: &str, reason: &str) -> RegistryError {
        let key = match self.group {
            Some(group) => format!("{group}.{key}"),
            None => key.to_owned(),
        };
        RegistryError::Configuration {
            key: key.into(),
            reason: reason.into(),
        }
    }

    fn as_number(&self, key: &str, value: &Json) -> Result<f64, RegistryError> {
        to_float(value).map_err(|_| self.expected(key, "a number", value))
    }

    fn raw(&self, key: &str) -> Option<&'a Json> {
        self.values?.get(key)
    }

    /// The value; `None` if it is missing or null.
    fn value(&self, key: &str) -> Option<&'a Json> {
        self.raw(key).filter(|value| !value.is_null())
    }

    fn checked(self, known: &[&str]) -> Result<Self, RegistryError> {
        let stranger = self
            .values
            .and_then(|values| values.keys().find(|key| !known.contains(&key.as_ref())));
        match stranger {
            None => Ok(self),
            Some(key) if known.is_empty() => {
                Err(self.fault(key, "is unknown; there is nothing to configure"))
            }
            Some(key) => {
                let reason = format!("is unknown; known are {}", known.join(", "));
                Err(self.fault(key, &reason))
            }
        }
    }

    fn expected(&self, key: &str, wanted: &str, value: &Json) -> RegistryError {
        let found = match value {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Integer(_) | Json::Float(_) => "a number",
            Json::Text(_) => "a string",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        };
        self.fault(key, &format!("must be {wanted}, not {found}"))
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    #[test]
    fn faults_name_the_key_and_the_expected_value() {
        let values = object!({"a": 1, "inner": {"b": "x", "c": null}, "t": "text", "n": " 1.5 "});
        let Ok(settings) = Settings::new(&values, &["a", "inner", "t", "n"]) else {
            unreachable!("all keys are known");
        };
        let Ok(inner) = settings.group("inner", &["b", "c"]) else {
            unreachable!("all keys are known");
        };
        let said = |error: RegistryError| error.to_string();
        assert_eq!(
            settings.text("a").map_err(said),
            Err("a: must be a string, not a number".into())
        );
        assert_eq!(
            inner.number("b", 0.0).map_err(said),
            Err("inner.b: must be a number, not a string".into())
        );
        assert_eq!(
            inner.boolean("c", true).map_err(said),
            Err("inner.c: must be true or false, not null".into())
        );
        assert_eq!(
            inner.required_text("missing").map_err(said),
            Err("inner.missing: is missing; give a string".into())
        );
        assert_eq!(
            settings.whole("a", 2..=3).map_err(said),
            Err("a: must be a whole number from 2 to 3, not a number".into())
        );
        assert_eq!(settings.number("n", 0.0).map_err(said), Ok(1.5));
        assert_eq!(inner.text("c").map_err(said), Ok(None));
        assert_eq!(
            Settings::new(&values, &["a", "inner", "n"]).err().map(said),
            Some("t: is unknown; known are a, inner, n".into())
        );
        assert_eq!(
            Settings::new(&values, &[]).err().map(said),
            Some("a: is unknown; there is nothing to configure".into())
        );
    }
}
