//! Conversion between values and derived types: [`from_json`] deserializes any `Deserialize` type from a [`Json`],
//! [`to_json`] serializes any `Serialize` type to a [`Json`].
//!
//! Providers' wire types and stored records are read this way: the text is parsed by [`read`](super::read), whose
//! floats round-trip, and one instance of the derived code serves every type.
//!
//! Invariant: a field of type [`Json`] is preserved exactly, including integers of any size, `NaN` and the difference
//! between `1` and `1.0`.

mod to_json;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, EnumAccess, Error as _, IntoDeserializer, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Integer, Json};

/// Why a value does not fit a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(String);

impl serde::de::Error for ShapeError {
    fn custom<T: std::fmt::Display>(reason: T) -> Self {
        ShapeError(reason.to_string())
    }
}

impl serde::ser::Error for ShapeError {
    fn custom<T: std::fmt::Display>(reason: T) -> Self {
        ShapeError(reason.to_string())
    }
}

/// Deserializes a value.
pub fn from_json<T: DeserializeOwned>(value: &Json) -> Result<T, ShapeError> {
    T::deserialize(JsonDeserializer(value))
}

/// Serializes a value. Fails only for maps with non-string keys, and if a custom `Serialize` fails.
pub fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> Result<Json, ShapeError> {
    value.serialize(to_json::Writer::default())
}

struct JsonDeserializer<'a>(&'a Json);

impl<'de> IntoDeserializer<'de, ShapeError> for JsonDeserializer<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for JsonDeserializer<'de> {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Integer(Integer::Small(value)) => visitor.visit_i64(*value),
            Json::Integer(Integer::Large(digits)) => match digits.parse() {
                Ok(value) => visitor.visit_u64(value),
                // Only `Json` has integers beyond 64 bits.
                Err(_) => visitor.visit_newtype_struct(Digits(digits)),
            },
            Json::Float(value) => visitor.visit_f64(*value),
            Json::Text(text) => visitor.visit_borrowed_str(text),
            Json::List(list) => {
                let mut elements = SeqDeserializer::new(list.iter().map(JsonDeserializer));
                let value = visitor.visit_seq(&mut elements)?;
                elements.end()?;
                Ok(value)
            }
            Json::Object(object) => {
                let members = object
                    .iter()
                    .map(|(key, value)| (&**key, JsonDeserializer(value)));
                let mut members = MapDeserializer::new(members);
                let value = visitor.visit_map(&mut members)?;
                members.end()?;
                Ok(value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.0 {
            Json::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self.0 {
            Json::Text(name) => visitor.visit_enum(Variant {
                name,
                content: None,
            }),
            Json::Object(object) => {
                let mut members = object.iter();
                match (members.next(), members.next()) {
                    (Some((name, content)), None) => visitor.visit_enum(Variant {
                        name,
                        content: Some(content),
                    }),
                    _ => Err(ShapeError::custom("expected one variant")),
                }
            }
            _ => Err(ShapeError::custom("expected a variant")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The digits of an integer beyond 64 bits.
struct Digits<'a>(&'a str);

impl<'de> Deserializer<'de> for Digits<'de> {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_borrowed_str(self.0)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct option seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Variant<'a> {
    name: &'a str,
    content: Option<&'a Json>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = ShapeError;
    type Variant = Self;

    fn variant_seed<S: serde::de::DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self), ShapeError> {
        let name = seed.deserialize(self.name.into_deserializer())?;
        Ok((name, self))
    }
}

impl<'de> Variant<'de> {
    fn reader(&self) -> JsonDeserializer<'de> {
        JsonDeserializer(self.content.unwrap_or(&Json::Null))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = ShapeError;

    fn unit_variant(self) -> Result<(), ShapeError> {
        match self.content {
            None | Some(Json::Null) => Ok(()),
            Some(_) => Err(ShapeError::custom("expected a variant without content")),
        }
    }

    fn newtype_variant_seed<S: serde::de::DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, ShapeError> {
        seed.deserialize(self.reader())
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        self.reader().deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        self.reader().deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::super::read;
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Nothing,
        Circle(f64),
        Box { width: u32, height: Option<u32> },
        Pair(i8, char),
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Meters(u64);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Everything {
        name: String,
        distance: Meters,
        #[serde(rename = "type")]
        kind: Option<String>,
        shapes: Vec<Shape>,
        counts: BTreeMap<String, i64>,
        pair: (bool, f64),
        unit: (),
        value: Json,
    }

    const TEXT: &str = r#"{"name": "é", "distance": 3, "type": null, "shapes": ["nothing", {"circle": 1.5},
        {"box": {"width": 2, "height": null}}, {"pair": [-3, "x"]}], "counts": {"a": -1}, "pair": [true, 0.1], "unit": null,
        "value": {"integer": 1, "float": 1.0, "unsigned": 18446744073709551615, "large": -170141183460469231731687303715884105728,
        "larger": [-123456789012345678901234567890123456789012345678901234567890], "nan": NaN, "infinite": -Infinity}}"#;

    #[test]
    fn derived_types_and_values_come_back_unchanged() {
        let json = read(TEXT).unwrap();
        let everything: Everything = from_json(&json).unwrap();
        assert_eq!(everything.shapes.len(), 4);
        assert_eq!(everything.pair, (true, 0.1));
        let written = to_json(&everything).unwrap();
        assert_eq!(written.to_python_text(), json.to_python_text());
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Strict {
            count: u8,
        }
        let strict = |text: &str| from_json::<Strict>(&read(text).unwrap());
        assert_eq!(
            strict(r#"{"count": 7, "more": [1]}"#),
            Ok(Strict { count: 7 })
        );
        for text in [
            "7",
            "{}",
            r#"{"count": 300}"#,
            r#"{"count": "7"}"#,
            r#"{"count": 1.5}"#,
        ] {
            assert!(strict(text).is_err(), "{text}");
        }
        let larger = format!(r#"{{"count": 1{}}}"#, "0".repeat(50));
        assert!(strict(&larger).is_err());
    }

    #[test]
    fn other_formats_get_the_nearest_float_of_larger_integers() {
        let json = Json::Integer(Integer::from_digits(&format!("1{}", "0".repeat(50))).unwrap());
        assert_eq!(serde_json::to_string(&json).unwrap(), "1e+50");
        assert!(to_json(&BTreeMap::from([(1, 2)])).is_err());
    }
}
