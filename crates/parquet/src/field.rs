//! Values of the `parquet` crate as JSON.

use base64ct::{Base64, Encoding};
use parquet::record::{Field, Row};
use volary_core::json::{Integer, Json, Key, Object};

/// A row as an object, in the order of the columns.
pub(crate) fn object(row: &Row) -> Object {
    let columns = row.get_column_iter();
    let pairs = columns.map(|(name, field)| (Key::from(name.clone()), json(field)));
    Object::from_pairs(pairs.collect())
}

fn json(field: &Field) -> Json {
    match field {
        Field::Null => Json::Null,
        Field::Bool(value) => Json::Bool(*value),
        Field::Byte(value) => integer(i64::from(*value)),
        Field::Short(value) => integer(i64::from(*value)),
        Field::Int(value) => integer(i64::from(*value)),
        Field::Long(value) => integer(*value),
        Field::UByte(value) => integer(i64::from(*value)),
        Field::UShort(value) => integer(i64::from(*value)),
        Field::UInt(value) => integer(i64::from(*value)),
        Field::ULong(value) => integer(i128::from(*value)),
        Field::Float16(value) => Json::Float(value.to_f64()),
        Field::Float(value) => Json::Float(shortest(*value)),
        Field::Double(value) => Json::Float(*value),
        Field::Str(text) => text.as_str().into(),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => text.into(),
            Err(_) => Base64::encode_string(bytes.data()).into(),
        },
        // The crate writes these as texts.
        Field::Decimal(_)
        | Field::Date(_)
        | Field::TimeMillis(_)
        | Field::TimeMicros(_)
        | Field::TimestampMillis(_)
        | Field::TimestampMicros(_) => field.to_string().into(),
        Field::Group(row) => Json::Object(object(row)),
        Field::ListInternal(list) => Json::List(list.elements().iter().map(json).collect()),
        Field::MapInternal(map) => map_json(map.entries()),
    }
}

/// The decimal number that a 32-bit float is the nearest one to: 0.1, rather than 0.10000000149011612.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn integer(value: impl Into<Integer>) -> Json {
    Json::Integer(value.into())
}

fn map_json(entries: &[(Field, Field)]) -> Json {
    let pairs = entries.iter().map(|(key, value)| {
        let key = match json(key) {
            Json::Text(text) => text.to_string(),
            other => other.to_compact_text(),
        };
        (Key::from(key), json(value))
    });
    Json::Object(Object::from_pairs(pairs.collect()))
}
