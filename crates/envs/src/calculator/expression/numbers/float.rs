//! Splits floats into integer mantissas and powers of two, and composes them again.

use num_bigint::BigUint;

/// The bits of a mantissa, including the implicit one.
const PRECISION: i32 = 53;
/// The exponent of the smallest positive float.
const LOWEST: i32 = -1074;

/// `mantissa * 2^exponent` of a non-negative finite float.
pub fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << (PRECISION - 1)) - 1);
    match ((bits >> (PRECISION - 1)) & 0x7ff) as i32 {
        0 => (fraction, LOWEST),
        exponent => (fraction | 1 << (PRECISION - 1), LOWEST + exponent - 1),
    }
}

/// The float nearest to `mantissa * 2^exponent`, ties to even. `inexact` means that the true value
/// is slightly larger; the mantissa then has at least 64 bits. It has at most 127 bits in any
/// case. `None` if the result is too large.
pub fn compose(mantissa: u128, exponent: i32, inexact: bool) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let length = 128 - mantissa.leading_zeros() as i32;
    // The exponent of the last bit that is kept.
    let last = (exponent + length - PRECISION).max(LOWEST);
    let dropped = last - exponent;
    let kept = match dropped {
        // Shifting left: an exact value of few bits.
        ..=0 => mantissa.checked_shl(dropped.unsigned_abs())?,
        1..=127 => {
            let kept = mantissa >> dropped;
            let rest = mantissa & ((1 << dropped) - 1);
            let half = 1 << (dropped - 1);
            let up = rest > half || rest == half && (inexact || kept & 1 == 1);
            kept + u128::from(up)
        }
        _ => 0,
    };
    // Rounding up may carry into the next exponent, and the encoding carries with it.
    let kept = kept as u64;
    let hidden = 1 << (PRECISION - 1);
    if kept < hidden {
        return Some(f64::from_bits(kept));
    }
    let biased = (last - LOWEST + 1) as u64;
    let bits = (biased << (PRECISION - 1)) + (kept - hidden);
    Some(f64::from_bits(bits)).filter(|value| value.is_finite() && biased < 0x7ff)
}

/// The float nearest to an integer, ties to even. `None` if it is too large.
pub fn from_magnitude(value: &BigUint) -> Option<f64> {
    let (top, dropped, inexact) = leading_bits(value);
    compose(top.into(), i32::try_from(dropped).ok()?, inexact)
}

/// The first 64 bits of an integer, the number of following bits, and whether any of these is set.
pub fn leading_bits(value: &BigUint) -> (u64, u64, bool) {
    let dropped = value.bits().saturating_sub(64);
    let top = (value >> dropped)
        .iter_u64_digits()
        .next()
        .unwrap_or_default();
    let inexact = value.trailing_zeros().is_some_and(|zeros| zeros < dropped);
    (top, dropped, inexact)
}

/// The upper 128 bits of the product of two numbers of 128 bits.
pub fn high_product(left: u128, right: u128) -> u128 {
    let (left_high, left_low) = (left >> 64, left & u128::from(u64::MAX));
    let (right_high, right_low) = (right >> 64, right & u128::from(u64::MAX));
    let low = left_low * right_low;
    let middle = left_high * right_low + (low >> 64);
    let other = left_low * right_high + (middle & u128::from(u64::MAX));
    left_high * right_high + (middle >> 64) + (other >> 64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn composes_at_the_edges() {
        assert_eq!(compose(1, -1074, false), Some(5e-324));
        assert_eq!(compose(1, -1075, false), Some(0.0));
        assert_eq!(compose(3, -1076, false), Some(5e-324));
        assert_eq!(compose(1 << 64, -1075 - 64, true), Some(5e-324));
        assert_eq!(compose((1 << 53) - 1, 971, false), Some(f64::MAX));
        assert_eq!(compose((1 << 54) - 1, 970, false), None);
        assert_eq!(compose(1, 1024, false), None);
        assert_eq!(compose(1, 100_000, false), None);
        assert_eq!(compose(1, -100_000, false), Some(0.0));
    }

    proptest! {
        #[test]
        fn composes_what_it_takes_apart(bits in 0..f64::INFINITY.to_bits()) {
            let value = f64::from_bits(bits);
            let (mantissa, exponent) = parts(value);
            prop_assert_eq!(compose(mantissa.into(), exponent, false), Some(value));
        }

        #[test]
        fn rounds_whole_numbers_as_conversions_do(value in 0..u128::MAX >> 1) {
            prop_assert_eq!(compose(value, 0, false), Some(value as f64));
            prop_assert_eq!(from_magnitude(&value.into()), Some(value as f64));
        }
    }
}
