//! Files of weights.
//!
//! Both kinds begin with `VOLP`, a version, a kind, and the shape as five 16-bit numbers (vocabulary, context, width, heads,
//! layers); all numbers are little-endian.
//!
//! - **8-bit weights** to ship: for each row of each tensor a 32-bit scale, then for each row one signed byte a number:
//!   weight = scale · byte.
//! - **A checkpoint**, which is exact: the number of steps of the optimiser, the weights, and the optimiser's two means, in
//!   32-bit floats.

use crate::adam::Adam;
use crate::shape::{Shape, ShapeError};
use crate::weights::{Weights, WeightsError};

const MAGIC: &[u8; 4] = b"VOLP";
const VERSION: u8 = 1;
const EIGHT_BIT: u8 = 1;
const CHECKPOINT: u8 = 2;
const HEAD: usize = 16;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    #[error("This is not a file of weights: it does not begin with VOLP.")]
    NotWeights,
    #[error(
        "The file was written by a newer version of Volary (format {0}, this one reads {VERSION}). Use that version."
    )]
    Newer(u8),
    #[error("The file holds {found} where {expected} was expected.")]
    Kind {
        found: &'static str,
        expected: &'static str,
    },
    #[error(
        "The file has {found} bytes instead of {expected}: it is cut off, or something was appended."
    )]
    Size { found: usize, expected: usize },
    #[error("The file cannot be used: {0}")]
    Weights(#[from] WeightsError),
    #[error("The optimiser's means in the file are not all finite numbers.")]
    Optimizer,
}

/// Writes weights with 8 bits a number. They lose precision.
pub fn write_8_bit(weights: &Weights) -> Vec<u8> {
    let mut out = head(EIGHT_BIT, weights.shape());
    let tensors = weights.shape().tensors();
    let rows = || {
        let tensors = tensors.iter();
        tensors.flat_map(|tensor| weights.of(tensor).chunks_exact(tensor.columns))
    };
    for row in rows() {
        out.extend(scale(row).to_le_bytes());
    }
    for row in rows() {
        let scale = scale(row);
        out.extend(row.iter().map(|value| {
            let steps = if scale > 0.0 { value / scale } else { 0.0 };
            (steps.round() as i8).to_le_bytes()[0]
        }));
    }
    out
}

/// The size of a step: the largest number of the row has 127.
fn scale(row: &[f32]) -> f32 {
    row.iter()
        .fold(0.0_f32, |highest, value| highest.max(value.abs()))
        / 127.0
}

/// Reads what [`write_8_bit`] wrote.
///
/// # Errors
///
/// If the bytes are not such a file as a whole, or a number is not finite.
pub fn read_8_bit(bytes: &[u8]) -> Result<Weights, FileError> {
    let (shape, body) = read_head(bytes, EIGHT_BIT)?;
    let tensors = shape.tensors();
    let rows: usize = tensors.iter().map(|tensor| tensor.rows).sum();
    let parameters = shape.parameters();
    check_size(bytes, HEAD + 4 * rows + parameters)?;
    let (scales, mut steps) = body.split_at(4 * rows);
    let mut scales = floats(scales);
    let mut values = Vec::with_capacity(parameters);
    for tensor in &tensors {
        for _ in 0..tensor.rows {
            let scale = scales.next().unwrap_or(f32::NAN);
            let (row, rest) = steps.split_at(tensor.columns);
            steps = rest;
            values.extend(
                row.iter()
                    .map(|step| scale * f32::from(i8::from_le_bytes([*step]))),
            );
        }
    }
    Ok(Weights::new(shape, values)?)
}

/// Writes weights and optimiser exactly.
pub fn write_checkpoint(weights: &Weights, adam: &Adam) -> Vec<u8> {
    let mut out = head(CHECKPOINT, weights.shape());
    out.extend(adam.steps.to_le_bytes());
    let numbers = [weights.values(), &adam.first, &adam.second];
    for value in numbers.into_iter().flatten() {
        out.extend(value.to_le_bytes());
    }
    out
}

/// Reads what [`write_checkpoint`] wrote.
///
/// # Errors
///
/// If the bytes are not such a file as a whole, or a number is not finite.
pub fn read_checkpoint(bytes: &[u8]) -> Result<(Weights, Adam), FileError> {
    let (shape, body) = read_head(bytes, CHECKPOINT)?;
    let parameters = shape.parameters();
    check_size(bytes, HEAD + 4 + 12 * parameters)?;
    let (steps, numbers) = body.split_at(4);
    let steps = steps.first_chunk().copied().map_or(0, u32::from_le_bytes);
    let mut numbers = floats(numbers);
    let mut next = || -> Vec<f32> { numbers.by_ref().take(parameters).collect() };
    let weights = Weights::new(shape, next())?;
    let (first, second) = (next(), next());
    // The second mean is one of squares.
    let is_good = first.iter().all(|value| value.is_finite())
        && second
            .iter()
            .all(|value| value.is_finite() && *value >= 0.0);
    if is_good {
        Ok((
            weights,
            Adam {
                first,
                second,
                steps,
            },
        ))
    } else {
        Err(FileError::Optimizer)
    }
}

fn head(kind: u8, shape: Shape) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([VERSION, kind]);
    let Shape {
        vocabulary,
        context,
        width,
        heads,
        layers,
    } = shape;
    for size in [vocabulary, context, width, heads, layers] {
        // The limits of `Shape::check` fit.
        out.extend(u16::try_from(size).unwrap_or(u16::MAX).to_le_bytes());
    }
    out
}

fn read_head(bytes: &[u8], kind: u8) -> Result<(Shape, &[u8]), FileError> {
    let head = bytes.strip_prefix(MAGIC).ok_or(FileError::NotWeights)?;
    let Some(([version, found, sizes @ ..], body)) = head.split_first_chunk::<12>() else {
        return Err(FileError::Size {
            found: bytes.len(),
            expected: HEAD,
        });
    };
    if *version != VERSION {
        return Err(FileError::Newer(*version));
    }
    if *found != kind {
        let name = |kind| match kind {
            EIGHT_BIT => "a set of 8-bit weights",
            CHECKPOINT => "a checkpoint",
            _ => "something unknown",
        };
        return Err(FileError::Kind {
            found: name(*found),
            expected: name(kind),
        });
    }
    let (sizes, _) = sizes.as_chunks::<2>();
    let size = |index: usize| {
        sizes
            .get(index)
            .map_or(0, |bytes| usize::from(u16::from_le_bytes(*bytes)))
    };
    let shape = Shape {
        vocabulary: size(0),
        context: size(1),
        width: size(2),
        heads: size(3),
        layers: size(4),
    };
    let shape = shape
        .check()
        .map_err(|error: ShapeError| FileError::Weights(error.into()))?;
    Ok((shape, body))
}

fn check_size(bytes: &[u8], expected: usize) -> Result<(), FileError> {
    let found = bytes.len();
    if found == expected {
        Ok(())
    } else {
        Err(FileError::Size { found, expected })
    }
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use volary_core::random::Random;

    use super::*;

    const SHAPE: Shape = Shape {
        vocabulary: 22,
        context: 34,
        width: 32,
        heads: 4,
        layers: 2,
    };

    fn weights() -> Weights {
        Weights::random(SHAPE, &mut Random::new(4)).unwrap()
    }

    #[test]
    fn eight_bits_keep_each_weight_within_half_a_step() {
        let weights = weights();
        let bytes = write_8_bit(&weights);
        assert_eq!(bytes.len(), 28_580);
        let read = read_8_bit(&bytes).unwrap();
        for tensor in SHAPE.tensors() {
            let rows = weights.of(&tensor).chunks_exact(tensor.columns);
            for (row, read) in rows.zip(read.of(&tensor).chunks_exact(tensor.columns)) {
                for (value, read) in row.iter().zip(read) {
                    assert!((value - read).abs() <= scale(row) * 0.5001);
                }
            }
        }
        // What was read is written the same.
        assert_eq!(write_8_bit(&read), bytes);
    }

    #[test]
    fn a_checkpoint_is_exact() {
        let mut weights = weights();
        let mut adam = Adam::new(SHAPE.parameters());
        let gradient: Vec<f32> = weights.values().iter().map(|value| value * 0.1).collect();
        adam.step(weights.values_mut(), &gradient, 1e-3);
        let bytes = write_checkpoint(&weights, &adam);
        assert_eq!(read_checkpoint(&bytes), Ok((weights, adam)));
    }

    #[test]
    fn damaged_files_say_what_is_wrong() {
        let whole = write_8_bit(&weights());
        assert_eq!(read_8_bit(b"PK\x03\x04"), Err(FileError::NotWeights));
        assert!(matches!(
            read_8_bit(&whole[..9]),
            Err(FileError::Size { found: 9, .. })
        ));
        let cut = read_8_bit(&whole[..whole.len() - 1]).unwrap_err();
        assert_eq!(
            cut.to_string(),
            "The file has 28579 bytes instead of 28580: it is cut off, or something was appended."
        );
        let mut longer = whole.clone();
        longer.push(0);
        assert!(matches!(read_8_bit(&longer), Err(FileError::Size { .. })));
        let mut newer = whole.clone();
        newer[4] = 2;
        assert_eq!(read_8_bit(&newer), Err(FileError::Newer(2)));
        let kind = read_checkpoint(&whole).unwrap_err();
        assert_eq!(
            kind.to_string(),
            "The file holds a set of 8-bit weights where a checkpoint was expected."
        );
        let mut not_a_number = whole.clone();
        not_a_number[HEAD..HEAD + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        let error = read_8_bit(&not_a_number).unwrap_err();
        assert!(error.to_string().contains("`token_embedding`"), "{error}");
        let mut impossible = whole;
        impossible[6] = 0;
        assert!(matches!(
            read_8_bit(&impossible),
            Err(FileError::Weights(WeightsError::Shape(_)))
        ));
        let mut exact = write_checkpoint(&weights(), &Adam::new(SHAPE.parameters()));
        let last = exact.len() - 4;
        exact[last..].copy_from_slice(&(-1.0_f32).to_le_bytes());
        assert_eq!(read_checkpoint(&exact), Err(FileError::Optimizer));
    }
}
