//! The sizes of a network, and where each parameter is.

use std::ops::Range;

use crate::lanes::LANES;

/// The sizes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The number of different tokens, at most 256.
    pub vocabulary: usize,
    /// The largest number of tokens that are read at once.
    pub context: usize,
    /// The length of the vector of a token: a multiple of 8 for each head.
    pub width: usize,
    pub heads: usize,
    pub layers: usize,
}

/// Why a shape is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    #[error("The {part} of the network is {value}; it must be from 1 to {limit}.")]
    OutOfRange {
        part: &'static str,
        value: usize,
        limit: usize,
    },
    #[error(
        "A width of {width} does not give each of {heads} heads a multiple of 8. Choose a width of 8, 16, 24, … per head."
    )]
    Width { width: usize, heads: usize },
}

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorName {
    TokenEmbedding,
    PositionEmbedding,
    /// The gain before the attention of a layer.
    AttentionNorm(usize),
    /// Queries, keys and values of a layer, side by side.
    QueryKeyValue(usize),
    /// The output of the attention of a layer.
    AttentionOutput(usize),
    /// The gain before the feed-forward part of a layer.
    FeedForwardNorm(usize),
    /// The first matrix of the feed-forward part of a layer.
    Up(usize),
    /// The second matrix of the feed-forward part of a layer.
    Down(usize),
    /// The gain before the output layer.
    OutputNorm,
}

/// A parameter: its name, and its position among all. Matrices have a row for each input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub name: TensorName,
    pub range: Range<usize>,
    pub rows: usize,
    pub columns: usize,
}

impl TensorName {
    /// The name in files and in the Python reference.
    pub fn text(self) -> String {
        match self {
            TensorName::TokenEmbedding => "token_embedding".to_owned(),
            TensorName::PositionEmbedding => "position_embedding".to_owned(),
            TensorName::AttentionNorm(layer) => format!("layers.{layer}.attention_norm"),
            TensorName::QueryKeyValue(layer) => format!("layers.{layer}.query_key_value"),
            TensorName::AttentionOutput(layer) => format!("layers.{layer}.attention_output"),
            TensorName::FeedForwardNorm(layer) => format!("layers.{layer}.feed_forward_norm"),
            TensorName::Up(layer) => format!("layers.{layer}.up"),
            TensorName::Down(layer) => format!("layers.{layer}.down"),
            TensorName::OutputNorm => "output_norm".to_owned(),
        }
    }

    /// Whether it is a gain, which starts at 1.
    pub fn is_gain(self) -> bool {
        matches!(
            self,
            TensorName::AttentionNorm(_) | TensorName::FeedForwardNorm(_) | TensorName::OutputNorm
        )
    }
}

impl Shape {
    /// Checks the sizes.
    ///
    /// # Errors
    ///
    /// If a size is 0 or too large, or the width cannot be divided among the heads.
    pub fn check(self) -> Result<Self, ShapeError> {
        for (part, value, limit) in [
            ("vocabulary", self.vocabulary, 256),
            ("context", self.context, 1024),
            ("width", self.width, 512),
            ("number of heads", self.heads, 64),
            ("number of layers", self.layers, 16),
        ] {
            if value == 0 || value > limit {
                return Err(ShapeError::OutOfRange { part, value, limit });
            }
        }
        let (width, heads) = (self.width, self.heads);
        if !width.is_multiple_of(heads * LANES) {
            return Err(ShapeError::Width { width, heads });
        }
        Ok(self)
    }

    /// The length of a head's vectors.
    pub fn head(self) -> usize {
        self.width / self.heads
    }

    /// The length of the inner vectors of the feed-forward part.
    pub fn inner(self) -> usize {
        4 * self.width
    }

    /// All parameters in the order in which they are stored.
    pub fn tensors(self) -> Vec<Tensor> {
        let width = self.width;
        let mut sizes = vec![
            (TensorName::TokenEmbedding, self.vocabulary, width),
            (TensorName::PositionEmbedding, self.context, width),
        ];
        for layer in 0..self.layers {
            sizes.extend([
                (TensorName::AttentionNorm(layer), 1, width),
                (TensorName::QueryKeyValue(layer), width, 3 * width),
                (TensorName::AttentionOutput(layer), width, width),
                (TensorName::FeedForwardNorm(layer), 1, width),
                (TensorName::Up(layer), width, self.inner()),
                (TensorName::Down(layer), self.inner(), width),
            ]);
        }
        sizes.push((TensorName::OutputNorm, 1, width));
        let mut start = 0;
        sizes
            .into_iter()
            .map(|(name, rows, columns)| {
                let range = start..start + rows * columns;
                start = range.end;
                Tensor {
                    name,
                    range,
                    rows,
                    columns,
                }
            })
            .collect()
    }

    /// The number of parameters.
    pub fn parameters(self) -> usize {
        self.tensors().last().map_or(0, |tensor| tensor.range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        vocabulary: 22,
        context: 34,
        width: 32,
        heads: 4,
        layers: 2,
    };

    #[test]
    fn the_network_of_the_school_has_26_528_parameters() {
        assert_eq!(SHAPE.check().map(Shape::parameters), Ok(26_528));
    }

    #[test]
    fn shapes_that_cannot_work_are_refused() {
        let error = Shape { width: 36, ..SHAPE }.check().unwrap_err();
        assert!(error.to_string().contains("36"), "{error}");
        let error = Shape { layers: 0, ..SHAPE }.check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "The number of layers of the network is 0; it must be from 1 to 16."
        );
        assert!(
            Shape {
                vocabulary: 257,
                ..SHAPE
            }
            .check()
            .is_err()
        );
    }
}
