//! Integers of any size. Those of 64 bits are always stored as machine integers.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Neg, Sub};

use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

use super::super::error::{EvaluationError, ZeroDivision};
use super::Computed;
use super::budget::{Budget, MAXIMUM_BITS, TOO_LARGE};
use super::float;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Integer {
    /// Fits 64 bits.
    Small(i64),
    /// Does not fit 64 bits.
    Large(BigInt),
}

impl From<BigInt> for Integer {
    fn from(value: BigInt) -> Self {
        match value.to_i64() {
            Some(small) => Integer::Small(small),
            None => Integer::Large(value),
        }
    }
}

impl From<i128> for Integer {
    fn from(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(small) => Integer::Small(small),
            Err(_) => Integer::Large(value.into()),
        }
    }
}

impl From<bool> for Integer {
    fn from(value: bool) -> Self {
        Integer::Small(value.into())
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Integer::Small(value) => value.fmt(formatter),
            Integer::Large(value) => value.fmt(formatter),
        }
    }
}

/// The maximum number of digits that Python prints or parses.
pub const MAXIMUM_DIGITS: usize = 4300;

impl Integer {
    /// A float without a fraction.
    pub(super) fn from_whole(value: f64) -> Integer {
        // Beyond 2^63 the conversion saturates, so the float would not round-trip there.
        if value.abs() < 9.2e18 {
            return Integer::Small(value as i64);
        }
        let (mantissa, exponent) = float::parts(value.abs());
        let magnitude = BigInt::from(mantissa) << exponent.max(0) as u32;
        Integer::from(if value < 0.0 { -magnitude } else { magnitude })
    }

    /// As a big integer, whatever its size.
    pub(super) fn into_big(self) -> BigInt {
        match self {
            Integer::Small(value) => value.into(),
            Integer::Large(value) => value,
        }
    }

    /// The length of its magnitude in bits.
    pub(super) fn bits(&self) -> u64 {
        match self {
            Integer::Small(value) => u64::from(64 - value.unsigned_abs().leading_zeros()),
            Integer::Large(value) => value.bits(),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Integer::Small(0))
    }

    pub(super) fn is_negative(&self) -> bool {
        match self {
            Integer::Small(value) => *value < 0,
            Integer::Large(value) => value.sign() == Sign::Minus,
        }
    }

    pub(super) fn absolute(self) -> Integer {
        if self.is_negative() { -self } else { self }
    }

    /// The product.
    ///
    /// # Errors
    /// It exceeds the size limit, or the budget is exhausted.
    pub(super) fn multiply(self, other: Integer, budget: &mut Budget) -> Computed<Integer> {
        match (self, other) {
            (Integer::Small(left), Integer::Small(right)) => Ok(match left.checked_mul(right) {
                Some(product) => Integer::Small(product),
                None => Integer::from(i128::from(left) * i128::from(right)),
            }),
            (left, right) => {
                if left.bits() + right.bits() > MAXIMUM_BITS {
                    return Err(TOO_LARGE);
                }
                budget.spend(left.bits(), right.bits())?;
                Ok(Integer::from(left.into_big() * right.into_big()))
            }
        }
    }

    /// The quotient, rounded down.
    ///
    /// # Errors
    /// Division by zero, or the budget is exhausted.
    pub(super) fn floor_divide(self, other: Integer, budget: &mut Budget) -> Computed<Integer> {
        self.divide_with_remainder(other, budget)
            .map(|(quotient, _)| quotient)
    }

    /// The remainder, which has the sign of the divisor.
    ///
    /// # Errors
    /// Division by zero, or the budget is exhausted.
    pub(super) fn modulo(self, other: Integer, budget: &mut Budget) -> Computed<Integer> {
        self.divide_with_remainder(other, budget)
            .map(|(_, remainder)| remainder)
    }

    fn divide_with_remainder(
        self,
        other: Integer,
        budget: &mut Budget,
    ) -> Computed<(Integer, Integer)> {
        if other.is_zero() {
            return Err(EvaluationError::DivisionByZero(ZeroDivision::IntegerFloor));
        }
        match (self, other) {
            (Integer::Small(left), Integer::Small(right)) => {
                // In 128 bits, since the smallest integer has no positive counterpart.
                let (left, right) = (i128::from(left), i128::from(right));
                let (quotient, remainder) = (left / right, left % right);
                Ok(if remainder != 0 && (remainder < 0) != (right < 0) {
                    ((quotient - 1_i128).into(), (remainder + right).into())
                } else {
                    (quotient.into(), remainder.into())
                })
            }
            (left, right) => {
                let quotient_bits = left.bits().saturating_sub(right.bits());
                budget.spend(quotient_bits, right.bits())?;
                let (left, right) = (left.into_big(), right.into_big());
                let (quotient, remainder) = (&left / &right, &left % &right);
                let wrong_sign =
                    !remainder.is_zero() && remainder.is_negative() != right.is_negative();
                Ok(if wrong_sign {
                    ((quotient - 1_i128).into(), (remainder + right).into())
                } else {
                    (quotient.into(), remainder.into())
                })
            }
        }
    }

    /// The nearest float, ties to even.
    ///
    /// # Errors
    /// It is too large for a float.
    pub(super) fn to_float(&self) -> Computed<f64> {
        match self {
            Integer::Small(value) => Ok(*value as f64),
            Integer::Large(value) => float::from_magnitude(value.magnitude())
                .map(|magnitude| {
                    if value.is_negative() {
                        -magnitude
                    } else {
                        magnitude
                    }
                })
                .ok_or(EvaluationError::Overflow {
                    reason: "int too large to convert to float",
                }),
        }
    }

    /// The order of an integer and a float, exactly; `None` for nan.
    pub(super) fn compare_float(&self, other: f64) -> Option<Ordering> {
        if other.is_nan() {
            return None;
        }
        if other.is_infinite() {
            return 0.0.partial_cmp(&other);
        }
        let whole = other.floor();
        Some(
            self.cmp(&Integer::from_whole(whole))
                .then(if whole < other {
                    Ordering::Less
                } else {
                    Ordering::Equal
                }),
        )
    }

    /// Returns the integer if Python can print it.
    ///
    /// # Errors
    /// It has more than 4300 digits.
    pub(super) fn check_digits(self) -> Computed<Integer> {
        // 4300 digits are at most 14285 bits, and 14284 bits are at most 4300 digits.
        let too_long = match self.bits() {
            0..=14284 => false,
            14285 => self.clone().absolute().to_string().len() > MAXIMUM_DIGITS,
            _ => true,
        };
        if too_long {
            return Err(EvaluationError::invalid(format!(
                "the result exceeds the limit of {MAXIMUM_DIGITS} digits"
            )));
        }
        Ok(self)
    }
}

impl Neg for Integer {
    type Output = Integer;

    fn neg(self) -> Integer {
        match self {
            Integer::Small(value) => Integer::from(-i128::from(value)),
            Integer::Large(value) => Integer::from(-value),
        }
    }
}

impl Add for Integer {
    type Output = Integer;

    fn add(self, other: Integer) -> Integer {
        match (self, other) {
            (Integer::Small(left), Integer::Small(right)) => {
                Integer::from(i128::from(left) + i128::from(right))
            }
            (left, right) => Integer::from(left.into_big() + right.into_big()),
        }
    }
}

impl Sub for Integer {
    type Output = Integer;

    fn sub(self, other: Integer) -> Integer {
        self + -other
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Integer::Small(left), Integer::Small(right)) => left.cmp(right),
            (Integer::Large(left), Integer::Large(right)) => left.cmp(right),
            (Integer::Small(_), Integer::Large(right)) => {
                if right.is_negative() {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (Integer::Large(_), Integer::Small(_)) => other.cmp(self).reverse(),
        }
    }
}
