//! Floating-point arithmetic that is the same on every platform.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use crate::lanes::Lanes;

/// A floating-point number. The network computes with `f32`; its tests also with `f64`, in which finite differences are
/// exact enough.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Several of them, which are computed together.
    type Lanes: Lanes<Self>;

    const ZERO: Self;
    const ONE: Self;

    /// The nearest number.
    fn of(number: f64) -> Self;

    fn to_f64(self) -> f64;

    /// The exponential. The argument is limited to what has a finite and normal result; NaN stays NaN.
    fn exp(self) -> Self;

    /// The natural logarithm of a positive normal number.
    fn ln(self) -> Self;

    fn sqrt(self) -> Self;

    fn is_finite(self) -> bool;
}

/// The constants of the exponential.
pub mod exponential {
    pub const LOW: f32 = -87.0;
    pub const HIGH: f32 = 88.0;
    /// Adding this number rounds to an integer, which is then in the low bits.
    pub const ROUND: f32 = 12_582_912.0;
    pub const LN2_HIGH: f32 = 0.693_359_4;
    pub const LN2_LOW: f32 = -2.121_944_4e-4;
    /// The factors of the polynomial, that of the highest power first.
    pub const SERIES: [f32; 6] = [
        1.987_569_1e-4,
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
    ];
}

impl Real for f32 {
    #[cfg(target_arch = "wasm32")]
    type Lanes = crate::lanes::Vectors;
    #[cfg(not(target_arch = "wasm32"))]
    type Lanes = wide::f32x8;

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn of(number: f64) -> Self {
        number as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    /// As in Cephes' `expf`: the argument is reduced by a multiple of ln 2, then a polynomial. There is no branch, so loops
    /// over it are vectorised.
    #[inline(always)]
    fn exp(self) -> Self {
        use exponential::{HIGH, LN2_HIGH, LN2_LOW, LOW, ROUND, SERIES};
        // Not `clamp` and `max`, which treat NaN otherwise.
        let x = if self < LOW { LOW } else { self };
        let x = if x > HIGH { HIGH } else { x };
        let rounded = x * std::f32::consts::LOG2_E + ROUND;
        let n = rounded - ROUND;
        let r = x - n * LN2_HIGH - n * LN2_LOW;
        let mut y = SERIES[0];
        for factor in &SERIES[1..] {
            y = y * r + *factor;
        }
        y = y * (r * r) + r + 1.0;
        let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
        y * power
    }

    /// From the exponent and a series of the mantissa, in 64 bits.
    #[inline]
    fn ln(self) -> Self {
        let bits = self.to_bits();
        let mut exponent = f64::from((bits >> 23) as i32 - 127);
        let mut mantissa = f64::from(f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000));
        if mantissa > std::f64::consts::SQRT_2 {
            mantissa *= 0.5;
            exponent += 1.0;
        }
        let s = (mantissa - 1.0) / (mantissa + 1.0);
        let z = s * s;
        let mut series = 1.0 / 13.0;
        for odd in [11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
            series = series * z + 1.0 / odd;
        }
        let result = (exponent * std::f64::consts::LN_2 + 2.0 * s * series) as f32;
        if self > 0.0 { result } else { f32::NAN }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // IEEE 754 defines the result.
        f32::sqrt(self)
    }

    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
}

#[cfg(test)]
impl Real for f64 {
    type Lanes = [f64; crate::lanes::LANES];

    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn of(number: f64) -> Self {
        number
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn exp(self) -> Self {
        f64::exp(self)
    }

    fn ln(self) -> Self {
        f64::ln(self)
    }

    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn the_exponential_is_exact_to_two_units_in_the_last_place() {
        for step in -8600..=8700_i16 {
            let x = f32::from(step) * 0.01;
            let exact = f64::from(x).exp();
            let error = (f64::from(Real::exp(x)) - exact).abs() / exact;
            assert!(error < 2.5e-7, "exp({x}): {error}");
        }
        assert_eq!(Real::exp(0.0_f32), 1.0);
        assert!(Real::exp(-1000.0_f32) < 1e-37);
        assert!(Real::exp(1000.0_f32).is_finite());
        assert!(Real::exp(f32::NAN).is_nan());
    }

    #[test]
    fn the_logarithm_is_exact_to_a_unit_in_the_last_place() {
        let mut x = 1e-30_f32;
        while x < 1e30 {
            let exact = f64::from(x).ln();
            let error = (f64::from(Real::ln(x)) - exact).abs();
            assert!(error <= 6.1e-8 * exact.abs() + 1e-9, "ln({x}): {error}");
            x *= 1.07;
        }
        assert_eq!(Real::ln(1.0_f32), 0.0);
        assert!(Real::ln(f32::NAN).is_nan());
        assert!(Real::ln(-1.0_f32).is_nan());
    }

    /// The bits were computed once and must not change: links promise the same curve on every platform.
    #[test]
    fn the_bits_stay() {
        let exponentials = [-20.0_f32, -3.7, -0.1, 0.3, 1.0, 9.9].map(|x| Real::exp(x).to_bits());
        let logarithms = [0.01_f32, 0.7, 1.5, 3.0, 22.0].map(|x| Real::ln(x).to_bits());
        assert_eq!(
            (exponentials, logarithms),
            (
                [
                    822_977_587,
                    1_019_906_302,
                    1_063_756_653,
                    1_068_288_044,
                    1_076_754_516,
                    1_184_609_466
                ],
                [
                    3_230_883_214,
                    3_199_639_066,
                    1_053_792_543,
                    1_066_180_436,
                    1_078_317_988
                ]
            )
        );
    }
}
