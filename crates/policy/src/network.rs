//! Weights that are ready for use.

use crate::matrix::{padded, transpose};
use crate::real::Real;
use crate::shape::Shape;
use crate::weights::{Weights, WeightsError};

/// Weights with copies of their matrices that make products fast.
#[derive(Clone, Debug)]
pub struct Network<R = f32> {
    weights: Weights<R>,
    /// The transposed token embedding, padded to whole vectors.
    output: Vec<R>,
    layers: Vec<Transposed<R>>,
    offsets: ParameterOffsets,
}

/// The transposed matrices of a layer, for the backward pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transposed<R> {
    pub query_key_value: Vec<R>,
    pub attention_output: Vec<R>,
    pub up: Vec<R>,
    pub down: Vec<R>,
}

/// Where each parameter starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParameterOffsets {
    pub position_embedding: usize,
    pub layers: Vec<LayerOffsets>,
    pub output_norm: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LayerOffsets {
    pub attention_norm: usize,
    pub query_key_value: usize,
    pub attention_output: usize,
    pub feed_forward_norm: usize,
    pub up: usize,
    pub down: usize,
}

impl ParameterOffsets {
    fn of(shape: Shape) -> Self {
        let (width, inner) = (shape.width, shape.inner());
        let position_embedding = shape.vocabulary * width;
        let mut start = position_embedding + shape.context * width;
        let mut next = |length: usize| {
            start += length;
            start - length
        };
        let layers = (0..shape.layers)
            .map(|_| LayerOffsets {
                attention_norm: next(width),
                query_key_value: next(width * 3 * width),
                attention_output: next(width * width),
                feed_forward_norm: next(width),
                up: next(width * inner),
                down: next(inner * width),
            })
            .collect();
        ParameterOffsets {
            position_embedding,
            layers,
            output_norm: next(width),
        }
    }
}

impl<R: Real> Network<R> {
    pub fn new(weights: Weights<R>) -> Self {
        let shape = weights.shape();
        let mut network = Network {
            weights,
            output: Vec::new(),
            layers: vec![Transposed::default(); shape.layers],
            offsets: ParameterOffsets::of(shape),
        };
        network.prepare();
        network
    }

    pub fn shape(&self) -> Shape {
        self.weights.shape()
    }

    pub fn weights(&self) -> &Weights<R> {
        &self.weights
    }

    /// Changes the weights.
    ///
    /// # Errors
    ///
    /// If a weight is not finite afterwards. The network then has these weights, and is of no use.
    pub fn update(&mut self, change: impl FnOnce(&mut [R])) -> Result<(), WeightsError> {
        change(self.weights.values_mut());
        self.prepare();
        self.weights.check_finite()
    }

    pub(crate) fn offsets(&self) -> &ParameterOffsets {
        &self.offsets
    }

    pub(crate) fn output(&self) -> &[R] {
        &self.output
    }

    pub(crate) fn transposed(&self, layer: usize) -> &Transposed<R> {
        &self.layers[layer]
    }

    fn prepare(&mut self) {
        let Shape {
            vocabulary, width, ..
        } = self.weights.shape();
        let inner = self.weights.shape().inner();
        let values = self.weights.values();
        transpose(
            values,
            (vocabulary, width),
            padded(vocabulary),
            &mut self.output,
        );
        for (layer, offsets) in self.layers.iter_mut().zip(&self.offsets.layers) {
            let turn = |start: usize, rows, columns, out: &mut Vec<R>| {
                let matrix = &values[start..start + rows * columns];
                transpose(matrix, (rows, columns), rows, out);
            };
            turn(
                offsets.query_key_value,
                width,
                3 * width,
                &mut layer.query_key_value,
            );
            turn(
                offsets.attention_output,
                width,
                width,
                &mut layer.attention_output,
            );
            turn(offsets.up, width, inner, &mut layer.up);
            turn(offsets.down, inner, width, &mut layer.down);
        }
    }
}
