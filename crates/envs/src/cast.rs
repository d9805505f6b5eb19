//! Python's `float` and `int` for JSON values: aviary does not check
//! arguments against their declared types, so tools that cast receive any value.

use volary_core::json::number::{float_from_text, integer_from_text};
use volary_core::json::repr::text_repr;
use volary_core::json::{Integer, Json};
use volary_core::tool::ToolError;

/// The maximum number of digits that Python parses as an integer.
const DIGITS_LIMIT: usize = 4300;

/// Below this the integer part of any float fits an `i64`.
const WHOLE_LIMIT: f64 = (1_u64 << 53) as f64;

/// The result of `float(value)`.
pub fn to_float(value: &Json) -> Result<f64, ToolError> {
    match value {
        Json::Float(value) => Ok(*value),
        Json::Bool(value) => Ok(f64::from(u8::from(*value))),
        Json::Integer(value) => {
            let float = value.to_f64();
            if float.is_infinite() {
                return Err(ToolError::new(
                    "OverflowError",
                    "int too large to convert to float",
                ));
            }
            Ok(float)
        }
        Json::Text(text) => float_from_text(text).ok_or_else(|| {
            let shown = text_repr(text);
            ToolError::value(format!("could not convert string to float: {shown}"))
        }),
        Json::Null | Json::List(_) | Json::Object(_) => Err(ToolError::arguments(format!(
            "float() argument must be a string or a real number, not '{}'",
            type_name(value)
        ))),
    }
}

/// The result of `int(value)`: floats are truncated towards zero, texts must contain an integer.
pub fn to_integer(value: &Json) -> Result<Integer, ToolError> {
    match value {
        Json::Integer(value) => Ok(value.clone()),
        Json::Bool(value) => Ok(Integer::from(i64::from(*value))),
        Json::Float(value) if value.is_nan() => {
            Err(ToolError::value("cannot convert float NaN to integer"))
        }
        Json::Float(value) if value.abs() < WHOLE_LIMIT => Ok(Integer::from(value.trunc() as i64)),
        Json::Float(value) => {
            // Rust prints every digit of a float, so its integer part round-trips exactly.
            Integer::from_digits(&format!("{:.0}", value.trunc())).ok_or_else(|| {
                ToolError::new("OverflowError", "cannot convert float infinity to integer")
            })
        }
        Json::Text(text) => integer_of_text(text),
        Json::Null | Json::List(_) | Json::Object(_) => Err(ToolError::arguments(format!(
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            type_name(value)
        ))),
    }
}

fn integer_of_text(text: &str) -> Result<Integer, ToolError> {
    let integer = integer_from_text(text).ok_or_else(|| {
        let shown = text_repr(text);
        ToolError::value(format!("invalid literal for int() with base 10: {shown}"))
    })?;
    match &integer {
        Integer::Large(digits) if digits.trim_start_matches('-').len() > DIGITS_LIMIT => {
            Err(ToolError::value(format!(
                "Exceeds the limit ({DIGITS_LIMIT} digits) for integer string conversion: value \
                 has {} digits; use sys.set_int_max_str_digits() to increase the limit",
                digits.trim_start_matches('-').len()
            )))
        }
        _ => Ok(integer),
    }
}

/// The name of the Python type that holds the value.
pub fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "NoneType",
        Json::Bool(_) => "bool",
        Json::Integer(_) => "int",
        Json::Float(_) => "float",
        Json::Text(_) => "str",
        Json::List(_) => "list",
        Json::Object(_) => "dict",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(result: Result<impl ToString, ToolError>) -> String {
        match result {
            Ok(value) => value.to_string(),
            Err(error) => format!("{}: {}", error.class, error.text.unwrap_or_default()),
        }
    }

    #[test]
    fn floats_as_python_makes_them() {
        for (value, expected) in [
            (Json::from(" 3\n"), "3"),
            (Json::from("1_0"), "10"),
            (Json::from("1e400"), "inf"),
            (Json::from(true), "1"),
            (Json::from(7), "7"),
            (
                Json::from("it's"),
                "ValueError: could not convert string to float: \"it's\"",
            ),
            (
                Json::Null,
                "TypeError: float() argument must be a string or a real number, not 'NoneType'",
            ),
            (
                Json::List(Vec::new()),
                "TypeError: float() argument must be a string or a real number, not 'list'",
            ),
        ] {
            assert_eq!(text_of(to_float(&value)), expected);
        }
        let huge = Integer::from_digits(&format!("1{}", "0".repeat(400)));
        assert_eq!(
            text_of(to_float(&huge.map_or(Json::Null, Json::Integer))),
            "OverflowError: int too large to convert to float"
        );
    }

    #[test]
    fn integers_as_python_makes_them() {
        for (value, expected) in [
            (Json::from(3.7), "3"),
            (Json::from(-3.7), "-3"),
            (Json::from(-0.5), "0"),
            (Json::from(1e22), "10000000000000000000000"),
            (Json::from(" 3\n"), "3"),
            (Json::from("١٢"), "12"),
            (Json::from(true), "1"),
            (
                Json::from("3.7"),
                "ValueError: invalid literal for int() with base 10: '3.7'",
            ),
            (
                Json::from(f64::NAN),
                "ValueError: cannot convert float NaN to integer",
            ),
            (
                Json::from(f64::NEG_INFINITY),
                "OverflowError: cannot convert float infinity to integer",
            ),
            (
                Json::Object(Default::default()),
                "TypeError: int() argument must be a string, a bytes-like object or a real \
                 number, not 'dict'",
            ),
        ] {
            assert_eq!(text_of(to_integer(&value)), expected);
        }
        assert_eq!(text_of(to_integer(&"9".repeat(4300).into())).len(), 4300);
        assert!(
            text_of(to_integer(&"9".repeat(4301).into()))
                .starts_with("ValueError: Exceeds the limit (4300 digits)")
        );
    }
}
