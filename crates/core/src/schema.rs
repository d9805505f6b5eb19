//! Validates values against JSON Schema: configurations before an environment is made, arguments
//! before a call is sent.
//!
//! Supported are the keywords used by this project's schemas: `type`, `enum`, `const`, `anyOf`, `oneOf`
//! (as `anyOf`), `allOf`, `$ref` within the schema, `properties`, `required`, `additionalProperties`,
//! `items`, `prefixItems`, `minItems`, `maxItems`, `uniqueItems`, `minimum`, `maximum`, `minLength`.
//! Other keywords accept every value. A float without a fraction is an integer, as in JSON Schema.

mod check;
mod messages;

use crate::fields::{self, FieldError};
use crate::json::number::{float_from_text, integer_from_text};
use crate::json::{Json, Key, Object};

/// All violations of a value, in the order of the schema. Paths are like `tags[2].name`; the
/// value itself has an empty one.
pub fn check(schema: &Json, value: &Json) -> Vec<FieldError> {
    check::check(schema, value)
}

/// The object with missing members set to the schema's defaults, also in nested objects.
pub fn with_defaults(schema: &Json, object: &Object) -> Object {
    let mut filled = object.clone();
    let mut left = DEFAULTS_LIMIT;
    fill(schema, schema, &mut filled, &mut left);
    filled
}

/// Coerces scalars as aviary's configurations do, where the schema requires a number or boolean:
/// texts that contain a number become numbers, booleans become 1 and 0; within a group of settings, which is
/// a model in aviary, also words such as `yes`. Forms and tools do not use this; there a text is a text.
pub fn read_scalars(schema: &Json, object: &mut Object) {
    read_members(schema, object, false);
}

fn read_members(schema: &Json, object: &mut Object, in_group: bool) {
    let properties = schema.get("properties").and_then(Json::as_object);
    for (name, property) in properties.into_iter().flat_map(Object::iter) {
        let kind = property.get("type").and_then(Json::as_text);
        let (Some(kind), Some(value)) = (kind, object.get_mut(name)) else {
            continue;
        };
        let read = match (&**kind, &mut *value) {
            ("number", Json::Text(text)) => float_from_text(text).map(Json::Float),
            ("number", Json::Bool(flag)) => Some(Json::Float(f64::from(u8::from(*flag)))),
            ("integer", Json::Text(text)) => integer_from_text(text).map(Json::Integer),
            ("boolean", value) if in_group => fields::flag(name, value).ok().map(Json::Bool),
            // A null for a group of settings means its default.
            ("object", Json::Null) => property.get("default").cloned(),
            ("object", Json::Object(inner)) => {
                read_members(property, inner, true);
                None
            }
            _ => None,
        };
        if let Some(read) = read {
            *value = read;
        }
    }
}

/// Resolves a schema: follows `$ref` within `root`. `None` if the target does not exist.
pub fn resolve<'a>(root: &'a Json, schema: &'a Json) -> Option<&'a Json> {
    let mut schema = schema;
    // More steps than this are a cycle.
    for _ in 0..DEPTH_LIMIT {
        let Some(reference) = schema.get("$ref").and_then(Json::as_text) else {
            return Some(schema);
        };
        schema = lookup(root, reference)?;
    }
    None
}

/// The maximum nesting of schemas applied to a value and its members.
const DEPTH_LIMIT: usize = 200;

/// The maximum number of schemas applied. Schemas can branch exponentially.
const CHECKS_LIMIT: usize = 1_000_000;

/// The maximum number of defaults filled in. Defaults can require further ones without end.
const DEFAULTS_LIMIT: usize = 200;

/// The part of a schema that a reference such as `#/$defs/Name` points to.
fn lookup<'a>(root: &'a Json, reference: &str) -> Option<&'a Json> {
    let mut part = root;
    for name in reference.strip_prefix('#')?.split('/').skip(1) {
        let name = name.replace("~1", "/").replace("~0", "~");
        part = match part {
            Json::List(list) => list.get(name.parse::<usize>().ok()?)?,
            other => other.get(&name)?,
        };
    }
    Some(part)
}

fn fill(root: &Json, schema: &Json, object: &mut Object, left: &mut usize) {
    let properties = resolve(root, schema)
        .and_then(|schema| schema.get("properties"))
        .and_then(Json::as_object);
    let Some(properties) = properties else {
        return;
    };
    for (name, property) in properties.iter() {
        if !object.contains_key(name)
            && let Some(default) = property.get("default")
            && let Some(fewer) = left.checked_sub(1)
        {
            *left = fewer;
            object.insert(Key::clone(name), default.clone());
        }
        if let Some(Json::Object(inner)) = object.get_mut(name) {
            fill(root, property, inner, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn defaults_fill_what_is_missing() {
        let schema = json!({
            "properties": {
                "a": {"default": 1},
                "b": {"$ref": "#/$defs/B"},
                "c": {"type": "integer"}
            },
            "$defs": {"B": {"properties": {"x": {"default": null}, "y": {"default": "y"}}}}
        });
        let filled = with_defaults(&schema, &crate::object!({"b": {"y": "own"}}));
        let expected = crate::object!({"b": {"y": "own", "x": null}, "a": 1});
        assert_eq!(filled, expected);
    }

    #[test]
    fn scalars_are_read_as_what_is_wanted() {
        let schema = json!({
            "properties": {
                "number": {"type": "number"},
                "whole": {"type": "integer"},
                "text": {"type": "string"},
                "flag": {"type": "boolean"},
                "group": {"type": "object", "default": {}},
                "inner": {"type": "object", "properties": {
                    "number": {"type": "number"}, "truth": {"type": "number"},
                    "flag": {"type": "boolean"}, "word": {"type": "boolean"}
                }}
            }
        });
        let mut object = crate::object!({
            "number": " 1_0.5 ", "whole": "7", "text": "8", "flag": "yes", "group": null,
            "inner": {"number": "x", "truth": true, "flag": 2, "word": "Yes"}
        });
        read_scalars(&schema, &mut object);
        let expected = crate::object!({
            "number": 10.5, "whole": 7, "text": "8", "flag": "yes", "group": {},
            "inner": {"number": "x", "truth": 1.0, "flag": 2, "word": true}
        });
        assert_eq!(object, expected);
    }

    #[test]
    fn defaults_without_end_end() {
        let schema = json!({
            "properties": {
                "a": {"$ref": "#", "default": {}},
                "b": {"$ref": "#", "default": {}}
            }
        });
        let filled = Json::Object(with_defaults(&schema, &Object::new()));
        assert_eq!(filled.to_python_text().matches(':').count(), DEFAULTS_LIMIT);
    }

    #[test]
    fn references_in_a_circle_lead_nowhere() {
        let schema = json!({"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"});
        assert_eq!(resolve(&schema, &schema), None);
    }
}
