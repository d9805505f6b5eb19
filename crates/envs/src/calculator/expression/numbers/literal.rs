//! The values of number literals.

use std::borrow::Cow;

use num_bigint::BigInt;
use num_traits::Num;

use super::integer::MAXIMUM_DIGITS;
use super::{Integer, Value};

/// The value of a well-formed literal; `None` if it is imaginary.
///
/// # Errors
/// A decimal integer exceeds Python's limit of digits.
pub fn literal(text: &str) -> Result<Option<Value>, Cow<'static, str>> {
    if let Some(value) = small_decimal(text) {
        return Ok(Some(Value::Integer(Integer::Small(value))));
    }
    let digits: Cow<'_, str> = if text.contains('_') {
        Cow::Owned(text.replace('_', ""))
    } else {
        Cow::Borrowed(text)
    };
    let based = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => Some(16),
        [b'0', b'o' | b'O', ..] => Some(8),
        [b'0', b'b' | b'B', ..] => Some(2),
        _ => None,
    };
    if let Some(base) = based {
        return Ok(integer(digits.get(2..).unwrap_or_default(), base));
    }
    if digits.ends_with(['j', 'J']) {
        return Ok(None);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if digits.len() > MAXIMUM_DIGITS {
            return Err(too_long(digits.len()).into());
        }
        return Ok(integer(&digits, 10));
    }
    Ok(digits.parse().ok().map(Value::Float))
}

/// The fast path for the usual case: a few digits.
fn small_decimal(text: &str) -> Option<i64> {
    if text.len() > 18 {
        return None;
    }
    text.bytes().try_fold(0, |value, byte| {
        byte.is_ascii_digit()
            .then(|| value * 10 + i64::from(byte - b'0'))
    })
}

fn integer(digits: &str, base: u32) -> Option<Value> {
    BigInt::from_str_radix(digits, base)
        .ok()
        .map(|value| Value::Integer(value.into()))
}

fn too_long(digits: usize) -> String {
    format!(
        "Exceeds the limit ({MAXIMUM_DIGITS} digits) for integer string conversion: value has \
         {digits} digits; use sys.set_int_max_str_digits() to increase the limit - Consider \
         hexadecimal for huge integer literals to avoid decimal conversion limits."
    )
}
