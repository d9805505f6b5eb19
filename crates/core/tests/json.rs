//! Properties of reading and writing JSON.

mod values;

use proptest::prelude::*;
use volary_core::json::read::{DEPTH_LIMIT, ReadProblem};
use volary_core::json::{Key, Object, read};
use volary_core::{Json, json};

proptest! {
    #[test]
    fn python_text_reads_back(value in values::json()) {
        let text = value.to_python_text();
        prop_assert!(text.is_ascii());
        prop_assert_eq!(read(&text).unwrap(), value);
    }

    #[test]
    fn indented_text_reads_back(value in values::json(), indent in 0_usize..5) {
        prop_assert_eq!(read(&value.to_python_text_indented(indent)).unwrap(), value);
    }

    #[test]
    fn compact_text_reads_back_but_for_infinities(value in values::json()) {
        let text = value.to_compact_text();
        prop_assert_eq!(&read(&text).unwrap().to_compact_text(), &text);
        if !value.to_python_text().contains("Infinity") {
            prop_assert_eq!(read(&text).unwrap(), value);
        }
    }

    #[test]
    fn compact_text_is_what_serde_reads(value in values::json()) {
        // serde_json has no big integers and loses their last digits, so only the form is compared.
        prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&value.to_compact_text()).is_ok());
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = read(&text);
    }

    #[test]
    fn any_soup_of_json_is_read_or_refused(
        text in "[\\[\\]{}:,\"\\\\u0-9a-fEN+. \n-]{0,40}"
    ) {
        if let Ok(value) = read(&text) {
            prop_assert_eq!(read(&value.to_python_text()).unwrap().to_python_text(), value.to_python_text());
        }
    }

    #[test]
    fn a_broken_text_tells_a_place_within_it(value in values::json(), cut in any::<prop::sample::Index>()) {
        let text = value.to_python_text();
        let cut = &text[..cut.index(text.len())];
        if let Err(error) = read(cut) {
            prop_assert!(error.position <= cut.len());
            prop_assert_eq!((error.line, error.column), (1, error.position + 1));
        }
    }

    #[test]
    fn the_last_of_equal_keys_wins_at_the_first_index(
        pairs in prop::collection::vec(("[a-d]", any::<i64>()), 0..40)
    ) {
        let members: Vec<String> =
            pairs.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        let read = read(&format!("{{{}}}", members.join(", "))).unwrap();
        let mut expected = Object::new();
        for (key, value) in pairs {
            expected.insert(Key::from(key), value);
        }
        prop_assert_eq!(read.to_python_text(), Json::Object(expected).to_python_text());
    }
}

#[test]
fn serde_carries_values() {
    let text = r#"{"b": [1, 1.0, -2.5, 9223372036854775808],
        "a": {"": null, "x": true, "y": "\u00e9"}}"#;
    let value = read(text).unwrap();
    let through = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<Json>(&through).unwrap(), value);
    let object: Object = serde_json::from_str(&through).unwrap();
    assert_eq!(Json::Object(object), value);
    // Out of the range of `i64`: the nearest float.
    let huge = read(&"9".repeat(40)).unwrap();
    assert_eq!(serde_json::to_string(&huge).unwrap(), "1e+40");
}

#[test]
fn what_python_reads() {
    for (text, value) in [
        (" \t\r\n1 ", json!(1)),
        ("-0", json!(0)),
        ("-0.0", json!(-0.0)),
        ("1e999", json!(f64::INFINITY)),
        ("-Infinity", json!(f64::NEG_INFINITY)),
        ("1E+2", json!(100.0)),
        ("\"\\ud83d\\ude42\\/\\u00e9\"", json!("🙂/é")),
        ("\"\\ud83d\\u0041\\udc00\"", json!("\u{fffd}A\u{fffd}")),
        ("{\"a\": 1, \"b\": 2, \"a\": 3}", json!({"a": 3, "b": 2})),
    ] {
        assert_eq!(read(text), Ok(value), "{text}");
    }
    assert!(matches!(read("NaN"), Ok(Json::Float(value)) if value.is_nan()));
    let digits = "123456789012345678901234567890";
    assert_eq!(read(digits).unwrap().to_python_text(), digits);
}

#[test]
fn what_python_refuses() {
    for (text, error) in [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ("01", "Extra data: line 1 column 2 (char 1)"),
        ("1.", "Extra data: line 1 column 2 (char 1)"),
        ("-", "Expecting value: line 1 column 1 (char 0)"),
        ("[1,]", "Expecting value: line 1 column 4 (char 3)"),
        ("[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"),
        (
            "{\n  1: 2}",
            "Expecting property name enclosed in double quotes: line 2 column 3 (char 4)",
        ),
        (
            "{\"é\" 1}",
            "Expecting ':' delimiter: line 1 column 6 (char 5)",
        ),
        (
            "\"a\nb\"",
            "Invalid control character at: line 1 column 3 (char 2)",
        ),
        (
            "\"a",
            "Unterminated string starting at: line 1 column 1 (char 0)",
        ),
        ("\"\\x\"", "Invalid \\escape: line 1 column 2 (char 1)"),
        (
            "\"\\u12g4\"",
            "Invalid \\uXXXX escape: line 1 column 3 (char 2)",
        ),
        (
            "\u{feff}1",
            "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)",
        ),
        ("\u{a0}1", "Expecting value: line 1 column 1 (char 0)"),
        ("nan", "Expecting value: line 1 column 1 (char 0)"),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn depth_is_limited_and_safe() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let deepest = read(&nested(DEPTH_LIMIT)).unwrap();
    assert_eq!(deepest.clone(), deepest);
    assert_eq!(read(&deepest.to_python_text()).unwrap(), deepest);
    let problem = |text: &str| read(text).unwrap_err().problem;
    assert_eq!(problem(&nested(DEPTH_LIMIT + 2)), ReadProblem::TooDeep);
    assert_eq!(problem(&"[".repeat(1_000_000)), ReadProblem::TooDeep);
    assert_eq!(problem(&"{\"a\":".repeat(1_000_000)), ReadProblem::TooDeep);
}

#[test]
fn large_objects_are_read_in_reasonable_time() {
    let members: Vec<String> = (0..200_000).map(|n| format!("\"{n}\": {n}")).collect();
    let value = read(&format!("{{{}}}", members.join(","))).unwrap();
    assert_eq!(value.as_object().map(Object::len), Some(200_000));
}
