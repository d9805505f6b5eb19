//! Values with a JSON codec of their own, as serde fields. They are encoded as the text of that codec.
//!
//! Use as `#[serde(with = "coded")]`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use volary_agent::evaluation::{Actor, CellResult};
use volary_analysis::table::Row;
use volary_ask::Question;
use volary_ask::cache::Sampling;
use volary_ask::run::CheckedReply;
use volary_core::AnyMessage;
use volary_core::json::{Json, Object, from_json, to_json};
use volary_episode::frames::FramePatch;
use volary_episode::{Episode, Recipe, StepRecord, native};

/// A value with a JSON codec.
pub(crate) trait Coded: Sized {
    /// Appends the encoded text.
    fn write(&self, out: &mut String);
    /// Decodes a parsed text. The error is the reason.
    fn read(json: &Json) -> Result<Self, String>;
}

pub(crate) fn serialize<T: Coded, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut text = String::new();
    value.write(&mut text);
    serializer.serialize_str(&text)
}

pub(crate) fn deserialize<'de, T: Coded, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(CodedVisitor(PhantomData))
}

struct CodedVisitor<T>(PhantomData<T>);

impl<T: Coded> Visitor<'_> for CodedVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        parse(text)
            .and_then(|json| T::read(&json))
            .map_err(E::custom)
    }
}

fn parse(text: &str) -> Result<Json, String> {
    Json::parse(text).map_err(|error| error.to_string())
}

impl<T: Coded> Coded for Vec<T> {
    fn write(&self, out: &mut String) {
        out.push('[');
        for (place, value) in self.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            value.write(out);
        }
        out.push(']');
    }

    fn read(json: &Json) -> Result<Self, String> {
        let values = json.as_list().ok_or("a list is missing")?;
        values.iter().map(T::read).collect()
    }
}

impl<T: Coded> Coded for Box<T> {
    fn write(&self, out: &mut String) {
        T::write(self, out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        T::read(json).map(Box::new)
    }
}

impl Coded for Object {
    fn write(&self, out: &mut String) {
        self.write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        let object = json.as_object().cloned();
        object.ok_or_else(|| "this is not an object".to_owned())
    }
}

impl Coded for Episode {
    fn write(&self, out: &mut String) {
        native::write_text(out, self);
    }

    fn read(json: &Json) -> Result<Self, String> {
        native::episode_from_json(json).map_err(|error| error.to_string())
    }
}

impl Coded for Recipe {
    fn write(&self, out: &mut String) {
        native::recipe_to_json(self).write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        native::recipe_from_json(json).map_err(|error| error.to_string())
    }
}

impl Coded for AnyMessage {
    fn write(&self, out: &mut String) {
        native::message_to_json(self).write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        native::message_from_json(json).map_err(|error| error.to_string())
    }
}

impl Coded for StepRecord {
    fn write(&self, out: &mut String) {
        native::step_to_json(self).write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        native::step_from_json(json).map_err(|error| error.to_string())
    }
}

impl Coded for FramePatch {
    fn write(&self, out: &mut String) {
        self.to_json().write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        FramePatch::from_json(json).map_err(|error| error.to_string())
    }
}

impl Coded for Row {
    fn write(&self, out: &mut String) {
        self.to_json().write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        Row::read(json).ok_or_else(|| "a table row has no id".to_owned())
    }
}

impl Coded for Actor {
    fn write(&self, out: &mut String) {
        self.to_json().write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        Actor::read(json).ok_or_else(|| "an actor is incomplete".to_owned())
    }
}

impl Coded for CellResult {
    fn write(&self, out: &mut String) {
        self.to_json().write_python_text(out);
    }

    fn read(json: &Json) -> Result<Self, String> {
        CellResult::read(json).ok_or_else(|| "a cell's result is incomplete".to_owned())
    }
}

/// The codec of types whose serde form needs a self-describing format.
macro_rules! coded_as_json {
    ($($name:ty),*) => {
        $(impl Coded for $name {
            fn write(&self, out: &mut String) {
                // Derived data always serializes.
                to_json(self).unwrap_or_default().write_python_text(out);
            }

            fn read(json: &Json) -> Result<Self, String> {
                from_json(json).map_err(|error| error.to_string())
            }
        })*
    };
}

coded_as_json!(Question, Sampling, CheckedReply);
