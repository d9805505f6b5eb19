//! The innermost loops of products: a tile of the result, a few rows by [`LANES`] columns.
//!
//! For WebAssembly they are written with its 128-bit vectors. The page is compiled for size, and then the compiler does not
//! form vectors by itself, which costs a factor of five.
//!
//! Invariant: each element is the sum of its products in ascending order, with vectors and without them, so that the bits
//! are the same.

use crate::matrix::{LANES, Matrix, ROWS};
use crate::real::Real;

/// Numbers with loops for tiles.
pub trait Tiles: Real {
    /// The product of `N` rows of at least `depth` numbers with `depth` rows of [`LANES`] columns.
    #[inline(always)]
    fn tile<const N: usize>(
        a: [&[Self]; N],
        b: Matrix<'_, Self>,
        depth: usize,
    ) -> [[Self; LANES]; N] {
        let mut sums = [[Self::ZERO; LANES]; N];
        let a = a.map(|row| &row[..depth]);
        for k in 0..depth {
            let Some(right) = b.data[k * b.stride..].first_chunk::<LANES>() else {
                break;
            };
            for (sums, row) in sums.iter_mut().zip(a) {
                let factor = row[k];
                for (sum, value) in sums.iter_mut().zip(right) {
                    *sum += factor * *value;
                }
            }
        }
        sums
    }

    /// The product of the transpose of `depth` rows of [`ROWS`] columns with `depth` rows of [`LANES`] columns.
    #[inline(always)]
    fn tile_transposed(
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        depth: usize,
    ) -> [[Self; LANES]; ROWS] {
        let mut sums = [[Self::ZERO; LANES]; ROWS];
        for k in 0..depth {
            let left = a.data[k * a.stride..].first_chunk::<ROWS>();
            let right = b.data[k * b.stride..].first_chunk::<LANES>();
            let (Some(left), Some(right)) = (left, right) else {
                break;
            };
            for (sums, factor) in sums.iter_mut().zip(left) {
                for (sum, value) in sums.iter_mut().zip(right) {
                    *sum += *factor * *value;
                }
            }
        }
        sums
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Tiles for f32 {}

#[cfg(test)]
impl Tiles for f64 {}

#[cfg(target_arch = "wasm32")]
impl Tiles for f32 {
    #[inline(always)]
    fn tile<const N: usize>(a: [&[f32]; N], b: Matrix<'_, f32>, depth: usize) -> [[f32; LANES]; N] {
        vectors::tile(a, b, depth)
    }

    #[inline(always)]
    fn tile_transposed(
        a: Matrix<'_, f32>,
        b: Matrix<'_, f32>,
        depth: usize,
    ) -> [[f32; LANES]; ROWS] {
        vectors::tile_transposed(a, b, depth)
    }
}

/// The same with two vectors for the columns. Engines check a file's instructions when they compile it, so these functions
/// are safe to call.
#[cfg(target_arch = "wasm32")]
mod vectors {
    use std::arch::wasm32::{
        f32x4, f32x4_add, f32x4_extract_lane as lane, f32x4_mul, f32x4_splat, v128,
    };

    use crate::matrix::{LANES, Matrix, ROWS};

    type Vectors = [v128; 2];

    #[target_feature(enable = "simd128")]
    pub(super) fn tile<const N: usize>(
        a: [&[f32]; N],
        b: Matrix<'_, f32>,
        depth: usize,
    ) -> [[f32; LANES]; N] {
        let mut sums = [[f32x4_splat(0.0); 2]; N];
        let a = a.map(|row| &row[..depth]);
        for k in 0..depth {
            let Some(right) = b.data[k * b.stride..].first_chunk() else {
                break;
            };
            let right = loaded(right);
            for (sums, row) in sums.iter_mut().zip(a) {
                add_products(sums, row[k], right);
            }
        }
        sums.map(|sums| stored(sums))
    }

    #[target_feature(enable = "simd128")]
    pub(super) fn tile_transposed(
        a: Matrix<'_, f32>,
        b: Matrix<'_, f32>,
        depth: usize,
    ) -> [[f32; LANES]; ROWS] {
        let mut sums = [[f32x4_splat(0.0); 2]; ROWS];
        for k in 0..depth {
            let left = a.data[k * a.stride..].first_chunk::<ROWS>();
            let right = b.data[k * b.stride..].first_chunk();
            let (Some(left), Some(right)) = (left, right) else {
                break;
            };
            let right = loaded(right);
            for (sums, factor) in sums.iter_mut().zip(left) {
                add_products(sums, *factor, right);
            }
        }
        sums.map(|sums| stored(sums))
    }

    #[inline]
    #[target_feature(enable = "simd128")]
    fn add_products(sums: &mut Vectors, factor: f32, values: Vectors) {
        let factor = f32x4_splat(factor);
        for (sum, value) in sums.iter_mut().zip(values) {
            // Not `relaxed_madd`, whose bits differ between machines.
            *sum = f32x4_add(*sum, f32x4_mul(factor, value));
        }
    }

    #[inline]
    #[target_feature(enable = "simd128")]
    fn loaded(v: &[f32; LANES]) -> Vectors {
        [f32x4(v[0], v[1], v[2], v[3]), f32x4(v[4], v[5], v[6], v[7])]
    }

    #[inline]
    #[target_feature(enable = "simd128")]
    fn stored([low, high]: Vectors) -> [f32; LANES] {
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
}
