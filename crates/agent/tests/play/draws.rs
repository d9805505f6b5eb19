//! Arguments drawn from schemas always match them.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use volary_agent::draw::draw_object;
use volary_core::json::{Json, Object};
use volary_core::random::Random;
use volary_core::{json, schema};

/// Schemas of the kinds that tools have.
fn any_schema() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": "null" })),
        Just(json!({})),
        Just(json!({ "type": "string", "minLength": 9, "maxLength": 40 })),
        Just(json!({ "type": ["string", "null"] })),
        Just(json!({ "enum": ["red", 2, null] })),
        Just(json!({ "const": "only" })),
        Just(json!({ "$ref": "#/$defs/Tree" })),
        (-5..5_i64, 0..9_i64).prop_map(|(low, width)| json!({
            "type": "integer", "minimum": low, "maximum": (low + width)
        })),
        (-5..5_i64, 2..9_i64).prop_map(|(low, width)| json!({
            "type": "integer", "exclusiveMinimum": low, "exclusiveMaximum": (low + width)
        })),
        (-5.0..5.0_f64).prop_map(|low| json!({ "type": "number", "minimum": low })),
        Just(json!({ "type": "integer", "default": 3 })),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..4).prop_map(|branches| json!({ "anyOf": branches })),
            (inner.clone(), 0..3_i64)
                .prop_map(|(items, least)| json!({ "type": "array", "items": items, "minItems": least, "maxItems": 4 })),
            vec(inner.clone(), 0..3).prop_map(|items| {
                let count = i64::try_from(items.len()).unwrap();
                json!({ "type": "array", "prefixItems": items, "minItems": count, "maxItems": count })
            }),
            inner.clone().prop_map(|value| json!({ "type": "object", "additionalProperties": value })),
            btree_map("[a-d]", inner, 0..4).prop_map(object_schema),
        ]
    })
}

fn object_schema(properties: std::collections::BTreeMap<String, Json>) -> Json {
    let required: Vec<Json> = properties
        .keys()
        .step_by(2)
        .map(|key| key.as_str().into())
        .collect();
    let properties = properties
        .into_iter()
        .map(|(key, value)| (key.into(), value));
    let properties: Object = properties.collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn root() -> impl Strategy<Value = Json> {
    let tree = json!({
        "type": "object",
        "properties": { "left": { "anyOf": [{ "$ref": "#/$defs/Tree" }, { "type": "null" }] }, "n": { "type": "integer" } },
        "required": ["left", "n"]
    });
    btree_map("[a-d]", any_schema(), 1..4).prop_map(move |properties| {
        let Json::Object(mut root) = object_schema(properties) else {
            unreachable!();
        };
        root.insert("$defs", json!({ "Tree": (tree.clone()) }));
        root.into()
    })
}

proptest! {
    #[test]
    fn what_is_drawn_fits(root in root(), seed in any::<u64>()) {
        let drawn = draw_object(&root, &mut Random::new(seed));
        let problems = schema::check(&root, &drawn.clone().into());
        prop_assert!(problems.is_empty(), "{problems:?} in {drawn:?}");
        prop_assert_eq!(draw_object(&root, &mut Random::new(seed)), drawn);
    }
}

#[test]
fn strange_schemas_end() {
    let strange = [
        json!({ "type": "object", "properties": { "a": { "$ref": "#/nowhere" } }, "required": ["a"] }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#" } }, "required": ["a"] }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "minLength": 1e300, "maxLength": 5 } } }),
        json!({ "type": "object", "properties": { "a": { "type": "array", "minItems": 1e300 } } }),
        json!({ "type": "object", "properties": { "a": { "type": "integer", "minimum": 1e300 } } }),
        json!({ "type": "object", "properties": { "a": { "enum": [] } }, "required": ["a"] }),
        json!({ "type": "object", "properties": 5 }),
        json!(null),
    ];
    for schema in strange {
        draw_object(&schema, &mut Random::new(1));
    }
}
