//! The innermost loops of products: a tile of the result, a few rows by [`LANES`] columns.
//!
//! Invariant: each element is the sum of its products in ascending order.

use crate::lanes::{LANES, Lanes};
use crate::matrix::{Matrix, ROWS};
use crate::real::Real;

/// The product of `N` rows of at least `depth` numbers with `depth` rows of [`LANES`] columns.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn tile<R: Real, const N: usize>(
    a: [&[R]; N],
    b: Matrix<'_, R>,
    depth: usize,
) -> [[R; LANES]; N] {
    let mut sums = [R::Lanes::splat(R::ZERO); N];
    let a = a.map(|row| &row[..depth]);
    for (k, right) in b.data.chunks(b.stride).take(depth).enumerate() {
        let Some(right) = right.first_chunk() else {
            break;
        };
        let right = R::Lanes::load(right);
        for (sum, row) in sums.iter_mut().zip(a) {
            *sum = sum.add(R::Lanes::splat(row[k]).mul(right));
        }
    }
    sums.map(|sum| sum.store())
}

/// The product of the transpose of `depth` rows of [`ROWS`] columns with `depth` rows of [`LANES`] columns.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn tile_transposed<R: Real>(
    a: Matrix<'_, R>,
    b: Matrix<'_, R>,
    depth: usize,
) -> [[R; LANES]; ROWS] {
    let mut sums = [R::Lanes::splat(R::ZERO); ROWS];
    let rows = a.data.chunks(a.stride).zip(b.data.chunks(b.stride));
    for (left, right) in rows.take(depth) {
        let (Some(left), Some(right)) = (left.first_chunk::<ROWS>(), right.first_chunk()) else {
            break;
        };
        let right = R::Lanes::load(right);
        for (sum, factor) in sums.iter_mut().zip(left) {
            *sum = sum.add(R::Lanes::splat(*factor).mul(right));
        }
    }
    sums.map(|sum| sum.store())
}
