//! Values of the `parquet` crate as JSON.
//!
//! Its records do not say what some types mean: nanoseconds are integers, UUIDs are bytes, and a time without a zone looks
//! like one in UTC. Their meaning is looked up in the schema, which is followed only if it has such a type.

use base64ct::{Base64, Encoding};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use volary_core::json::{Integer, Json, Key, Object};

/// A row as an object, in the order of the columns. `schema` is that of the row, if it has types to look up.
pub(crate) fn object(row: &Row, schema: Option<&Type>) -> Object {
    let columns = row.get_column_iter().enumerate();
    let pairs = columns.map(|(index, (name, field))| {
        let schema = schema.and_then(|schema| child(schema, index));
        (Key::from(name.clone()), json(field, schema))
    });
    Object::from_pairs(pairs.collect())
}

/// Whether a schema has types that must be looked up.
pub(crate) fn has_meanings(schema: &Type) -> bool {
    if schema.is_group() {
        schema.get_fields().iter().any(|field| has_meanings(field))
    } else {
        meaning(schema).is_some()
    }
}

/// A meaning that the records do not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Nanoseconds, in UTC.
    Timestamp,
    /// Of any unit, in an unknown time zone.
    LocalTimestamp,
    Time,
    Uuid,
}

fn meaning(schema: &Type) -> Option<Meaning> {
    // The deprecated timestamps of 96 bits have no zone. Records have their milliseconds only.
    if schema.is_primitive() && schema.get_physical_type() == PhysicalType::INT96 {
        return Some(Meaning::LocalTimestamp);
    }
    match schema.get_basic_info().logical_type_ref()? {
        LogicalType::Timestamp(timestamp) if !timestamp.is_adjusted_to_u_t_c => {
            Some(Meaning::LocalTimestamp)
        }
        LogicalType::Timestamp(timestamp) if timestamp.unit == TimeUnit::NANOS => {
            Some(Meaning::Timestamp)
        }
        LogicalType::Time(time) if time.unit == TimeUnit::NANOS => Some(Meaning::Time),
        LogicalType::Uuid => Some(Meaning::Uuid),
        _ => None,
    }
}

fn child(schema: &Type, index: usize) -> Option<&Type> {
    if schema.is_group() {
        schema.get_fields().get(index).map(AsRef::as_ref)
    } else {
        None
    }
}

/// The type of the elements of a list, as the crate finds it.
fn element(schema: &Type) -> Option<&Type> {
    let info = schema.get_basic_info();
    let is_list = info.converted_type() == ConvertedType::LIST
        || info.logical_type_ref() == Some(&LogicalType::List);
    if !is_list {
        // A repeated field without a list around it.
        return Some(schema);
    }
    let repeated = child(schema, 0)?;
    let is_element = !repeated.is_group()
        || repeated.get_fields().len() > 1
        || repeated.name() == "array"
        || repeated.name().ends_with("_tuple");
    if is_element {
        Some(repeated)
    } else {
        child(repeated, 0)
    }
}

fn json(field: &Field, schema: Option<&Type>) -> Json {
    match (schema.and_then(meaning), field) {
        (Some(Meaning::Timestamp), Field::Long(nanoseconds)) => {
            return timestamp(*nanoseconds).into();
        }
        (Some(Meaning::LocalTimestamp), Field::Long(nanoseconds)) => {
            return without_zone(timestamp(*nanoseconds)).into();
        }
        (Some(Meaning::LocalTimestamp), Field::TimestampMillis(_) | Field::TimestampMicros(_)) => {
            return without_zone(field.to_string()).into();
        }
        (Some(Meaning::Time), Field::Long(nanoseconds)) => return time(*nanoseconds).into(),
        (Some(Meaning::Uuid), Field::Bytes(bytes)) => return uuid(bytes.data()).into(),
        _ => {}
    }
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
        Field::Group(row) => {
            let mut object = object(row, schema);
            // All structs of a column have the members of all of them, so null also means that there is none.
            object.retain(|_, member| !member.is_null());
            Json::Object(object)
        }
        Field::ListInternal(list) => {
            let schema = schema.and_then(element);
            let elements = list.elements().iter();
            Json::List(elements.map(|element| json(element, schema)).collect())
        }
        Field::MapInternal(map) => {
            let entry = schema.and_then(|schema| child(schema, 0));
            map_json(map.entries(), entry)
        }
    }
}

/// The decimal number that a 32-bit float is the nearest one to: 0.1, rather than 0.10000000149011612.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

fn integer(value: impl Into<Integer>) -> Json {
    Json::Integer(value.into())
}

/// `2026-03-04 05:06:07.000000 +00:00`, with three more digits if they are not zero.
fn timestamp(nanoseconds: i64) -> String {
    let micros = Field::TimestampMicros(nanoseconds.div_euclid(1_000)).to_string();
    match (nanoseconds.rem_euclid(1_000), micros.split_once(" +")) {
        (rest @ 1.., Some((time, zone))) => format!("{time}{rest:03} +{zone}"),
        _ => micros,
    }
}

fn without_zone(mut timestamp: String) -> String {
    if let Some(zone) = timestamp.find(" +") {
        timestamp.truncate(zone);
    }
    timestamp
}

/// `05:06:07.000000`, with three more digits if they are not zero.
fn time(nanoseconds: i64) -> String {
    let micros = Field::TimeMicros(nanoseconds.div_euclid(1_000)).to_string();
    match nanoseconds.rem_euclid(1_000) {
        0 => micros,
        rest => format!("{micros}{rest:03}"),
    }
}

fn uuid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn map_json(entries: &[(Field, Field)], schema: Option<&Type>) -> Json {
    let kind = |index| schema.and_then(|schema| child(schema, index));
    let pairs = entries.iter().map(|(key, value)| {
        let key = match json(key, kind(0)) {
            Json::Text(text) => text.to_string(),
            other => other.to_python_text(),
        };
        (Key::from(key), json(value, kind(1)))
    });
    Json::Object(Object::from_pairs(pairs.collect()))
}
