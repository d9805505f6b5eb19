//! `round`, which rounds ties to even by the exact value of the number.

use num_bigint::{BigInt, BigUint};
use num_traits::Zero;

use super::super::error::EvaluationError;
use super::{Computed, Integer, Value, float};

/// `round(value)`
///
/// # Errors
/// Infinities, nan, and complex numbers.
pub fn round(value: Value) -> Computed {
    match value.plus() {
        Value::Float(value) if value.is_nan() => Err(EvaluationError::invalid(
            "cannot convert float NaN to integer",
        )),
        Value::Float(value) if value.is_infinite() => Err(EvaluationError::Overflow {
            reason: "cannot convert float infinity to integer",
        }),
        Value::Float(value) => Ok(Value::Integer(Integer::from_whole(value.round_ties_even()))),
        Value::Complex(_) => Err(unsupported()),
        other => Ok(other),
    }
}

/// `round(value, digits)`
///
/// # Errors
/// Digits that are not an integer, complex numbers, and results too large for a float.
pub fn round_to_digits(value: Value, digits: Value) -> Computed {
    if matches!(value, Value::Complex(_)) {
        return Err(unsupported());
    }
    let digits = match digits.plus() {
        // Values out of range make no difference.
        Value::Integer(Integer::Small(digits)) => digits,
        Value::Integer(digits) if digits.is_negative() => i64::MIN,
        Value::Integer(_) => i64::MAX,
        other => {
            let name = other.type_name();
            return Err(EvaluationError::invalid(format!(
                "'{name}' object cannot be interpreted as an integer"
            )));
        }
    };
    match value.plus() {
        Value::Float(value) => round_float(value, digits).map(Value::Float),
        Value::Integer(value) if digits < 0 => {
            Ok(Value::Integer(round_integer(value, digits.unsigned_abs())))
        }
        other => Ok(other),
    }
}

fn unsupported() -> EvaluationError {
    EvaluationError::invalid("type complex doesn't define __round__ method")
}

/// Rounds to a multiple of ten to the power of `zeros`.
fn round_integer(value: Integer, zeros: u64) -> Integer {
    // A power of ten with more than twice the digits of the number rounds it to zero.
    let digits = value.bits() * 3 / 10 + 2;
    if zeros > digits {
        return Integer::Small(0);
    }
    let value = value.into_big();
    let magnitude = round_magnitude(value.magnitude(), false, zeros as u32);
    Integer::from(BigInt::from_biguint(value.sign(), magnitude))
}

/// The multiple of ten to the power of `zeros` that is nearest to a number, ties to even; `more` means that
/// the true number is slightly larger.
fn round_magnitude(value: &BigUint, more: bool, zeros: u32) -> BigUint {
    let unit = BigUint::from(10_u8).pow(zeros);
    let quotient = value / &unit;
    let twice_rest = (value - &quotient * &unit) * 2_u8;
    let up = match twice_rest.cmp(&unit) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => more || quotient.bit(0),
        std::cmp::Ordering::Greater => true,
    };
    (quotient + u8::from(up)) * unit
}

fn round_float(value: f64, digits: i64) -> Computed<f64> {
    if !value.is_finite() || value == 0.0 || digits > 323 {
        return Ok(value);
    }
    if digits < -308 {
        return Ok(0.0 * value);
    }
    let magnitude = value.abs();
    let rounded = match usize::try_from(digits) {
        // The standard library prints the exact value, rounded half to even, and parses it with
        // correct rounding.
        Ok(digits) => format!("{magnitude:.digits$}").parse().ok(),
        Err(_) => {
            let (mantissa, exponent) = float::parts(magnitude);
            let (whole, more) = match exponent {
                0.. => (BigUint::from(mantissa) << exponent.unsigned_abs(), false),
                _ => {
                    let whole = mantissa
                        .checked_shr(exponent.unsigned_abs())
                        .unwrap_or_default();
                    (BigUint::from(whole), magnitude != magnitude.trunc())
                }
            };
            let rounded = round_magnitude(&whole, more, digits.unsigned_abs() as u32);
            if rounded.is_zero() {
                Some(0.0)
            } else {
                float::from_magnitude(&rounded)
            }
        }
    };
    match rounded {
        Some(rounded) if rounded.is_finite() => Ok(rounded.copysign(value)),
        _ => Err(EvaluationError::Overflow {
            reason: "rounded value too large to represent",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_by_the_exact_value() {
        for (value, digits, rounded) in [
            (2.675, 2, 2.67),
            (0.125, 2, 0.12),
            (0.375, 2, 0.38),
            (-0.125, 2, -0.12),
            (1250.0, -2, 1200.0),
            (1250.5, -2, 1300.0),
            (1350.0, -2, 1400.0),
            (-1350.0, -2, -1400.0),
            (0.9, -1, 0.0),
            (5e-324, 323, 0.0),
            (5e-324, 324, 5e-324),
            (1.4e308, -308, 1e308),
        ] {
            assert_eq!(
                round_float(value, digits),
                Ok(rounded),
                "round({value}, {digits})"
            );
        }
        assert!(round_float(1.7e308, -308).is_err());
    }

    #[test]
    fn rounds_integers_to_tens() {
        for (value, zeros, rounded) in [
            (15, 1, 20),
            (25, 1, 20),
            (-25, 1, -20),
            (149, 2, 100),
            (150, 2, 200),
            (7, 9, 0),
        ] {
            assert_eq!(
                round_integer(Integer::Small(value), zeros),
                Integer::Small(rounded)
            );
        }
    }
}
