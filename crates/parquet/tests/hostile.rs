//! Files that were made by hand: small ones that declare or contain very much, and ones that contradict themselves.

#![cfg(test)]

use std::sync::Once;

use volary_core::json::Json;
use volary_core::{Object, json};
use volary_parquet::{ParquetError, RowWriter, Rows, read_rows};

/// As large as the command reads.
const LIMIT: usize = 2 << 30;

/// The messages of caught panics are not printed.
fn quieten() {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}

fn written(kind: &str, rows: impl IntoIterator<Item = Json>) -> Vec<u8> {
    let mut writer = RowWriter::new([("a", kind)]).unwrap();
    for row in rows {
        let mut object = Object::new();
        object.insert("a", row);
        writer.push(&object).unwrap();
    }
    writer.finish().unwrap()
}

fn small(bytes: Vec<u8>) -> Vec<u8> {
    assert!(bytes.len() < 100_000, "{} bytes", bytes.len());
    bytes
}

/// Fields of Thrift's compact protocol: a number with a type, and the value.
type Fields = Vec<(i64, u8, Vec<u8>)>;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn integer(value: i64) -> Vec<u8> {
    varint(((value << 1) ^ (value >> 63)) as u64)
}

fn text(value: &str) -> Vec<u8> {
    [varint(value.len() as u64), value.as_bytes().to_vec()].concat()
}

fn list(kind: u8, elements: &[Vec<u8>]) -> Vec<u8> {
    let head = [vec![0xf0 | kind], varint(elements.len() as u64)].concat();
    [head, elements.concat()].concat()
}

fn structure(fields: Fields) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, kind, value) in fields {
        bytes.push(kind);
        bytes.extend(integer(id));
        bytes.extend(value);
    }
    bytes.push(0);
    bytes
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

fn group(name: &str, children: i64) -> Vec<u8> {
    structure(vec![
        (3, I32, integer(0)),
        (4, BINARY, text(name)),
        (5, I32, integer(children)),
    ])
}

fn leaf(name: &str, kind: i64) -> Vec<u8> {
    structure(vec![
        (1, I32, integer(kind)),
        (3, I32, integer(0)),
        (4, BINARY, text(name)),
    ])
}

/// A file with this content before its metadata.
fn file(content: &[u8], schema: &[Vec<u8>], rows: i64, groups: &[Vec<u8>]) -> Vec<u8> {
    let metadata = structure(vec![
        (1, I32, integer(1)),
        (2, LIST, list(STRUCT, schema)),
        (3, I64, integer(rows)),
        (4, LIST, list(STRUCT, groups)),
    ]);
    let length = (metadata.len() as u32).to_le_bytes();
    [b"PAR1", content, &metadata, &length, b"PAR1"].concat()
}

/// A row group with one column of integers, whose pages are the whole content of the file.
fn row_group(content: &[u8], rows: i64, values: i64, codec: i64) -> Vec<u8> {
    let size = content.len() as i64;
    let metadata = structure(vec![
        (1, I32, integer(1)),
        (2, LIST, list(I32, &[integer(0)])),
        (3, LIST, list(BINARY, &[text("a")])),
        (4, I32, integer(codec)),
        (5, I64, integer(values)),
        (6, I64, integer(size)),
        (7, I64, integer(size)),
        (9, I64, integer(4)),
    ]);
    let column = structure(vec![(2, I64, integer(4)), (3, STRUCT, metadata)]);
    structure(vec![
        (1, LIST, list(STRUCT, &[column])),
        (2, I64, integer(size)),
        (3, I64, integer(rows)),
    ])
}

/// A data page of integers that declares this many values and unpacked bytes.
fn page(values: i64, unpacked: i64, packed: &[u8]) -> Vec<u8> {
    let data = structure(vec![
        (1, I32, integer(values)),
        (2, I32, integer(0)),
        (3, I32, integer(3)),
        (4, I32, integer(3)),
    ]);
    let header = structure(vec![
        (1, I32, integer(0)),
        (2, I32, integer(unpacked)),
        (3, I32, integer(packed.len() as i64)),
        (5, STRUCT, data),
    ]);
    [header, packed.to_vec()].concat()
}

fn of_page(page: &[u8], rows: i64, codec: i64) -> Result<Rows, ParquetError> {
    quieten();
    let schema = [group("schema", 1), leaf("a", 1)];
    let group = row_group(page, rows, rows, codec);
    read_rows(file(page, &schema, rows, &[group]), LIMIT)
}

#[test]
fn a_file_that_was_made_by_hand_is_read() {
    let content = page(2, 8, &[1, 0, 0, 0, 2, 0, 0, 0]);
    let rows = of_page(&content, 2, 0).unwrap();
    assert_eq!(rows.lines, "{\"a\": 1}\n{\"a\": 2}\n");
}

#[test]
fn very_many_rows_are_left_out() {
    let bytes = small(written("int8", (0..500_000).map(|_| json!(1))));
    let most = 4_000 + bytes.len() / 32;
    let rows = read_rows(bytes, LIMIT).unwrap();
    assert_eq!(rows.count, most);
    let loss = rows.loss.unwrap();
    assert!(loss.contains("(500000 in all) are not read"), "{loss}");
    // Without columns, rows take no bytes at all.
    let bytes = file(&[], &[group("schema", 0)], i64::MAX, &[]);
    let count = read_rows(bytes, LIMIT).map_or(0, |rows| rows.count);
    assert!(count <= 4_100, "{count}");
}

#[test]
fn one_row_with_very_many_values_is_refused() {
    let bytes = small(written(
        "list<int8>",
        [Json::List(vec![json!(1); 1_500_000])],
    ));
    let error = read_rows(bytes, LIMIT).unwrap_err();
    assert!(matches!(error, ParquetError::TooLarge { .. }), "{error}");
}

#[test]
fn one_row_that_repeats_a_long_text_is_left_out() {
    let long = json!("x".repeat(100_000));
    let rows = [
        json!(["short"]),
        Json::List(vec![long; 2_000]),
        json!(["last"]),
    ];
    let bytes = small(written("list<string>", rows));
    let rows = read_rows(bytes, LIMIT).unwrap();
    assert_eq!(
        (rows.count, rows.lines.as_str()),
        (1, "{\"a\": [\"short\"]}\n")
    );
    assert!(rows.loss.unwrap().contains("from 2 on (3 in all)"));
}

#[test]
fn rows_that_repeat_a_long_text_are_read_up_to_a_limit() {
    let bytes = small(written(
        "string",
        (0..20_000).map(|_| json!("x".repeat(10_000))),
    ));
    let rows = read_rows(bytes, LIMIT).unwrap();
    assert!((1..1_100).contains(&rows.count), "{}", rows.count);
    assert!(rows.loss.is_some());
}

#[test]
fn a_schema_that_is_nested_too_deeply_is_refused() {
    quieten();
    for depth in [101, 9_000] {
        let groups = (0..depth).map(|_| group("a", 1));
        let schema: Vec<Vec<u8>> = groups.chain([leaf("a", 1)]).collect();
        let error = read_rows(file(&[], &schema, 0, &[]), LIMIT).unwrap_err();
        assert!(
            error.to_string().contains("more than 100 levels"),
            "{error}"
        );
    }
    // A group that is said to have more members than there are.
    for children in [i64::from(i32::MAX), -1] {
        let bytes = file(&[], &[group("schema", 1), group("a", children)], 1, &[]);
        assert!(read_rows(bytes, LIMIT).is_err());
    }
}

#[test]
fn pages_that_lie_are_refused_or_reported() {
    let values = [1, 0, 0, 0, 2, 0, 0, 0];
    let huge = i64::from(i32::MAX);
    let none = 0;
    let snappy = 1;
    let gzip = 2;
    let zstd = 6;
    for codec in [none, snappy, gzip, zstd] {
        for (declared, unpacked) in [(huge, 8), (2, huge), (huge, huge), (-1, 8), (2, -1)] {
            for rows in [2, huge, i64::MAX, -1] {
                let read = of_page(&page(declared, unpacked, &values), rows, codec);
                let read = read.unwrap_or_default();
                assert!(read.count <= 4_100, "{codec} {declared} {unpacked} {rows}");
            }
        }
    }
}

#[test]
fn extreme_times_are_texts() {
    let schema = |kind: i64, converted: i64| {
        let column = structure(vec![
            (1, I32, integer(kind)),
            (3, I32, integer(0)),
            (4, BINARY, text("a")),
            (6, I32, integer(converted)),
        ]);
        [group("schema", 1), column]
    };
    quieten();
    // Dates, times and timestamps.
    for (kind, converted, width) in [(1, 6, 4), (1, 7, 4), (2, 8, 8), (2, 9, 8), (2, 10, 8)] {
        for value in [
            i64::MIN,
            i64::MAX,
            0,
            i64::from(i32::MIN),
            i64::from(i32::MAX),
        ] {
            let bytes = value.to_le_bytes();
            let content = page(1, width as i64, &bytes[..width]);
            let size = content.len() as i64;
            let metadata = structure(vec![
                (1, I32, integer(kind)),
                (2, LIST, list(I32, &[integer(0)])),
                (3, LIST, list(BINARY, &[text("a")])),
                (4, I32, integer(0)),
                (5, I64, integer(1)),
                (6, I64, integer(size)),
                (7, I64, integer(size)),
                (9, I64, integer(4)),
            ]);
            let column = structure(vec![(2, I64, integer(4)), (3, STRUCT, metadata)]);
            let group = structure(vec![
                (1, LIST, list(STRUCT, &[column])),
                (2, I64, integer(size)),
                (3, I64, integer(1)),
            ]);
            let bytes = file(&content, &schema(kind, converted), 1, &[group]);
            // A time that no calendar has is an error, not a wrong time.
            if let Ok(rows) = read_rows(bytes, LIMIT) {
                assert!(rows.count == 1 || rows.loss.is_some());
            }
        }
    }
}
