//! The parameters of a network.

use volary_core::random::{Random, stable_hash};

use crate::real::Real;
use crate::shape::{Shape, ShapeError, Tensor};

/// The parameters of a network, in the order of [`Shape::tensors`].
#[derive(Clone, Debug, PartialEq)]
pub struct Weights<R = f32> {
    shape: Shape,
    values: Vec<R>,
}

/// Why numbers are no weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("There are {found} weights; a network of this shape has {expected}.")]
    Count { found: usize, expected: usize },
    #[error("The weights of `{tensor}` are not all finite numbers.")]
    NotFinite { tensor: String },
}

impl<R: Real> Weights<R> {
    /// Weights from numbers.
    ///
    /// # Errors
    ///
    /// If the shape is impossible, the number of values differs, or a value is NaN or infinite.
    pub fn new(shape: Shape, values: Vec<R>) -> Result<Self, WeightsError> {
        let expected = shape.check()?.parameters();
        if values.len() != expected {
            return Err(WeightsError::Count {
                found: values.len(),
                expected,
            });
        }
        let weights = Weights { shape, values };
        weights.check_finite()?;
        Ok(weights)
    }

    /// Random weights: gains are 1, embeddings have the deviation 0.3, matrices 1 / √inputs, and those that write to the
    /// residual stream less, the more layers there are.
    ///
    /// # Errors
    ///
    /// If the shape is impossible.
    pub fn random(shape: Shape, random: &mut Random) -> Result<Self, ShapeError> {
        use crate::shape::TensorName;
        let mut values = Vec::with_capacity(shape.check()?.parameters());
        for tensor in shape.tensors() {
            let inputs = tensor.rows as f64;
            let depth = 2.0 * shape.layers as f64;
            let deviation = match tensor.name {
                name if name.is_gain() => {
                    values.extend(std::iter::repeat_n(R::ONE, tensor.range.len()));
                    continue;
                }
                TensorName::TokenEmbedding | TensorName::PositionEmbedding => 0.3,
                TensorName::AttentionOutput(_) | TensorName::Down(_) => {
                    1.0 / (inputs * depth).sqrt()
                }
                _ => 1.0 / inputs.sqrt(),
            };
            for _ in tensor.range {
                // Four uniform numbers are close enough to a normal one, and need no logarithm.
                let sum: f64 = (0..4).map(|_| random.float01() - 0.5).sum();
                values.push(R::of(sum * 3.0_f64.sqrt() * deviation));
            }
        }
        Ok(Weights { shape, values })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub fn values(&self) -> &[R] {
        &self.values
    }

    /// The values, to be changed. Afterwards, see [`check_finite`](Self::check_finite).
    pub fn values_mut(&mut self) -> &mut [R] {
        &mut self.values
    }

    /// The values of a parameter.
    pub fn of(&self, tensor: &Tensor) -> &[R] {
        self.values.get(tensor.range.clone()).unwrap_or_default()
    }

    /// Checks that all values are finite.
    ///
    /// # Errors
    ///
    /// Names the first parameter with a value that is not.
    pub fn check_finite(&self) -> Result<(), WeightsError> {
        let tensors = self.shape.tensors();
        let bad = tensors.iter().find(|tensor| {
            let values = self.of(tensor);
            values.iter().any(|value| !value.is_finite())
        });
        match bad {
            None => Ok(()),
            Some(tensor) => Err(WeightsError::NotFinite {
                tensor: tensor.name.text(),
            }),
        }
    }
}

impl Weights<f32> {
    /// A hash of all bits, the same on every platform: equal hashes mean equal weights.
    pub fn hash(&self) -> u64 {
        let bytes = self.values.iter().flat_map(|value| value.to_le_bytes());
        stable_hash(bytes)
    }
}
