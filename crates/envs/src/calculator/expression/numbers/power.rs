//! `**`: selects the kind of power of two numbers, and handles the special cases.

use num_traits::Pow;

use super::super::error::{EvaluationError, ZeroDivision};
use super::budget::{Budget, MAXIMUM_BITS, TOO_LARGE};
use super::{Complex, Computed, Integer, Value, exponentiation};

/// The power of integers: an integer, or a float if the exponent is negative.
///
/// # Errors
/// Zero to a negative power, integers too large for a float, powers larger than the limit.
pub fn integers(base: Integer, exponent: Integer, budget: &mut Budget) -> Computed {
    if exponent.is_negative() {
        return floats(base.to_float()?, exponent.to_float()?);
    }
    let odd = match &exponent {
        Integer::Small(exponent) => exponent & 1 == 1,
        Integer::Large(exponent) => exponent.bit(0),
    };
    Ok(Value::Integer(match (base, exponent) {
        (_, Integer::Small(0)) | (Integer::Small(1), _) => Integer::Small(1),
        (Integer::Small(0), _) => Integer::Small(0),
        (Integer::Small(-1), _) => Integer::Small(if odd { -1 } else { 1 }),
        (_, Integer::Large(_)) => return Err(TOO_LARGE),
        (base, Integer::Small(exponent)) => large_power(base, exponent, budget)?,
    }))
}

/// A power of a base beyond ±1 to a positive exponent.
fn large_power(base: Integer, exponent: i64, budget: &mut Budget) -> Computed<Integer> {
    let exponent = u32::try_from(exponent).map_err(|_| TOO_LARGE)?;
    if let Integer::Small(base) = base
        && let Some(power) = base.checked_pow(exponent)
    {
        return Ok(Integer::Small(power));
    }
    let least_bits = (base.bits() - 1) * u64::from(exponent);
    if least_bits > MAXIMUM_BITS {
        return Err(TOO_LARGE);
    }
    // The last squaring costs most of it.
    budget.spend(least_bits / 2, least_bits / 2)?;
    Ok(Integer::from(base.into_big().pow(exponent)))
}

/// The power of floats: a float, or a complex number if a negative base has a fractional exponent.
///
/// # Errors
/// Zero to a negative power, and powers too large for a float.
pub fn floats(base: f64, exponent: f64) -> Computed {
    if let Some(power) = special(base, exponent)? {
        return Ok(Value::Float(power));
    }
    if base < 0.0 && exponent != exponent.floor() {
        return Complex::from(base)
            .power(exponent.into())
            .map(Value::Complex);
    }
    let magnitude =
        exponentiation::power(base.abs(), exponent).ok_or(EvaluationError::PowerOverflow)?;
    let negative = base < 0.0 && is_odd(exponent);
    Ok(Value::Float(if negative { -magnitude } else { magnitude }))
}

/// Powers that involve zero, one, nan or an infinity; `None` for all others.
///
/// # Errors
/// Zero to a negative power.
pub fn special(base: f64, exponent: f64) -> Computed<Option<f64>> {
    let magnitude = base.abs();
    Ok(Some(if exponent == 0.0 || base == 1.0 {
        1.0
    } else if base.is_nan() || exponent.is_nan() {
        f64::NAN
    } else if exponent.is_infinite() {
        if magnitude == 1.0 {
            1.0
        } else if (exponent > 0.0) == (magnitude > 1.0) {
            f64::INFINITY
        } else {
            0.0
        }
    } else if base.is_infinite() || base == 0.0 {
        if base == 0.0 && exponent < 0.0 {
            return Err(EvaluationError::DivisionByZero(ZeroDivision::Power));
        }
        let grows = base.is_infinite() == (exponent > 0.0);
        let magnitude = if grows { f64::INFINITY } else { 0.0 };
        if is_odd(exponent) {
            f64::copysign(magnitude, base)
        } else {
            magnitude
        }
    } else {
        return Ok(None);
    }))
}

fn is_odd(exponent: f64) -> bool {
    (exponent % 2.0).abs() == 1.0
}
