//! JSON of rmcp, which is serde's, and ours.

use rmcp::model::JsonObject;
use serde_json::Value;
use volary_core::json::{Json, Object};

/// Our value as serde's. One that is nested deeper than serde reads becomes its text.
pub fn to_serde(value: &Json) -> Value {
    let text = value.to_compact_text();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Our object as serde's.
pub fn to_serde_object(object: &Object) -> JsonObject {
    match to_serde(&Json::Object(object.clone())) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Serde's object as ours.
pub fn from_serde(object: JsonObject) -> Object {
    match Json::parse(&Value::Object(object).to_string()) {
        Ok(Json::Object(object)) => object,
        _ => Object::new(),
    }
}
