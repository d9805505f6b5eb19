//! Division, and the floor division and remainder of floats.

use super::super::error::EvaluationError;
use super::budget::Budget;
use super::{Computed, Integer, float};

/// Integers up to this are floats exactly.
const EXACT: u64 = 1 << 53;

/// `left / right`, correctly rounded whatever the sizes.
///
/// # Errors
/// Division by zero, a quotient too large for a float, or the budget is spent.
pub fn divide(left: Integer, right: Integer, budget: &mut Budget) -> Computed<f64> {
    if right.is_zero() {
        return Err(EvaluationError::DivisionByZero);
    }
    if let (Integer::Small(left), Integer::Small(right)) = (&left, &right)
        && left.unsigned_abs() <= EXACT
        && right.unsigned_abs() <= EXACT
    {
        return Ok(*left as f64 / *right as f64);
    }
    let negative = left.is_negative() != right.is_negative();
    if left.is_zero() {
        return Ok(if negative { -0.0 } else { 0.0 });
    }
    // Shifted such that the quotient has 65 to 66 bits; then nothing but the fact of a remainder
    // is missing to round it.
    let shift = 65 + right.bits() as i64 - left.bits() as i64;
    budget.spend(65, right.bits())?;
    let (_, mut left) = left.into_big().into_parts();
    let (_, mut right) = right.into_big().into_parts();
    if shift < 0 {
        right <<= shift.unsigned_abs();
    } else {
        left <<= shift.unsigned_abs();
    }
    let quotient = &left / &right;
    let inexact = &quotient * &right != left;
    let quotient = quotient
        .iter_u64_digits()
        .take(2)
        .enumerate()
        .fold(0_u128, |sum, (index, digit)| {
            sum | u128::from(digit) << (64 * index)
        });
    // Exponents beyond the range of floats need not be exact.
    let exponent = (-shift).clamp(-4000, 4000) as i32;
    let magnitude =
        float::compose(quotient, exponent, inexact).ok_or(EvaluationError::Overflow {
            reason: "integer division result too large for a float",
        })?;
    Ok(if negative { -magnitude } else { magnitude })
}

/// `left % right`: the remainder has the sign of the divisor, also if it is zero.
///
/// # Errors
/// Division by zero.
pub fn modulo(left: f64, right: f64) -> Computed<f64> {
    if right == 0.0 {
        return Err(EvaluationError::DivisionByZero);
    }
    let remainder = left % right;
    Ok(if remainder == 0.0 {
        0.0_f64.copysign(right)
    } else if (right < 0.0) != (remainder < 0.0) {
        remainder + right
    } else {
        remainder
    })
}

/// `left // right`, by way of the remainder, so that the two fit together.
///
/// # Errors
/// Division by zero.
pub fn floor_divide(left: f64, right: f64) -> Computed<f64> {
    if right == 0.0 {
        return Err(EvaluationError::DivisionByZero);
    }
    let remainder = left % right;
    let mut quotient = (left - remainder) / right;
    if remainder != 0.0 && (right < 0.0) != (remainder < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return Ok(0.0_f64.copysign(left / right));
    }
    let floor = quotient.floor();
    Ok(if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    })
}
