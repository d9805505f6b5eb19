//! Rows of numbers, computed eight at a time.
//!
//! The page and the packaged command are compiled for size, and then the compiler does not form vectors by itself. So the
//! eight are vectors here: for WebAssembly two of its 128 bits, elsewhere those of `wide`.
//!
//! For WebAssembly, functions that use lanes need the attribute `target_feature(enable = "simd128")`, or nothing is inlined
//! into them. Engines check a file's instructions when they compile it, so such functions are safe to call.
//!
//! Invariant: each element is computed as it would be alone, so that the bits do not depend on the platform.

use crate::real::Real;

/// How many numbers are computed together.
pub const LANES: usize = 8;

/// [`LANES`] numbers.
pub trait Lanes<R>: Copy {
    fn splat(value: R) -> Self;
    fn load(values: &[R; LANES]) -> Self;
    fn store(self) -> [R; LANES];
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Each element of `other` where it is larger, else that of `self`. So NaN in `other` is ignored.
    fn highest(self, other: Self) -> Self;
    /// Each element of `self` where that of `by` is larger than 0, else 0.
    fn where_positive(self, by: Self) -> Self;
    /// As [`Real::exp`].
    fn exp(self) -> Self;
}

/// For the tests with `f64`.
#[cfg(test)]
impl<R: Real> Lanes<R> for [R; LANES] {
    #[inline(always)]
    fn splat(value: R) -> Self {
        [value; LANES]
    }

    #[inline(always)]
    fn load(values: &[R; LANES]) -> Self {
        *values
    }

    #[inline(always)]
    fn store(self) -> [R; LANES] {
        self
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] + other[i])
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] - other[i])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] * other[i])
    }

    #[inline(always)]
    fn highest(self, other: Self) -> Self {
        std::array::from_fn(|i| {
            if other[i] > self[i] {
                other[i]
            } else {
                self[i]
            }
        })
    }

    #[inline(always)]
    fn where_positive(self, by: Self) -> Self {
        std::array::from_fn(|i| if by[i] > R::ZERO { self[i] } else { R::ZERO })
    }

    #[inline(always)]
    fn exp(self) -> Self {
        self.map(Real::exp)
    }
}

/// Replaces the elements of a row by a function of them.
#[inline(always)]
pub fn each<R: Real>(row: &mut [R], function: impl Fn(R::Lanes) -> R::Lanes) {
    let (chunks, rest) = row.as_chunks_mut::<LANES>();
    for chunk in chunks {
        *chunk = function(R::Lanes::load(chunk)).store();
    }
    if !rest.is_empty() {
        store_part(function(load_part(rest)), rest);
    }
}

/// Replaces the elements of a row by a function of them and of the elements of another one.
#[inline(always)]
pub fn each_with<R: Real>(
    row: &mut [R],
    other: &[R],
    function: impl Fn(R::Lanes, R::Lanes) -> R::Lanes,
) {
    let length = row.len().min(other.len());
    let (chunks, rest) = row[..length].as_chunks_mut::<LANES>();
    let (others, other_rest) = other[..length].as_chunks::<LANES>();
    for (chunk, other) in chunks.iter_mut().zip(others) {
        *chunk = function(R::Lanes::load(chunk), R::Lanes::load(other)).store();
    }
    if !rest.is_empty() {
        store_part(function(load_part(rest), load_part(other_rest)), rest);
    }
}

/// The same with two other rows.
#[inline(always)]
pub fn each_with_both<R: Real>(
    row: &mut [R],
    (one, other): (&[R], &[R]),
    function: impl Fn(R::Lanes, R::Lanes, R::Lanes) -> R::Lanes,
) {
    let length = row.len().min(one.len()).min(other.len());
    let (chunks, rest) = row[..length].as_chunks_mut::<LANES>();
    let (ones, one_rest) = one[..length].as_chunks::<LANES>();
    let (others, other_rest) = other[..length].as_chunks::<LANES>();
    for ((chunk, one), other) in chunks.iter_mut().zip(ones).zip(others) {
        let (one, other) = (R::Lanes::load(one), R::Lanes::load(other));
        *chunk = function(R::Lanes::load(chunk), one, other).store();
    }
    if !rest.is_empty() {
        let lanes = function(load_part(rest), load_part(one_rest), load_part(other_rest));
        store_part(lanes, rest);
    }
}

/// The highest element, or the first one if that is NaN. 0 if there is none.
#[inline(always)]
pub fn highest<R: Real>(row: &[R]) -> R {
    let first = row.first().copied().unwrap_or_default();
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = R::Lanes::splat(first);
    for chunk in chunks {
        lanes = lanes.highest(R::Lanes::load(chunk));
    }
    let mut highest = first;
    for value in lanes.store().iter().chain(rest) {
        if *value > highest {
            highest = *value;
        }
    }
    highest
}

/// The scalar product, in eight partial sums that are then added in order.
#[inline(always)]
pub fn dot<R: Real>(one: &[R], other: &[R]) -> R {
    let (one, rest) = one.as_chunks::<LANES>();
    let (other, other_rest) = other.as_chunks::<LANES>();
    let mut sums = R::Lanes::splat(R::ZERO);
    for (one, other) in one.iter().zip(other) {
        sums = sums.add(R::Lanes::load(one).mul(R::Lanes::load(other)));
    }
    let mut total = R::ZERO;
    for sum in sums.store() {
        total += sum;
    }
    for (one, other) in rest.iter().zip(other_rest) {
        total += *one * *other;
    }
    total
}

/// The lanes of fewer elements; the others are 0.
#[inline(always)]
fn load_part<R: Real>(part: &[R]) -> R::Lanes {
    let mut values = [R::ZERO; LANES];
    for (value, element) in values.iter_mut().zip(part) {
        *value = *element;
    }
    R::Lanes::load(&values)
}

#[inline(always)]
fn store_part<R: Real>(lanes: R::Lanes, part: &mut [R]) {
    for (element, value) in part.iter_mut().zip(lanes.store()) {
        *element = value;
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use wide::{f32x8, u32x8};

    use super::{LANES, Lanes};
    use crate::real::exponential::{HIGH, LN2_HIGH, LN2_LOW, LOW, ROUND, SERIES};

    impl Lanes<f32> for f32x8 {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            f32x8::splat(value)
        }

        #[inline(always)]
        fn load(values: &[f32; LANES]) -> Self {
            f32x8::new(*values)
        }

        #[inline(always)]
        fn store(self) -> [f32; LANES] {
            self.to_array()
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self + other
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            self - other
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            self * other
        }

        #[inline(always)]
        fn highest(self, other: Self) -> Self {
            other.simd_gt(self).bitselect(other, self)
        }

        #[inline(always)]
        fn where_positive(self, by: Self) -> Self {
            self & by.simd_gt(f32x8::ZERO)
        }

        /// The steps of [`Real::exp`](crate::Real::exp) in the same order, not those of `wide`.
        #[inline(always)]
        fn exp(self) -> Self {
            let all = f32x8::splat;
            let x = self.highest(all(LOW));
            let x = x.simd_gt(all(HIGH)).bitselect(all(HIGH), x);
            let rounded = x * all(std::f32::consts::LOG2_E) + all(ROUND);
            let n = rounded - all(ROUND);
            let r = x - n * all(LN2_HIGH) - n * all(LN2_LOW);
            let mut y = all(SERIES[0]);
            for factor in &SERIES[1..] {
                y = y * r + all(*factor);
            }
            let y = y * (r * r) + r + all(1.0);
            let bits: u32x8 = bytemuck::cast(rounded);
            let power: f32x8 = bytemuck::cast((bits + u32x8::splat(127)) << 23_u32);
            y * power
        }
    }
}

#[cfg(target_arch = "wasm32")]
pub use vectors::Vectors;

#[cfg(target_arch = "wasm32")]
mod vectors {
    use std::arch::wasm32::{
        f32x4, f32x4_add, f32x4_extract_lane as lane, f32x4_gt, f32x4_mul, f32x4_pmax, f32x4_pmin,
        f32x4_splat, f32x4_sub, i32x4_add, i32x4_shl, i32x4_splat, v128, v128_and,
    };

    use super::{LANES, Lanes};
    use crate::real::exponential::{HIGH, LN2_HIGH, LN2_LOW, LOW, ROUND, SERIES};

    /// Two vectors of four numbers.
    #[derive(Clone, Copy)]
    pub struct Vectors(v128, v128);

    impl Lanes<f32> for Vectors {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            Vectors(f32x4_splat(value), f32x4_splat(value))
        }

        #[inline(always)]
        fn load(v: &[f32; LANES]) -> Self {
            Vectors(f32x4(v[0], v[1], v[2], v[3]), f32x4(v[4], v[5], v[6], v[7]))
        }

        #[inline(always)]
        fn store(self) -> [f32; LANES] {
            let Vectors(low, high) = self;
            [
                lane::<0>(low),
                lane::<1>(low),
                lane::<2>(low),
                lane::<3>(low),
                lane::<0>(high),
                lane::<1>(high),
                lane::<2>(high),
                lane::<3>(high),
            ]
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Vectors(f32x4_add(self.0, other.0), f32x4_add(self.1, other.1))
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Vectors(f32x4_sub(self.0, other.0), f32x4_sub(self.1, other.1))
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // Not `relaxed_madd`, whose bits differ between machines.
            Vectors(f32x4_mul(self.0, other.0), f32x4_mul(self.1, other.1))
        }

        #[inline(always)]
        fn highest(self, other: Self) -> Self {
            Vectors(f32x4_pmax(self.0, other.0), f32x4_pmax(self.1, other.1))
        }

        #[inline(always)]
        fn where_positive(self, by: Self) -> Self {
            let zero = f32x4_splat(0.0);
            Vectors(
                v128_and(self.0, f32x4_gt(by.0, zero)),
                v128_and(self.1, f32x4_gt(by.1, zero)),
            )
        }

        #[inline(always)]
        fn exp(self) -> Self {
            Vectors(exp(self.0), exp(self.1))
        }
    }

    /// The steps of [`Real::exp`](crate::Real::exp) in the same order.
    #[inline]
    #[target_feature(enable = "simd128")]
    fn exp(x: v128) -> v128 {
        let all = f32x4_splat;
        let (add, sub, mul) = (f32x4_add, f32x4_sub, f32x4_mul);
        let x = f32x4_pmin(f32x4_pmax(x, all(LOW)), all(HIGH));
        let rounded = add(mul(x, all(std::f32::consts::LOG2_E)), all(ROUND));
        let n = sub(rounded, all(ROUND));
        let r = sub(sub(x, mul(n, all(LN2_HIGH))), mul(n, all(LN2_LOW)));
        let mut y = all(SERIES[0]);
        for factor in &SERIES[1..] {
            y = add(mul(y, r), all(*factor));
        }
        let y = add(add(mul(y, mul(r, r)), r), all(1.0));
        let power = i32x4_shl(i32x4_add(rounded, i32x4_splat(127)), 23);
        mul(y, power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all sizes, with both zeros, infinities and NaN.
    fn numbers() -> Vec<f32> {
        let mut numbers: Vec<f32> = (-9000..9000_i16).map(|i| f32::from(i) * 0.0107).collect();
        numbers.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40]);
        numbers
    }

    fn bits(numbers: &[f32]) -> Vec<u32> {
        let canonical = |number: &f32| if number.is_nan() { f32::NAN } else { *number };
        numbers
            .iter()
            .map(|number| canonical(number).to_bits())
            .collect()
    }

    #[test]
    fn lanes_have_the_bits_of_single_numbers() {
        let (numbers, mut others) = (numbers(), numbers());
        others.reverse();
        let single = |function: fn(f32, f32) -> f32| -> Vec<f32> {
            let pairs = numbers.iter().zip(&others);
            pairs.map(|(one, other)| function(*one, *other)).collect()
        };
        type Many = <f32 as Real>::Lanes;
        let many = |function: fn(Many, Many) -> Many| {
            let mut row = numbers.clone();
            each_with(&mut row, &others, function);
            row
        };
        let highest = |one, other| if other > one { other } else { one };
        assert_eq!(
            bits(&many(Lanes::add)),
            bits(&single(|one, other| one + other))
        );
        assert_eq!(
            bits(&many(Lanes::sub)),
            bits(&single(|one, other| one - other))
        );
        assert_eq!(
            bits(&many(Lanes::mul)),
            bits(&single(|one, other| one * other))
        );
        assert_eq!(bits(&many(Lanes::highest)), bits(&single(highest)));
        assert_eq!(
            bits(&many(Lanes::where_positive)),
            bits(&single(|one, other| if other > 0.0 { one } else { 0.0 }))
        );
        assert_eq!(
            bits(&many(|one, _| Lanes::exp(one))),
            bits(&single(|one, _| Real::exp(one)))
        );
    }

    #[test]
    fn rows_of_any_length_are_computed_to_their_end() {
        for length in 0..20 {
            let ones = vec![2.0_f32; length];
            let mut row = vec![1.0_f32; length + 3];
            each_with_both(&mut row, (&ones, &ones), |row, one, other| {
                row.add(one.mul(other))
            });
            let expected = [vec![5.0; length], vec![1.0; 3]].concat();
            assert_eq!(row, expected);
            assert_eq!(dot(&ones, &ones), 4.0 * length as f32);
            row[length] = 9.0;
            assert_eq!(highest(&row), 9.0);
        }
        assert_eq!(highest::<f32>(&[]), 0.0);
    }
}
