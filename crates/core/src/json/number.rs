//! Numbers: integers of any size, float texts, parsing of numbers.

use std::fmt::Write;

use super::Text;
use super::text::{decimal_digit, is_space, strip};

/// An integer. Values of 64 bits are stored as `i64`; larger ones as their canonical decimal digits
/// (`-?[1-9][0-9]*`), which suffices for the core.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Integer {
    /// Fits 64 bits.
    Small(i64),
    /// Does not fit 64 bits.
    Large(Text),
}

impl Integer {
    /// Parses ASCII decimal digits with an optional sign; leading zeros are dropped. `None` for
    /// any other text.
    pub fn from_digits(text: &str) -> Option<Integer> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', ..] => (true, &text[1..]),
            [b'+', ..] => (false, &text[1..]),
            _ => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if let Ok(value) = text.parse::<i64>() {
            return Some(Integer::Small(value));
        }
        let digits = digits.trim_start_matches('0');
        let sign = if negative { "-" } else { "" };
        Some(Integer::Large(format!("{sign}{digits}").into()))
    }

    /// The nearest float, with ties to even; infinite if out of range.
    pub fn to_f64(&self) -> f64 {
        match self {
            Integer::Small(value) => *value as f64,
            // Canonical digits always parse, and parsing rounds ties to even.
            Integer::Large(digits) => digits.parse().unwrap_or(f64::NAN),
        }
    }

    /// The value as `i64`, if it fits.
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Integer::Small(value) => Some(*value),
            Integer::Large(_) => None,
        }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        *self == Integer::Small(0)
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Integer::Small(value)
    }
}

impl From<i128> for Integer {
    fn from(value: i128) -> Self {
        i64::try_from(value)
            .map_or_else(|_| Integer::Large(value.to_string().into()), Integer::Small)
    }
}

impl std::fmt::Display for Integer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Integer::Small(value) => value.fmt(formatter),
            Integer::Large(digits) => formatter.write_str(digits),
        }
    }
}

/// The thresholds and the form of exponents in float texts.
pub(super) struct FloatStyle {
    /// Smaller magnitudes are written with an exponent.
    pub(super) plain_from: f64,
    /// Whether exponents have at least two digits.
    pub(super) padded: bool,
}

/// Python's `repr` of a float.
pub(super) const PYTHON: FloatStyle = FloatStyle {
    plain_from: 1e-4,
    padded: true,
};

/// The float texts of pydantic's JSON.
pub(super) const COMPACT: FloatStyle = FloatStyle {
    plain_from: 1e-5,
    padded: false,
};

/// The *float text*: the shortest digits that round-trip, always with `.0` or an exponent;
/// `nan`, `inf`, `-inf`.
pub fn float_text(value: f64) -> String {
    let mut out = String::new();
    if value.is_nan() {
        out.push_str("nan");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "inf" } else { "-inf" });
    } else {
        write_finite(&mut out, value, &PYTHON);
    }
    out
}

/// Appends the text of a finite float.
pub(super) fn write_finite(out: &mut String, value: f64, style: &FloatStyle) {
    // Most floats are small integers: rewards, counts.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        append(out, format_args!("{value:.1}"));
        return;
    }
    if value < 0.0 {
        out.push('-');
    }
    let magnitude = value.abs();
    let (digits, exponent) = shortest_digits(magnitude);
    if (style.plain_from..1e16).contains(&magnitude) {
        write_plain(out, &digits, exponent);
        return;
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let exponent = exponent.unsigned_abs();
    let width = if style.padded { 2 } else { 1 };
    append(
        out,
        format_args!("{first}{point}{rest}e{sign}{exponent:0width$}"),
    );
}

/// The shortest digits that round-trip a positive finite float, and the power of ten of the first digit. If two such
/// texts are equally near, returns the one with the even last digit, as Python does; the standard library returns the
/// upper one.
fn shortest_digits(value: f64) -> (String, i32) {
    /// Shorter texts are never equally near: a tie at digit n needs a float above 2^52 units of that digit.
    const TIE_DIGITS: usize = 15;
    let mut text = format!("{value:e}");
    let digits = text.bytes().take_while(|byte| *byte != b'e');
    let digits = digits.filter(u8::is_ascii_digit).count();
    if digits >= TIE_DIGITS {
        // With a given precision, the standard library rounds the exact value, ties to even.
        let even = format!("{value:.*e}", digits - 1);
        if even.parse() == Ok(value) {
            text = even;
        }
    }
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// Appends digits without an exponent; `exponent` is the power of ten of the first digit.
fn write_plain(out: &mut String, digits: &str, exponent: i32) {
    match usize::try_from(exponent) {
        Ok(whole) => {
            let (before, after) = digits.split_at((whole + 1).min(digits.len()));
            out.push_str(before);
            out.extend(std::iter::repeat_n('0', whole + 1 - before.len()));
            out.push('.');
            out.push_str(if after.is_empty() { "0" } else { after });
        }
        Err(_) => {
            out.push_str("0.");
            let zeros = exponent.unsigned_abs().saturating_sub(1);
            out.extend((0..zeros).map(|_| '0'));
            out.push_str(digits);
        }
    }
}

/// Appends formatted text; writing to a `String` does not fail.
pub(super) fn append(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(arguments);
}

/// Parses a float as Python's `float` does: surrounding white space, sign, decimal digits of any script, `_`
/// between digits, point, exponent, `inf`, `infinity`, `nan`.
pub fn float_from_text(text: &str) -> Option<f64> {
    plain_ascii(text)?.parse().ok()
}

/// Parses an integer as Python's `int` does.
pub fn integer_from_text(text: &str) -> Option<Integer> {
    Integer::from_digits(&plain_ascii(text)?)
}

/// The text stripped, with ASCII digits, without the `_` between them; `None` if it contains a character that
/// occurs in no number.
fn plain_ascii(text: &str) -> Option<String> {
    let inner = if text.is_ascii() {
        text.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r'])
    } else {
        strip(text)
    };
    let mut plain = String::with_capacity(inner.len());
    let mut after_digit = false;
    let mut characters = inner.chars().peekable();
    while let Some(character) = characters.next() {
        if let Some(digit) = decimal_digit(character) {
            plain.push(char::from(b'0' + digit));
            after_digit = true;
            continue;
        }
        if character == '_' {
            let before_digit = characters.peek().copied().and_then(decimal_digit).is_some();
            if !(after_digit && before_digit) {
                return None;
            }
        } else if character.is_ascii() && !is_space(character) {
            plain.push(character);
        } else {
            return None;
        }
        after_digit = false;
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_texts() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (123.456, "123.456"),
            (-0.00025, "-0.00025"),
            (1_234_567_890_123_456.8, "1234567890123456.8"),
            // Halfway between .2 and .3.
            (964_011_321_383_674.0 + 0.25, "964011321383674.2"),
            (1e16, "1e+16"),
            (-1.25e100, "-1.25e+100"),
            (5e-324, "5e-324"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    #[test]
    #[allow(
        clippy::excessive_precision,
        reason = "the digits show that the values lie between two shortest texts"
    )]
    fn ties_go_to_the_even_digit() {
        // Computed with CPython 3.11.
        for (value, text) in [
            (964_011_321_383_674.25, "964011321383674.2"),
            (964_011_321_383_674.75, "964011321383674.8"),
            (2f64.powi(-24), "5.960464477539063e-08"),
            (2f64.powi(-44), "5.684341886080802e-14"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (f64::MAX, "1.7976931348623157e+308"),
            (1e23, "1e+23"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn float_texts_read_back(bits in 0u64..0x7ff0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            let text = float_text(value);
            proptest::prop_assert_eq!(text.parse::<f64>(), Ok(value));
            // No shorter text round-trips, and of equally short ones it is the nearest (ties to even).
            let (digits, exponent) = shortest_digits(value.max(f64::MIN_POSITIVE));
            let nearest = format!("{:.*e}", digits.len() - 1, value.max(f64::MIN_POSITIVE));
            if nearest.parse() == Ok(value) {
                let own = format!("{}e{exponent}", digits);
                proptest::prop_assert_eq!(nearest.replace('.', ""), own);
            }
        }
    }

    #[test]
    fn floats_from_texts() {
        for (text, value) in [
            (" 1.5\n", 1.5),
            ("1_000.5e1_0", 1000.5e10),
            ("٣.٥", 3.5),
            ("\u{3000}5\u{1c}é", f64::NAN),
            ("-Infinity", f64::NEG_INFINITY),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e999", f64::INFINITY),
        ] {
            match float_from_text(text) {
                Some(read) => assert_eq!(read, value, "{text}"),
                None => assert!(value.is_nan(), "{text}"),
            }
        }
        for bad in [
            "", " ", "_1", "1_", "1__0", "1_.5", "1 2", "\u{1c}1", "0x1", "e5", ".", "1,000",
        ] {
            assert_eq!(float_from_text(bad), None, "{bad}");
        }
        assert!(float_from_text("+nAn").is_some_and(f64::is_nan));
    }

    #[test]
    fn integers_from_texts() {
        assert_eq!(integer_from_text(" -0_07 "), Some(Integer::Small(-7)));
        assert_eq!(integer_from_text("٣"), Some(Integer::Small(3)));
        let large = integer_from_text("+0099999999999999999999");
        assert_eq!(large, Some(Integer::Large("99999999999999999999".into())));
        assert_eq!(large.map(|value| value.to_f64()), Some(1e20));
        for bad in ["", "-", "1.0", "1e5", "inf", "--1"] {
            assert_eq!(integer_from_text(bad), None, "{bad}");
        }
    }
}
