//! Division, and the floor division and remainder of floats.

use super::super::error::{EvaluationError, ZeroDivision};
use super::budget::Budget;
use super::{Computed, Integer, float};

/// Integers up to this are exact as floats.
const EXACT: u64 = 1 << 53;

/// `left / right`, correctly rounded whatever the sizes.
///
/// # Errors
/// Division by zero, a quotient too large for a float, or the budget is spent.
pub fn divide(left: Integer, right: Integer, budget: &mut Budget) -> Computed<f64> {
    if right.is_zero() {
        return Err(EvaluationError::DivisionByZero(ZeroDivision::Integers));
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
    // Shifted such that the quotient has 65 to 66 bits; for correct rounding only the information
    // whether there is a remainder is then missing.
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
        return Err(EvaluationError::DivisionByZero(ZeroDivision::FloatModulo));
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

/// `left // right`, computed from the remainder, so that the two are consistent.
///
/// # Errors
/// Division by zero.
pub fn floor_divide(left: f64, right: f64) -> Computed<f64> {
    if right == 0.0 {
        return Err(EvaluationError::DivisionByZero(ZeroDivision::FloatFloor));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_have_the_sign_of_the_divisor() {
        for (left, right, quotient, remainder) in [
            (7.5, 2.0, 3.0, 1.5),
            (-7.5, 2.0, -4.0, 0.5),
            (7.5, -2.0, -4.0, -0.5),
            (1.0, 0.1, 9.0, 0.099_999_999_999_999_95),
            (5.0, f64::INFINITY, 0.0, 5.0),
            (-5.0, f64::INFINITY, -1.0, f64::INFINITY),
        ] {
            assert_eq!(floor_divide(left, right), Ok(quotient), "{left} // {right}");
            assert_eq!(modulo(left, right), Ok(remainder), "{left} % {right}");
        }
        let is_zero = |value: f64, negative| value == 0.0 && value.is_sign_negative() == negative;
        assert!(modulo(-4.0, 2.0).is_ok_and(|rest| is_zero(rest, false)));
        assert!(modulo(4.0, -2.0).is_ok_and(|rest| is_zero(rest, true)));
    }

    #[test]
    fn quotients_of_any_size() {
        let quotient =
            |left: i128, right: i128| divide(left.into(), right.into(), &mut Budget::default());
        assert_eq!(quotient(1, 3), Ok(1.0 / 3.0));
        assert_eq!(quotient((1 << 53) + 1, 1), Ok(9_007_199_254_740_992.0));
        assert_eq!(quotient((1 << 53) + 3, 1), Ok(9_007_199_254_740_996.0));
        assert_eq!(quotient(i128::MAX, -i128::MAX), Ok(-1.0));
        assert_eq!(
            quotient(1, 0),
            Err(EvaluationError::DivisionByZero(ZeroDivision::Integers))
        );
    }
}
