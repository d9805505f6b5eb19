//! `x ** y` of positive finite floats, correctly rounded.
//!
//! The platform's own function differs between machines, and between native code and WebAssembly;
//! this one returns the float nearest to the true power everywhere. It computes
//! `2^(y * log2 x)` with integers of 128 bits, of which at least 100 are correct: to be
//! rounded wrongly, the true power would have to be closer to the midpoint of two floats than 2^-45 of their
//! distance. Powers that are *exactly* midpoints are integer powers of short
//! mantissas, and these are computed exactly before.

use super::float::{self, high_product};

/// `base ** exponent` for a base that is positive and finite and a finite exponent other than
/// zero. `None` if it is too large for a float.
pub fn power(base: f64, exponent: f64) -> Option<f64> {
    if exponent == 1.0 {
        return Some(base);
    }
    if exponent == -1.0 {
        return Some(1.0 / base).filter(|power| power.is_finite());
    }
    if exponent == 0.5 {
        return Some(base.sqrt());
    }
    if let Some(rounded) = exact_power(base, exponent) {
        return rounded;
    }
    general_power(base, exponent)
}

/// The exact power in integer arithmetic, if it has few enough bits; the outer `None` if not.
fn exact_power(base: f64, exponent: f64) -> Option<Option<f64>> {
    let (mut mantissa, mut scale) = odd_parts(base);
    let mut exponent = exponent;
    // A fractional exponent has an exact power only if the base is a square, or a square of a
    // square, and so on.
    while exponent != exponent.trunc() {
        let root = mantissa.isqrt();
        if root * root != mantissa || scale % 2 != 0 {
            return None;
        }
        (mantissa, scale, exponent) = (root, scale / 2, exponent * 2.0);
    }
    if mantissa == 1 {
        // A power of two: only its exponent is multiplied.
        let scale = (f64::from(scale) * exponent).clamp(-4000.0, 4000.0);
        return Some(float::compose(1, scale as i32, false));
    }
    let bits = 64 - mantissa.leading_zeros();
    if !(1.0..=64.0).contains(&exponent) || exponent as u32 * bits > 126 {
        return None;
    }
    let exponent = exponent as u32;
    Some(float::compose(
        u128::from(mantissa).pow(exponent),
        scale * exponent as i32,
        false,
    ))
}

/// A float as an odd integer times a power of two.
fn odd_parts(value: f64) -> (u64, i32) {
    let (mantissa, exponent) = float::parts(value);
    let zeros = mantissa.trailing_zeros();
    (mantissa >> zeros, exponent + zeros as i32)
}

/// A number `mantissa * 2^exponent` with a separate sign. The mantissa is normalized (its highest bit is set),
/// unless it is zero.
#[derive(Clone, Copy, Debug)]
struct Wide {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

impl Wide {
    fn new(negative: bool, mantissa: u128, exponent: i32) -> Wide {
        let zeros = mantissa.leading_zeros().min(127);
        Wide {
            negative,
            mantissa: mantissa << zeros,
            exponent: exponent - zeros as i32,
        }
    }

    fn multiply(self, other: Wide) -> Wide {
        Wide::new(
            self.negative != other.negative,
            high_product(self.mantissa, other.mantissa),
            self.exponent + other.exponent + 128,
        )
    }

    /// As a multiple of 2^-116; its magnitude is below 2^11.
    fn to_fixed(self) -> i128 {
        let shift = -FRACTION - self.exponent;
        let magnitude = self
            .mantissa
            .checked_shr(shift.max(1) as u32)
            .unwrap_or_default() as i128;
        if self.negative { -magnitude } else { magnitude }
    }
}

/// The number of fractional bits of a logarithm beyond ±½, and of `y * log2 x`.
const FRACTION: i32 = 116;

/// ln 2, times 2^128.
const LN_2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af;

/// 2 / ln 2, times 2^126.
const TWO_OVER_LN_2: u128 = 0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e88;

fn general_power(base: f64, exponent: f64) -> Option<f64> {
    let (mantissa, scale) = float::parts(exponent.abs());
    let exponent = Wide::new(exponent < 0.0, u128::from(mantissa), scale);
    let product = exponent.multiply(binary_logarithm(base));
    // The magnitude is at least 2^(exponent + 127).
    if product.exponent + 127 >= 11 {
        return if product.negative { Some(0.0) } else { None };
    }
    let fixed = product.to_fixed();
    let whole = fixed >> FRACTION;
    let mantissa = binary_exponential((fixed - (whole << FRACTION)).unsigned_abs());
    float::compose(mantissa, whole as i32 - 126, true)
}

/// log2 of a positive float.
///
/// With the mantissa `m` between √½ and √2, log2 m = 2/ln 2 * artanh((m - 1) / (m + 1)), the series
/// of which converges quickly.
fn binary_logarithm(value: f64) -> Wide {
    let (mantissa, mut scale) = float::parts(value);
    let zeros = mantissa.leading_zeros();
    let mantissa = mantissa << zeros;
    scale += 63 - zeros as i32;
    // Now value = mantissa * 2^(scale - 63), with a mantissa of at least 2^63.
    let one: u128 = if mantissa > 0xb504_f333_f9de_6484 {
        scale += 1;
        1 << 64
    } else {
        1 << 63
    };
    let mantissa = u128::from(mantissa);
    let logarithm = if mantissa == one {
        Wide::new(false, 0, -128)
    } else {
        let ratio = quotient(mantissa.abs_diff(one), mantissa + one);
        let ratio = Wide {
            negative: mantissa < one,
            ..ratio
        };
        let square = ratio.multiply(ratio);
        // At most 2^-5, so this loses nothing.
        let square = square
            .mantissa
            .checked_shr((-128 - square.exponent) as u32)
            .unwrap_or_default();
        let series = Wide::new(false, artanh_series(square), -127);
        ratio
            .multiply(series)
            .multiply(Wide::new(false, TWO_OVER_LN_2, -126))
    };
    add_whole(logarithm, scale)
}

/// `numerator / denominator` to 127 bits or more; both below 2^66.
fn quotient(numerator: u128, denominator: u128) -> Wide {
    let zeros = numerator.leading_zeros();
    let numerator = numerator << zeros;
    // Long division, 62 bits at a time: remainders stay below 2^66.
    let mut result = numerator / denominator;
    let mut rest = numerator % denominator;
    let mut exponent = -(zeros as i32);
    while result.leading_zeros() > 0 {
        let step = result.leading_zeros().min(62);
        rest <<= step;
        result = (result << step) + rest / denominator;
        rest %= denominator;
        exponent -= step as i32;
    }
    Wide::new(false, result, exponent)
}

/// 1, 1/3, 1/5, …, times 2^127.
const ODD_RECIPROCALS: [u128; 26] = {
    let mut reciprocals = [0; 26];
    let mut index = 0;
    while index < reciprocals.len() {
        reciprocals[index] = (1 << 127) / (2 * index as u128 + 1);
        index += 1;
    }
    reciprocals
};

/// 1 + s/3 + s²/5 + s³/7 + …, times 2^127, for `square` = s * 2^128 with s below 0.03.
fn artanh_series(square: u128) -> u128 {
    ODD_RECIPROCALS.iter().rev().fold(0, |sum, coefficient| {
        high_product(sum, square) + coefficient
    })
}

/// A logarithm of a mantissa plus an integer.
fn add_whole(logarithm: Wide, whole: i32) -> Wide {
    if whole == 0 {
        return logarithm;
    }
    let shift = (-FRACTION - logarithm.exponent) as u32;
    let fraction = logarithm.mantissa.checked_shr(shift).unwrap_or_default() as i128;
    let fraction = if logarithm.negative {
        -fraction
    } else {
        fraction
    };
    let sum = (i128::from(whole) << FRACTION) + fraction;
    Wide::new(sum < 0, sum.unsigned_abs(), -FRACTION)
}

/// 1/0!, 1/1!, 1/2!, …, times 2^126.
const RECIPROCAL_FACTORIALS: [u128; 34] = {
    let mut reciprocals = [1 << 126; 34];
    let mut index = 1;
    while index < reciprocals.len() {
        reciprocals[index] = reciprocals[index - 1] / index as u128;
        index += 1;
    }
    reciprocals
};

/// 2^rest times 2^126, for `rest` in multiples of 2^-116 from 0 to 1: the series of e^(rest * ln 2).
fn binary_exponential(rest: u128) -> u128 {
    let power = high_product(rest << (128 - FRACTION), LN_2);
    RECIPROCAL_FACTORIALS
        .iter()
        .rev()
        .fold(0, |sum, coefficient| high_product(sum, power) + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_the_nearest() {
        // Computed with 60 digits; for the second, the C library is off by one unit.
        for (base, exponent, nearest) in [
            (1.07, 10.0, 1.967_151_357_289_566_5),
            (3001.4, -3.0, 3.698_523_354_263_264e-11),
            (2.0, 0.3, 1.231_144_413_344_916_3),
            (10.0, -3.0, 0.001),
            (9.0, 1.5, 27.0),
            (1e-200, 1.6, 1e-320),
            (1.000_000_000_1, 1e10, 2.718_282_053_234_787_6),
        ] {
            assert_eq!(power(base, exponent), Some(nearest), "{base} ** {exponent}");
        }
    }

    #[test]
    fn exact_middles_go_to_the_even_float() {
        // The squares of odd numbers of 28 bits have 55 or 56 bits, just beyond exact floats.
        for base in (134_217_729..134_217_929_u64).step_by(2) {
            let square = (base * base) as f64;
            assert_eq!(power(base as f64, 2.0), Some(square), "{base}");
        }
        // 3^34 has 54 bits.
        let middle = Some(3_u64.pow(34) as f64);
        assert_eq!(power(3.0, 34.0), middle);
        assert_eq!(power(9.0, 17.0), middle);
        assert_eq!(power(81.0, 8.5), middle);
        assert_eq!(power(0.5, 1074.0), Some(5e-324));
        assert_eq!(power(0.5, 1075.0), Some(0.0));
    }

    #[test]
    fn knows_its_limits() {
        assert_eq!(power(2.0, 1023.0), Some(2.0_f64.powi(1023)));
        assert_eq!(power(2.0, 1024.0), None);
        assert_eq!(power(1.1, 1e300), None);
        assert_eq!(power(1.1, -1e300), Some(0.0));
        assert_eq!(power(5e-324, -1.0), None);
        assert_eq!(power(f64::MAX, 1.0), Some(f64::MAX));
        assert_eq!(power(f64::MAX, 1.000_1), None);
    }
}
