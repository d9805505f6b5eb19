//! Files that pyarrow wrote (`fixtures/write.py`): every compression and type, and damaged ones. Rows that are written and
//! read again.

#![cfg(test)]

use std::sync::Once;

use proptest::prelude::*;
use volary_core::json::Json;
use volary_parquet::{ParquetError, RowWriter, Rows, is_parquet, read_rows};

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
        r#"{"id": 2, "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant"}], "reward": null}"#,
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
    let error = read_rows(file("chat-brotli"), LIMIT).unwrap_err();
    assert_eq!(error, ParquetError::Compression { codec: "Brotli" });
    let text = error.to_string();
    assert!(text.contains("compression=\"zstd\""), "{text}");
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
fn types_are_looked_up_in_the_schema() {
    let rows = read("meanings");
    let expected = [
        r#"{"when": "2026-03-04 05:06:07.000000 +00:00", "time": "05:06:07.000000001", "uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f", "list": [["2026-03-04 05:06:07.000000 +00:00"]], "struct": {"a": "00:00:00.000000001", "b": ["1970-01-01 00:00:00.000000 +00:00"]}, "map": {"1970-01-01 00:00:00.000000 +00:00": {"at": "1970-01-01 00:00:00.000000 +00:00"}}, "floats": {"NaN": 1, "-Infinity": 2}}"#,
        r#"{"when": "1969-12-31 23:59:59.999999999 +00:00", "time": "05:06:07.000000", "uuid": null, "list": null, "struct": null, "map": null, "floats": {"0.5": 3}}"#,
    ];
    assert_eq!(rows.lines.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn timestamps_without_a_zone_get_none() {
    let expected = r#"{"ms": "2026-03-04 05:06:07.000", "us": "2026-03-04 05:06:07.000008", "ns": "2026-03-04 05:06:07.000008"}"#;
    assert_eq!(read("local").lines.trim_end(), expected);
    let expected = r#"{"at": "2026-03-04 05:06:07.000"}"#;
    assert_eq!(read("old-times").lines.trim_end(), expected);
}

#[test]
fn an_encrypted_file_is_named() {
    let bytes = [b"PARE".as_slice(), &[0; 40], b"PARE"].concat();
    assert!(is_parquet(&bytes));
    assert_eq!(read_rows(bytes, LIMIT), Err(ParquetError::Encrypted));
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
        for (offset, byte) in changes {
            let offset = offset.index(bytes.len());
            bytes[offset] = byte;
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

/// Writes rows and reads them again.
fn again(columns: &[(&str, &str)], rows: &[Json]) -> String {
    let mut writer = RowWriter::new(columns.iter().copied()).unwrap();
    for row in rows {
        writer.push(row.as_object().unwrap()).unwrap();
    }
    let bytes = writer.finish().unwrap();
    assert!(is_parquet(&bytes));
    let read = read_rows(bytes, LIMIT).unwrap();
    assert_eq!((read.count, read.loss), (rows.len(), None));
    read.lines
}

#[test]
fn written_rows_come_back_with_gaps_and_empty_lists() {
    let columns = [
        ("id", "string"),
        ("a b", "list<float>"),
        ("ids", "list<int8>"),
        (
            "said",
            "list<struct<role: string, calls: list<struct<name: string>>>>",
        ),
        ("n", "int64"),
        ("is", "bool"),
    ];
    let lines = [
        r#"{"id": "x", "a b": [0.1, null, NaN, -1e+30], "ids": [], "said": [{"role": "user", "calls": null}, {"role": null, "calls": [{"name": "f"}, {"name": null}]}], "n": 9007199254740993, "is": true}"#,
        r#"{"id": null, "a b": null, "ids": [1, -1, null], "said": [], "n": null, "is": null}"#,
    ];
    let rows = lines.map(|line| Json::parse(line).unwrap());
    let read = again(&columns, &rows);
    // A member that a table adds to a struct is null, too.
    let without = [
        (", \"calls\": null", ""),
        ("\"role\": null, ", ""),
        ("\"name\": null", ""),
    ];
    let expected = lines.map(|line| {
        let line = line.to_owned();
        without
            .iter()
            .fold(line, |line, (old, new)| line.replace(old, new))
    });
    assert_eq!(read.lines().collect::<Vec<_>>(), expected);
    // A value of another type is missing; a text column takes any value.
    let odd = Json::parse(r#"{"id": [1], "n": "x", "is": 1, "other": 2}"#).unwrap();
    let read = again(&columns, &[odd]);
    assert_eq!(
        read.trim_end(),
        r#"{"id": "[1]", "a b": null, "ids": null, "said": null, "n": null, "is": null}"#
    );
    assert_eq!(again(&columns, &[]), "");
    assert!(RowWriter::new([("a", "list<what>")]).is_err());
}

/// Values of the type `list<struct<a: int64, b: list<string>>>`.
fn nested() -> impl Strategy<Value = Json> {
    let texts = prop::option::of(prop::collection::vec(prop::option::of("\\PC{0,6}"), 0..4));
    let texts = texts.prop_map(|texts| match texts {
        None => Json::Null,
        Some(texts) => Json::List(
            texts
                .into_iter()
                .map(|text| text.map_or(Json::Null, Json::from))
                .collect(),
        ),
    });
    let number = prop::option::of(any::<i64>());
    let number = number.prop_map(|number| number.map_or(Json::Null, Json::from));
    let item = (number, texts).prop_map(|(a, b)| {
        let mut object = volary_core::object!({ "a": a, "b": b });
        object.retain(|_, member| !member.is_null());
        Json::from(object)
    });
    let item = prop_oneof![1 => Just(Json::Null), 4 => item];
    let list = prop::collection::vec(item, 0..5).prop_map(Json::List);
    prop_oneof![1 => Just(Json::Null), 6 => list]
}

proptest! {
    #[test]
    fn any_nesting_comes_back(values in prop::collection::vec(nested(), 0..8)) {
        let rows: Vec<Json> = values
            .into_iter()
            .map(|value| volary_core::object!({ "v": value }).into())
            .collect();
        let read = again(&[("v", "list<struct<a: int64, b: list<string>>>")], &rows);
        let read: Vec<Json> = read.lines().map(|line| Json::parse(line).unwrap()).collect();
        prop_assert_eq!(read, rows);
    }
}
