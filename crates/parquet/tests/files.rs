//! Files that pyarrow wrote (`fixtures/write.py`): every compression and type, and damaged ones.

#![cfg(test)]

use std::sync::Once;

use proptest::prelude::*;
use volary_core::json::Json;
use volary_parquet::{ParquetError, Rows, is_parquet, read_rows};

const LIMIT: usize = 1 << 20;

fn file(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/tests/fixtures/{name}.parquet",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read(path).unwrap()
}

fn read(name: &str) -> Rows {
    let bytes = file(name);
    assert!(is_parquet(&bytes));
    read_rows(bytes, LIMIT).unwrap()
}

#[test]
fn conversations_are_read_from_all_compressions() {
    let expected = [
        r#"{"id": 1, "messages": [{"role": "user", "content": "What is 6 \u00d7 7?"}, {"role": "assistant", "content": "42"}], "reward": 1.0}"#,
        r#"{"id": 2, "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": null}], "reward": null}"#,
        r#"{"id": 3, "messages": [], "reward": NaN}"#,
    ];
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"] {
        let rows = read(&format!("chat-{codec}"));
        assert_eq!(rows.lines.lines().collect::<Vec<_>>(), expected, "{codec}");
        assert_eq!((rows.count, rows.loss), (3, None), "{codec}");
    }
    assert_eq!(read("empty"), Rows::default());
}

#[test]
fn an_unsupported_compression_is_named() {
    let rows = read("chat-brotli");
    assert_eq!(rows.count, 0);
    let loss = rows.loss.unwrap();
    assert!(
        loss.contains("rows from 1 on") && loss.contains("brotli"),
        "{loss}"
    );
}

#[test]
fn all_types_become_json() {
    let rows = read("types");
    let expected = [
        r#"{"bool": true, "i8": -1, "u64": 18446744073709551615, "f16": 0.5, "f32": 0.1, "text": "\u00e4", "bytes": "/wA=", "decimal": "12.50", "date": "2026-03-04", "when": "2026-03-04 05:06:07.000000 +00:00", "map": {"a": 1, "b": 2}, "nested": [[1, 2], []], "struct": {"x": {"y": [{"z": 1}]}}, "dictionary": "a", "large": "l"}"#,
        r#"{"bool": null, "i8": 2, "u64": 0, "f16": null, "f32": -1e+30, "text": "", "bytes": "plain", "decimal": null, "date": null, "when": null, "map": null, "nested": null, "struct": null, "dictionary": "a", "large": null}"#,
    ];
    assert_eq!(rows.lines.lines().collect::<Vec<_>>(), expected);
    let rows = read("version2");
    let expected = [
        r#"{"i8": -1, "f32": 0.1, "text": "\u00e4"}"#,
        r#"{"i8": 2, "f32": -1e+30, "text": ""}"#,
    ];
    assert_eq!(rows.lines.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn limits_and_incomplete_files_are_reported() {
    let bytes = file("chat-none");
    let rows = read_rows(file("repeated"), 4000).unwrap();
    assert_eq!(rows.count, 102);
    assert!(rows.loss.unwrap().contains("from 103 on (1000 in all)"));
    let error = read_rows(bytes.clone(), 100).unwrap_err();
    assert!(matches!(error, ParquetError::TooLarge { .. }), "{error}");
    let error = read_rows(bytes[..bytes.len() - 9].to_vec(), LIMIT).unwrap_err();
    assert!(matches!(error, ParquetError::Damaged { .. }), "{error}");
    assert!(error.to_string().ends_with("copy it again."), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_files_are_refused_or_read_partly(
        name in prop::sample::select(vec!["chat-zstd", "chat-snappy", "chat-lz4", "chat-gzip", "types", "version2"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        // The messages of caught panics are not printed.
        static QUIET: Once = Once::new();
        QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
        let mut bytes = file(name);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        match read_rows(bytes, LIMIT) {
            Ok(rows) => {
                prop_assert_eq!(rows.lines.lines().count(), rows.count);
                prop_assert!(rows.lines.len() < LIMIT);
                for line in rows.lines.lines() {
                    prop_assert!(matches!(Json::parse(line), Ok(Json::Object(_))), "{}", line);
                }
            }
            Err(error) => prop_assert!(error.to_string().starts_with("This Parquet file")),
        }
    }
}
