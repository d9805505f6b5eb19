//! Products of matrices in row-major order.
//!
//! The loops compute tiles of four rows and eight columns ([`crate::tile`]), which fit the vector registers of SSE2 and of
//! WebAssembly. Each element is the sum over the inner dimension in ascending order, in a tile as well as at the edges, so
//! an element does not depend on the number of rows.
//!
//! Invariant: the number of columns and all strides of the right matrix are multiples of [`LANES`].

use crate::lanes::LANES;
use crate::real::Real;
use crate::tile::{tile, tile_transposed};

/// The number of rows that are computed together.
pub const ROWS: usize = 4;

/// The smallest multiple of [`LANES`] that is not smaller.
pub const fn padded(length: usize) -> usize {
    length.div_ceil(LANES) * LANES
}

/// A matrix in a slice that starts at its first element.
#[derive(Clone, Copy)]
pub struct Matrix<'a, R> {
    pub data: &'a [R],
    /// The distance between rows.
    pub stride: usize,
}

/// What happens to the elements of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// They are replaced.
    Replaced,
    /// The product is added.
    Added,
}

impl<'a, R> Matrix<'a, R> {
    pub fn new(data: &'a [R], stride: usize) -> Self {
        Matrix { data, stride }
    }

    /// The matrix without the columns before this one.
    #[inline(always)]
    fn columns_from(self, column: usize) -> Self {
        Matrix::new(&self.data[column..], self.stride)
    }
}

/// C = A·B with `rows × depth` times `depth × columns`.
pub fn multiply<R: Real>(
    a: Matrix<'_, R>,
    b: Matrix<'_, R>,
    c: &mut [R],
    c_stride: usize,
    (rows, depth, columns): (usize, usize, usize),
    into: Into,
) {
    let mut row = 0;
    while row + ROWS <= rows {
        let part: [&[R]; ROWS] = std::array::from_fn(|i| &a.data[(row + i) * a.stride..][..depth]);
        for column in (0..columns).step_by(LANES) {
            let sums = tile(part, b.columns_from(column), depth);
            store(&sums, &mut c[row * c_stride + column..], c_stride, into);
        }
        row += ROWS;
    }
    while row < rows {
        let part = [&a.data[row * a.stride..][..depth]];
        for column in (0..columns).step_by(LANES) {
            let sums = tile(part, b.columns_from(column), depth);
            store(&sums, &mut c[row * c_stride + column..], c_stride, into);
        }
        row += 1;
    }
}

/// C = Aᵀ·B with A of `depth × rows` and B of `depth × columns`. The number of rows is a multiple of four.
pub fn multiply_transposed<R: Real>(
    a: Matrix<'_, R>,
    b: Matrix<'_, R>,
    c: &mut [R],
    c_stride: usize,
    (rows, depth, columns): (usize, usize, usize),
    into: Into,
) {
    for row in (0..rows).step_by(ROWS) {
        for column in (0..columns).step_by(LANES) {
            let sums = tile_transposed(a.columns_from(row), b.columns_from(column), depth);
            store(&sums, &mut c[row * c_stride + column..], c_stride, into);
        }
    }
}

#[inline(always)]
fn store<R: Real, const N: usize>(
    sums: &[[R; LANES]; N],
    c: &mut [R],
    c_stride: usize,
    into: Into,
) {
    for (row, sums) in sums.iter().enumerate() {
        let Some(target) = c[row * c_stride..].first_chunk_mut::<LANES>() else {
            continue;
        };
        if into == Into::Added {
            for (target, sum) in target.iter_mut().zip(sums) {
                *target += *sum;
            }
        } else {
            *target = *sums;
        }
    }
}

/// Writes the transposed matrix; its rows are padded with zeros to `stride`.
pub fn transpose<R: Real>(
    matrix: &[R],
    (rows, columns): (usize, usize),
    stride: usize,
    out: &mut Vec<R>,
) {
    out.clear();
    out.resize(columns * stride, R::ZERO);
    for (row, values) in matrix.chunks_exact(columns).take(rows).enumerate() {
        for (column, value) in values.iter().enumerate() {
            out[column * stride + row] = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> Vec<f32> {
        (0..count)
            .map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0)
            .collect()
    }

    #[test]
    fn products_equal_the_definition_at_all_edges() {
        for rows in [1, 4, 7, 9] {
            let (depth, columns) = (13, 16);
            let (a, b) = (numbers(rows * depth), numbers(depth * columns));
            let mut c = vec![1.0; rows * columns];
            let sizes = (rows, depth, columns);
            let (left, right) = (Matrix::new(&a, depth), Matrix::new(&b, columns));
            multiply(left, right, &mut c, columns, sizes, Into::Added);
            for row in 0..rows {
                for column in 0..columns {
                    let mut sum = 0.0;
                    for k in 0..depth {
                        sum += a[row * depth + k] * b[k * columns + column];
                    }
                    assert_eq!(c[row * columns + column], 1.0 + sum);
                }
            }
        }
    }

    #[test]
    fn a_transposed_factor_gives_the_same_elements() {
        let (rows, depth, columns) = (8, 5, 16);
        let (a, b) = (numbers(rows * depth), numbers(depth * columns));
        let mut turned = Vec::new();
        transpose(&a, (rows, depth), rows, &mut turned);
        let mut expected = vec![0.0; rows * columns];
        let mut found = expected.clone();
        let sizes = (rows, depth, columns);
        let right = Matrix::new(&b, columns);
        multiply(
            Matrix::new(&a, depth),
            right,
            &mut expected,
            columns,
            sizes,
            Into::Replaced,
        );
        multiply_transposed(
            Matrix::new(&turned, rows),
            right,
            &mut found,
            columns,
            sizes,
            Into::Replaced,
        );
        assert_eq!(found, expected);
    }
}
