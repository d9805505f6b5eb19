//! Numbers in request bodies, with the coercions of the original's framework.

use volary_core::json::Json;
use volary_core::json::text::strip;

use crate::body::BodyProblem;

/// The upper bound of floats that convert to an `i64`.
const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0;

/// Reads an integer; also accepts floats without a fraction, booleans and texts. Integers of more than 64 bits, which
/// the original passes on, are rejected: no dataset is that long.
pub(crate) fn integer(name: &'static str, value: &Json) -> Result<i64, BodyProblem> {
    let problem = |kind, message: &str| BodyProblem::field(kind, name, message, value);
    let too_large = || {
        let message = "Unable to parse input string as an integer, exceeded maximum size";
        problem("int_parsing_size", message)
    };
    match value {
        Json::Bool(flag) => Ok(i64::from(*flag)),
        Json::Integer(_) => value.as_i64().ok_or_else(too_large),
        Json::Float(number) if !number.is_finite() => {
            Err(problem("finite_number", "Input should be a finite number"))
        }
        Json::Float(number) if number.fract() != 0.0 => Err(problem(
            "int_from_float",
            "Input should be a valid integer, got a number with a fractional part",
        )),
        Json::Float(number) if (-INTEGERS_END..INTEGERS_END).contains(number) => {
            #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
            let whole = *number as i64;
            Ok(whole)
        }
        Json::Float(_) => Err(too_large()),
        Json::Text(text) => {
            let digits = digits(text).ok_or_else(|| {
                let message =
                    "Input should be a valid integer, unable to parse string as an integer";
                problem("int_parsing", message)
            })?;
            digits.parse().map_err(|_| too_large())
        }
        _ => Err(problem("int_type", "Input should be a valid integer")),
    }
}

/// The digits of an integer's text with an optional sign; the text may have `_` between digits and `.0` at the end.
fn digits(text: &str) -> Option<String> {
    let text = strip(text);
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0') => {
            whole
        }
        Some(_) => return None,
        None => text,
    };
    let unsigned = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    let fits = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    unsigned
        .split('_')
        .all(fits)
        .then(|| whole.replace('_', ""))
}

/// Reads a float; also accepts integers within the range of floats, booleans and texts.
pub(crate) fn float(name: &'static str, value: &Json) -> Result<f64, BodyProblem> {
    let problem = |kind, message: &str| BodyProblem::field(kind, name, message, value);
    match value {
        Json::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Json::Text(text) => float_of(text).ok_or_else(|| {
            problem(
                "float_parsing",
                "Input should be a valid number, unable to parse string as a number",
            )
        }),
        other => other
            .as_f64()
            .filter(|number| number.is_finite() || matches!(other, Json::Float(_)))
            .ok_or_else(|| problem("float_type", "Input should be a valid number")),
    }
}

/// Parses a float in ASCII digits; a single `_` may occur anywhere within it.
fn float_of(text: &str) -> Option<f64> {
    let text = strip(text);
    if text.starts_with('_') || text.ends_with('_') || text.contains("__") {
        return None;
    }
    text.replace('_', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    fn read(value: Json) -> Result<i64, &'static str> {
        integer("n", &value).map_err(|problem| problem.kind)
    }

    #[test]
    fn integers_in_every_form() {
        for (value, expected) in [
            (json!(3), Ok(3)),
            (json!(" 1_0\u{2003}"), Ok(10)),
            (json!("1_0.0"), Ok(10)),
            (json!("+00012"), Ok(12)),
            (json!("-1"), Ok(-1)),
            (json!(2.0), Ok(2)),
            (json!(1e18), Ok(1_000_000_000_000_000_000)),
            (json!(true), Ok(1)),
            (json!("1."), Err("int_parsing")),
            (json!(".0"), Err("int_parsing")),
            (json!("1__0"), Err("int_parsing")),
            (json!("_1"), Err("int_parsing")),
            (json!("- 1"), Err("int_parsing")),
            (json!("1e3"), Err("int_parsing")),
            (json!("\u{663}"), Err("int_parsing")),
            (json!(""), Err("int_parsing")),
            (json!("9223372036854775808"), Err("int_parsing_size")),
            (json!(1e19), Err("int_parsing_size")),
            (json!(1.5), Err("int_from_float")),
            (json!(f64::NAN), Err("finite_number")),
            (json!([]), Err("int_type")),
        ] {
            assert_eq!(read(value.clone()), expected, "{value:?}");
        }
    }

    #[test]
    fn floats_in_every_form() {
        let read = |value: Json| float("n", &value).map_err(|problem| problem.kind);
        assert_eq!(read(json!(" 1e3 ")), Ok(1000.0));
        assert_eq!(read(json!("-Infinity")), Ok(f64::NEG_INFINITY));
        assert_eq!(read(json!(7)), Ok(7.0));
        assert_eq!(read(json!("1_e5")), Ok(1e5));
        for text in ["0x1", "", "_1", "1_", "1__0", "1e", "\u{661}"] {
            assert_eq!(read(json!(text)), Err("float_parsing"), "{text:?}");
        }
        let beyond = volary_core::json::read(&"9".repeat(400)).unwrap();
        assert_eq!(read(beyond), Err("float_type"));
        assert_eq!(read(json!(f64::INFINITY)), Ok(f64::INFINITY));
        assert_eq!(read(json!({})), Err("float_type"));
    }
}
