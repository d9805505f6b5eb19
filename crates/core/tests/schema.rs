//! Properties of the schema validator.

mod values;

use proptest::prelude::*;
use volary_core::json::{Key, Object};
use volary_core::{Json, json, schema};

/// Schemas, some of them valid.
fn any_schema() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "string", "integer", "number", "null", "array", "object", "x"
        ])
        .prop_map(|name| json!({"type": name})),
        values::json().prop_map(|value| json!({"const": value})),
        prop::collection::vec(values::json(), 0..3).prop_map(|options| json!({"enum": options})),
        (-5..5_i64)
            .prop_map(|least| json!({"minimum": least, "minItems": least, "minLength": least})),
        Just(json!({"$ref": "#"})),
        any::<bool>().prop_map(Json::Bool),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let members = prop::collection::vec(("[a-c]".prop_map(Key::from), inner.clone()), 0..3)
            .prop_map(Object::from_pairs);
        let list = || prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            (members.clone(), inner.clone()).prop_map(|(properties, additional)| json!({
                "properties": properties,
                "required": ["a"],
                "additionalProperties": additional
            })),
            (list(), inner.clone()).prop_map(|(prefix, items)| json!({
                "prefixItems": prefix,
                "items": items,
                "uniqueItems": true
            })),
            list().prop_map(|branches| json!({"anyOf": branches})),
            list().prop_map(|parts| json!({"allOf": parts})),
        ]
    })
}

proptest! {
    #[test]
    fn checking_never_panics(
        schema in prop_oneof![3 => any_schema(), 1 => values::json()],
        value in values::json()
    ) {
        for problem in schema::check(&schema, &value) {
            prop_assert!(!problem.reason.is_empty());
        }
    }

    #[test]
    fn filling_keeps_what_was_given(schema in any_schema(), object in values::object()) {
        let filled = schema::with_defaults(&schema, &object);
        for (key, value) in object.iter().filter(|(_, value)| value.as_object().is_none()) {
            prop_assert_eq!(filled.get(key), Some(value));
        }
        prop_assert_eq!(schema::with_defaults(&schema, &filled), filled);
    }

    #[test]
    fn a_value_fits_its_own_constant(value in values::json()) {
        let constant = schema::check(&json!({"const": (value.clone())}), &value);
        prop_assert_eq!(constant, []);
        let option = schema::check(&json!({"enum": [null, (value.clone())]}), &value);
        prop_assert_eq!(option, []);
    }
}
