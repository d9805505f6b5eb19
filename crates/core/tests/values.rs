//! Arbitrary JSON values for property tests.

use proptest::prelude::*;
use volary_core::Json;
use volary_core::json::{Integer, Key, Object};

/// Any number, with edge cases often. No NaN, which equals nothing.
fn number() -> impl Strategy<Value = Json> {
    prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<i128>().prop_map(|value| Json::Integer(Integer::from(value))),
        any::<f64>()
            .prop_filter("NaN equals nothing", |value| !value.is_nan())
            .prop_map(Json::Float),
        prop::sample::select(vec![0.0, -0.0, 1e16, 1e-4, 9.999e-5, f64::INFINITY])
            .prop_map(Json::Float),
    ]
}

/// Any value, a few levels deep.
pub fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        number(),
        any::<String>().prop_map(Json::from),
        "[ -~]{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::List),
            members(inner).prop_map(Json::Object),
        ]
    })
}

/// Any object.
#[allow(
    dead_code,
    reason = "not every test that uses these values needs objects"
)]
pub fn object() -> impl Strategy<Value = Object> {
    members(json())
}

fn members(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Object> {
    let key = prop_oneof![any::<String>(), "[a-e]"];
    prop::collection::vec((key.prop_map(Key::from), value), 0..6).prop_map(Object::from_pairs)
}
