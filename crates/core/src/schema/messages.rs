//! Error messages for values that do not match their schema.

use crate::fields::kind_of;
use crate::json::{Json, Object, float_text};

/// A type of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    /// The types that a schema requires; empty if it accepts all.
    pub(super) fn of_schema(schema: &Object) -> impl Iterator<Item = JsonType> + Clone {
        let names = match schema.get("type") {
            Some(Json::List(names)) => names,
            Some(name) => std::slice::from_ref(name),
            None => &[],
        };
        names.iter().filter_map(JsonType::of_name)
    }

    fn of_name(name: &Json) -> Option<JsonType> {
        match &**name.as_text()? {
            "null" => Some(JsonType::Null),
            "boolean" => Some(JsonType::Boolean),
            "integer" => Some(JsonType::Integer),
            "number" => Some(JsonType::Number),
            "string" => Some(JsonType::String),
            "array" => Some(JsonType::Array),
            "object" => Some(JsonType::Object),
            _ => None,
        }
    }

    /// Whether a value is of this type.
    pub(super) fn holds(self, value: &Json) -> bool {
        match value {
            Json::Null => self == JsonType::Null,
            Json::Bool(_) => self == JsonType::Boolean,
            Json::Integer(_) => matches!(self, JsonType::Integer | JsonType::Number),
            Json::Float(float) => {
                self == JsonType::Number || (self == JsonType::Integer && float.fract() == 0.0)
            }
            Json::Text(_) => self == JsonType::String,
            Json::List(_) => self == JsonType::Array,
            Json::Object(_) => self == JsonType::Object,
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            JsonType::Null => "null",
            JsonType::Boolean => "true or false",
            JsonType::Integer => "a whole number",
            JsonType::Number => "a number",
            JsonType::String => "a string",
            JsonType::Array => "a list",
            JsonType::Object => "an object",
        }
    }
}

/// The message for a value of a wrong type.
pub(super) fn wrong_type(kinds: &[JsonType], value: &Json) -> String {
    let found = match value {
        Json::Integer(_) => "a whole number".to_owned(),
        Json::Float(float) => float_text(*float),
        other => kind_of(other).to_owned(),
    };
    let wanted: Vec<&str> = kinds.iter().map(|kind| kind.phrase()).collect();
    format!("must be {}, not {found}", listed(&wanted))
}

/// The message for a value that matches none of several schemas.
pub(super) fn any_of<'a>(branches: impl Iterator<Item = &'a Object>) -> String {
    let mut wanted: Vec<String> = Vec::new();
    for branch in branches {
        let phrases = match (branch.get("const"), branch.get("enum")) {
            (Some(constant), _) => vec![constant.to_compact_text()],
            (None, Some(Json::List(options))) => {
                options.iter().map(Json::to_compact_text).collect()
            }
            _ => JsonType::of_schema(branch)
                .map(|kind| kind.phrase().to_owned())
                .collect(),
        };
        for word in phrases {
            if !wanted.contains(&word) {
                wanted.push(word);
            }
        }
    }
    if wanted.is_empty() {
        "fits none of the allowed forms".to_owned()
    } else {
        format!("must be {}", listed(&wanted))
    }
}

/// The message for a value that is not among the options.
pub(super) fn not_an_option(options: &[Json]) -> String {
    let options: Vec<String> = options.iter().map(Json::to_compact_text).collect();
    format!("must be one of {}", options.join(", "))
}

/// The message for an unknown member.
pub(super) fn unknown(properties: Option<&Object>) -> String {
    let known: Vec<&str> = properties
        .iter()
        .flat_map(|properties| properties.keys())
        .map(|key| &**key)
        .collect();
    if known.is_empty() {
        "is unknown".to_owned()
    } else {
        format!("is unknown; known are {}", known.join(", "))
    }
}

/// A count with its noun.
pub(super) fn count(number: f64, thing: &str) -> String {
    let plural = if number == 1.0 { "" } else { "s" };
    format!("{} {thing}{plural}", self::number(number))
}

/// A number as people write it.
pub(super) fn number(number: f64) -> String {
    number.to_string()
}

fn listed(phrases: &[impl AsRef<str>]) -> String {
    let phrases: Vec<&str> = phrases.iter().map(AsRef::as_ref).collect();
    phrases.join(" or ")
}
