//! The log probabilities of sequences, and the gradients of a loss that depends on them.
//!
//! A sequence of `n` tokens has `n − 1` rows: row `i` reads token `i` and predicts token `i + 1`. The rows of all sequences
//! are stacked, so that matrices are large; only the attention treats each sequence by itself.

use crate::matrix::{Into, Matrix, multiply, multiply_transposed, padded};
use crate::network::Network;
use crate::real::Real;
use crate::rows::{
    entropy, log_normalizer, normalize, normalize_backward, rectify, rectify_backward, scale_all,
    softmax, softmax_backward,
};
use crate::shape::Shape;

/// Why sequences cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    #[error("A sequence has {tokens} tokens; it must have from 2 to {limit}.")]
    Length { tokens: usize, limit: usize },
    #[error("Token {token} is not in the vocabulary of {vocabulary}.")]
    Token { token: u8, vocabulary: usize },
}

/// What a forward pass computed, kept for the backward pass. It is used again for other sequences, without new memory.
#[derive(Clone, Debug)]
pub struct Tape<R = f32> {
    shape: Shape,
    sequences: Vec<Sequence>,
    /// The token that each row reads, its position, and the token that it predicts.
    rows: Vec<(u8, usize, u8)>,
    layers: Vec<LayerTape<R>>,
    /// The residual stream before the output norm.
    stream: Vec<R>,
    output_inverse: Vec<R>,
    output_norm: Vec<R>,
    /// The probabilities of the next token.
    probabilities: Vec<R>,
    log_probs: Vec<R>,
    entropies: Vec<R>,
    scale: R,
    scratch: Scratch<R>,
}

#[derive(Clone, Copy, Debug)]
struct Sequence {
    /// Its first row.
    start: usize,
    rows: usize,
    /// Where its attention weights start; each head has `rows × padded(rows)`.
    attention: usize,
}

#[derive(Clone, Debug, Default)]
struct LayerTape<R> {
    /// The residual stream before the layer.
    stream: Vec<R>,
    attention_inverse: Vec<R>,
    attention_norm: Vec<R>,
    query_key_value: Vec<R>,
    /// The attention weights.
    attention: Vec<R>,
    attended: Vec<R>,
    /// The residual stream between attention and feed-forward part.
    middle: Vec<R>,
    feed_forward_inverse: Vec<R>,
    feed_forward_norm: Vec<R>,
    /// The inner vectors after ReLU.
    inner: Vec<R>,
}

#[derive(Clone, Debug, Default)]
struct Scratch<R> {
    /// Keys or values of a head, transposed.
    turned: Vec<R>,
    logits: Vec<R>,
    dlogits: Vec<R>,
    dstream: Vec<R>,
    dnorm: Vec<R>,
    dinner: Vec<R>,
    dattended: Vec<R>,
    dquery_key_value: Vec<R>,
    dattention: Vec<R>,
    row: Vec<R>,
}

impl<R: Real> Tape<R> {
    pub fn new(shape: Shape) -> Self {
        Tape {
            shape,
            sequences: Vec::new(),
            rows: Vec::new(),
            layers: vec![LayerTape::default(); shape.layers],
            stream: Vec::new(),
            output_inverse: Vec::new(),
            output_norm: Vec::new(),
            probabilities: Vec::new(),
            log_probs: Vec::new(),
            entropies: Vec::new(),
            scale: R::ONE,
            scratch: Scratch::default(),
        }
    }

    /// Computes sequences at a temperature above 0, which divides the logits.
    ///
    /// # Errors
    ///
    /// If a sequence has fewer than 2 tokens or more than the context and one, or a token is unknown.
    pub fn forward(
        &mut self,
        network: &Network<R>,
        sequences: &[&[u8]],
        temperature: R,
    ) -> Result<(), TapeError> {
        self.shape = network.shape();
        self.read(sequences)?;
        self.scale = R::ONE / temperature;
        self.embed(network);
        for layer in 0..self.shape.layers {
            self.attend(network, layer);
            self.feed_forward(network, layer);
        }
        self.predict(network);
        Ok(())
    }

    /// For each row the log probability of the token that it predicts; the sequences one after the other.
    pub fn log_probs(&self) -> &[R] {
        &self.log_probs
    }

    /// For each row the entropy of its prediction, in nats.
    pub fn entropies(&self) -> &[R] {
        &self.entropies
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, sequences: &[&[u8]]) -> Result<(), TapeError> {
        let Shape {
            vocabulary,
            context,
            heads,
            ..
        } = self.shape;
        self.sequences.clear();
        self.rows.clear();
        let mut attention = 0;
        for tokens in sequences {
            if tokens.len() < 2 || tokens.len() > context + 1 {
                return Err(TapeError::Length {
                    tokens: tokens.len(),
                    limit: context + 1,
                });
            }
            let unknown = tokens
                .iter()
                .find(|token| usize::from(**token) >= vocabulary);
            if let Some(token) = unknown {
                return Err(TapeError::Token {
                    token: *token,
                    vocabulary,
                });
            }
            let (start, rows) = (self.rows.len(), tokens.len() - 1);
            self.sequences.push(Sequence {
                start,
                rows,
                attention,
            });
            attention += heads * rows * padded(rows);
            let pairs = tokens.windows(2).enumerate();
            self.rows
                .extend(pairs.map(|(position, pair)| (pair[0], position, pair[1])));
        }
        Ok(())
    }

    fn embed(&mut self, network: &Network<R>) {
        let width = self.shape.width;
        let values = network.weights().values();
        let positions = &values[network.offsets().position_embedding..];
        resize(&mut self.stream, self.rows.len() * width);
        for (out, (token, position, _)) in self.stream.chunks_exact_mut(width).zip(&self.rows) {
            let token = &values[usize::from(*token) * width..][..width];
            let position = &positions[position * width..][..width];
            for ((out, token), position) in out.iter_mut().zip(token).zip(position) {
                *out = *token + *position;
            }
        }
    }

    fn attend(&mut self, network: &Network<R>, layer: usize) {
        let Shape { width, heads, .. } = self.shape;
        let (head_width, rows) = (self.shape.head(), self.rows.len());
        let values = network.weights().values();
        let offsets = network.offsets().layers[layer];
        let tape = &mut self.layers[layer];
        tape.stream.clone_from(&self.stream);
        resize(&mut tape.attention_norm, rows * width);
        resize(&mut tape.query_key_value, rows * 3 * width);
        resize(&mut tape.attended, rows * width);
        let gain = &values[offsets.attention_norm..][..width];
        normalize_rows(
            &tape.stream,
            gain,
            &mut tape.attention_norm,
            &mut tape.attention_inverse,
        );
        multiply(
            Matrix::new(&tape.attention_norm, width),
            Matrix::new(&values[offsets.query_key_value..], 3 * width),
            &mut tape.query_key_value,
            3 * width,
            (rows, width, 3 * width),
            Into::Replaced,
        );
        let scale = R::ONE / R::of(head_width as f64).sqrt();
        let attention = self.sequences.last().map_or(0, |sequence| {
            sequence.attention + heads * sequence.rows * padded(sequence.rows)
        });
        resize(&mut tape.attention, attention);
        for sequence in &self.sequences {
            let (n, stride) = (sequence.rows, padded(sequence.rows));
            let all = &tape.query_key_value[sequence.start * 3 * width..][..n * 3 * width];
            for head in 0..heads {
                let query = head * head_width;
                let (key, value) = (width + query, 2 * width + query);
                turn(
                    &all[key..],
                    3 * width,
                    (n, head_width),
                    stride,
                    &mut self.scratch.turned,
                );
                let weights =
                    &mut tape.attention[sequence.attention + head * n * stride..][..n * stride];
                multiply(
                    Matrix::new(&all[query..], 3 * width),
                    Matrix::new(&self.scratch.turned, stride),
                    weights,
                    stride,
                    (n, head_width, stride),
                    Into::Replaced,
                );
                for (row, weights) in weights.chunks_exact_mut(stride).enumerate() {
                    let (seen, hidden) = weights.split_at_mut(row + 1);
                    scale_all(seen, scale);
                    softmax(seen);
                    hidden.fill(R::ZERO);
                }
                multiply(
                    Matrix::new(weights, stride),
                    Matrix::new(&all[value..], 3 * width),
                    &mut tape.attended[sequence.start * width + query..],
                    width,
                    (n, n, head_width),
                    Into::Replaced,
                );
            }
        }
        multiply(
            Matrix::new(&tape.attended, width),
            Matrix::new(&values[offsets.attention_output..], width),
            &mut self.stream,
            width,
            (rows, width, width),
            Into::Added,
        );
    }

    fn feed_forward(&mut self, network: &Network<R>, layer: usize) {
        let (width, inner, rows) = (self.shape.width, self.shape.inner(), self.rows.len());
        let values = network.weights().values();
        let offsets = network.offsets().layers[layer];
        let tape = &mut self.layers[layer];
        tape.middle.clone_from(&self.stream);
        resize(&mut tape.feed_forward_norm, rows * width);
        resize(&mut tape.inner, rows * inner);
        let gain = &values[offsets.feed_forward_norm..][..width];
        normalize_rows(
            &tape.middle,
            gain,
            &mut tape.feed_forward_norm,
            &mut tape.feed_forward_inverse,
        );
        multiply(
            Matrix::new(&tape.feed_forward_norm, width),
            Matrix::new(&values[offsets.up..], inner),
            &mut tape.inner,
            inner,
            (rows, width, inner),
            Into::Replaced,
        );
        rectify(&mut tape.inner);
        multiply(
            Matrix::new(&tape.inner, inner),
            Matrix::new(&values[offsets.down..], width),
            &mut self.stream,
            width,
            (rows, inner, width),
            Into::Added,
        );
    }

    fn predict(&mut self, network: &Network<R>) {
        let Shape {
            width, vocabulary, ..
        } = self.shape;
        let (rows, stride) = (self.rows.len(), padded(vocabulary));
        let gain = &network.weights().values()[network.offsets().output_norm..][..width];
        resize(&mut self.output_norm, rows * width);
        normalize_rows(
            &self.stream,
            gain,
            &mut self.output_norm,
            &mut self.output_inverse,
        );
        resize(&mut self.scratch.logits, rows * stride);
        multiply(
            Matrix::new(&self.output_norm, width),
            Matrix::new(network.output(), stride),
            &mut self.scratch.logits,
            stride,
            (rows, width, stride),
            Into::Replaced,
        );
        scale_all(&mut self.scratch.logits, self.scale);
        self.probabilities.clone_from(&self.scratch.logits);
        self.log_probs.clear();
        self.entropies.clear();
        let all = self.probabilities.chunks_exact_mut(stride);
        for ((probabilities, logits), (_, _, target)) in all
            .zip(self.scratch.logits.chunks_exact(stride))
            .zip(&self.rows)
        {
            let (probabilities, padding) = probabilities.split_at_mut(vocabulary);
            padding.fill(R::ZERO);
            let normalizer = log_normalizer(softmax(probabilities));
            self.log_probs
                .push(logits[usize::from(*target)] - normalizer);
            self.entropies
                .push(entropy(probabilities, logits, normalizer));
        }
    }

    /// Adds the gradient of a loss to `gradient`, which has the order of the weights. `dlog_probs` has for each row the
    /// derivative of the loss by its log probability: 0 for tokens that are not trained.
    pub fn backward(&mut self, network: &Network<R>, dlog_probs: &[R], gradient: &mut [R]) {
        self.predict_backward(network, dlog_probs, gradient);
        for layer in (0..self.shape.layers).rev() {
            self.feed_forward_backward(network, layer, gradient);
            self.attend_backward(network, layer, gradient);
        }
        self.embed_backward(network, gradient);
    }

    fn predict_backward(&mut self, network: &Network<R>, dlog_probs: &[R], gradient: &mut [R]) {
        let Shape {
            width, vocabulary, ..
        } = self.shape;
        let (rows, stride) = (self.rows.len(), padded(vocabulary));
        let scratch = &mut self.scratch;
        resize(&mut scratch.dlogits, rows * stride);
        let all = scratch.dlogits.chunks_exact_mut(stride);
        for (((dlogits, probabilities), dlog_prob), (_, _, target)) in all
            .zip(self.probabilities.chunks_exact(stride))
            .zip(dlog_probs)
            .zip(&self.rows)
        {
            let factor = *dlog_prob * self.scale;
            for (dlogit, probability) in dlogits.iter_mut().zip(probabilities) {
                *dlogit = -(factor * *probability);
            }
            dlogits[usize::from(*target)] += factor;
        }
        let values = network.weights().values();
        resize(&mut scratch.dnorm, rows * width);
        multiply(
            Matrix::new(&scratch.dlogits, stride),
            Matrix::new(values, width),
            &mut scratch.dnorm,
            width,
            (rows, vocabulary, width),
            Into::Replaced,
        );
        // The embedding has a row for each token, and the number of tokens is no multiple of four.
        resize(&mut scratch.dinner, stride * width);
        multiply_transposed(
            Matrix::new(&scratch.dlogits, stride),
            Matrix::new(&self.output_norm, width),
            &mut scratch.dinner,
            width,
            (stride, rows, width),
            Into::Replaced,
        );
        for (gradient, value) in gradient
            .iter_mut()
            .zip(&scratch.dinner[..vocabulary * width])
        {
            *gradient += *value;
        }
        let offset = network.offsets().output_norm;
        resize(&mut scratch.dstream, rows * width);
        scratch.dstream.fill(R::ZERO);
        normalize_rows_backward(
            &self.stream,
            &values[offset..][..width],
            &self.output_inverse,
            &scratch.dnorm,
            &mut scratch.dstream,
            &mut gradient[offset..][..width],
            &mut scratch.row,
        );
    }

    fn feed_forward_backward(&mut self, network: &Network<R>, layer: usize, gradient: &mut [R]) {
        let (width, inner, rows) = (self.shape.width, self.shape.inner(), self.rows.len());
        let values = network.weights().values();
        let offsets = network.offsets().layers[layer];
        let turned = network.transposed(layer);
        let (tape, scratch) = (&self.layers[layer], &mut self.scratch);
        multiply_transposed(
            Matrix::new(&tape.inner, inner),
            Matrix::new(&scratch.dstream, width),
            &mut gradient[offsets.down..],
            width,
            (inner, rows, width),
            Into::Added,
        );
        resize(&mut scratch.dinner, rows * inner);
        multiply(
            Matrix::new(&scratch.dstream, width),
            Matrix::new(&turned.down, inner),
            &mut scratch.dinner,
            inner,
            (rows, width, inner),
            Into::Replaced,
        );
        rectify_backward(&tape.inner, &mut scratch.dinner);
        multiply_transposed(
            Matrix::new(&tape.feed_forward_norm, width),
            Matrix::new(&scratch.dinner, inner),
            &mut gradient[offsets.up..],
            inner,
            (width, rows, inner),
            Into::Added,
        );
        multiply(
            Matrix::new(&scratch.dinner, inner),
            Matrix::new(&turned.up, width),
            &mut scratch.dnorm,
            width,
            (rows, inner, width),
            Into::Replaced,
        );
        normalize_rows_backward(
            &tape.middle,
            &values[offsets.feed_forward_norm..][..width],
            &tape.feed_forward_inverse,
            &scratch.dnorm,
            &mut scratch.dstream,
            &mut gradient[offsets.feed_forward_norm..][..width],
            &mut scratch.row,
        );
    }

    fn attend_backward(&mut self, network: &Network<R>, layer: usize, gradient: &mut [R]) {
        let Shape { width, heads, .. } = self.shape;
        let (head_width, rows) = (self.shape.head(), self.rows.len());
        let values = network.weights().values();
        let offsets = network.offsets().layers[layer];
        let turned = network.transposed(layer);
        let (tape, scratch) = (&self.layers[layer], &mut self.scratch);
        multiply_transposed(
            Matrix::new(&tape.attended, width),
            Matrix::new(&scratch.dstream, width),
            &mut gradient[offsets.attention_output..],
            width,
            (width, rows, width),
            Into::Added,
        );
        resize(&mut scratch.dattended, rows * width);
        multiply(
            Matrix::new(&scratch.dstream, width),
            Matrix::new(&turned.attention_output, width),
            &mut scratch.dattended,
            width,
            (rows, width, width),
            Into::Replaced,
        );
        resize(&mut scratch.dquery_key_value, rows * 3 * width);
        let scale = R::ONE / R::of(head_width as f64).sqrt();
        for sequence in &self.sequences {
            let (n, stride) = (sequence.rows, padded(sequence.rows));
            let start = sequence.start * 3 * width;
            let all = &tape.query_key_value[start..][..n * 3 * width];
            let dall = &mut scratch.dquery_key_value[start..][..n * 3 * width];
            for head in 0..heads {
                let query = head * head_width;
                let (key, value) = (width + query, 2 * width + query);
                let weights =
                    &tape.attention[sequence.attention + head * n * stride..][..n * stride];
                let dattended = &scratch.dattended[sequence.start * width + query..];
                // Into the values. The weights of a column after the last row are 0, so whole vectors may be computed;
                // what is beyond the last row is dropped.
                resize(&mut scratch.row, stride * head_width);
                multiply_transposed(
                    Matrix::new(weights, stride),
                    Matrix::new(dattended, width),
                    &mut scratch.row,
                    head_width,
                    (stride, n, head_width),
                    Into::Replaced,
                );
                copy_rows(&scratch.row, head_width, &mut dall[value..], 3 * width, n);
                turn(
                    &all[value..],
                    3 * width,
                    (n, head_width),
                    stride,
                    &mut scratch.turned,
                );
                resize(&mut scratch.dattention, n * stride);
                multiply(
                    Matrix::new(dattended, width),
                    Matrix::new(&scratch.turned, stride),
                    &mut scratch.dattention,
                    stride,
                    (n, head_width, stride),
                    Into::Replaced,
                );
                // Through the softmax, to the products of queries and keys.
                let drows = scratch.dattention.chunks_exact_mut(stride);
                for (dweights, weights) in drows.zip(weights.chunks_exact(stride)) {
                    softmax_backward(weights, dweights, scale);
                }
                multiply(
                    Matrix::new(&scratch.dattention, stride),
                    Matrix::new(&all[key..], 3 * width),
                    &mut dall[query..],
                    3 * width,
                    (n, n, head_width),
                    Into::Replaced,
                );
                multiply_transposed(
                    Matrix::new(&scratch.dattention, stride),
                    Matrix::new(&all[query..], 3 * width),
                    &mut scratch.row,
                    head_width,
                    (stride, n, head_width),
                    Into::Replaced,
                );
                copy_rows(&scratch.row, head_width, &mut dall[key..], 3 * width, n);
            }
        }
        multiply_transposed(
            Matrix::new(&tape.attention_norm, width),
            Matrix::new(&scratch.dquery_key_value, 3 * width),
            &mut gradient[offsets.query_key_value..],
            3 * width,
            (width, rows, 3 * width),
            Into::Added,
        );
        multiply(
            Matrix::new(&scratch.dquery_key_value, 3 * width),
            Matrix::new(&turned.query_key_value, width),
            &mut scratch.dnorm,
            width,
            (rows, 3 * width, width),
            Into::Replaced,
        );
        normalize_rows_backward(
            &tape.stream,
            &values[offsets.attention_norm..][..width],
            &tape.attention_inverse,
            &scratch.dnorm,
            &mut scratch.dstream,
            &mut gradient[offsets.attention_norm..][..width],
            &mut scratch.row,
        );
    }

    fn embed_backward(&mut self, network: &Network<R>, gradient: &mut [R]) {
        let width = self.shape.width;
        let (tokens, positions) = gradient.split_at_mut(network.offsets().position_embedding);
        let all = self.scratch.dstream.chunks_exact(width);
        for (dstream, (token, position, _)) in all.zip(&self.rows) {
            let token = &mut tokens[usize::from(*token) * width..][..width];
            let position = &mut positions[position * width..][..width];
            for ((token, position), dstream) in token.iter_mut().zip(position).zip(dstream) {
                *token += *dstream;
                *position += *dstream;
            }
        }
    }
}

/// Gives a buffer a length. Its values are written afterwards.
fn resize<R: Real>(buffer: &mut Vec<R>, length: usize) {
    buffer.resize(length, R::ZERO);
}

fn normalize_rows<R: Real>(x: &[R], gain: &[R], out: &mut [R], inverses: &mut Vec<R>) {
    let width = gain.len();
    inverses.clear();
    let rows = x.chunks_exact(width).zip(out.chunks_exact_mut(width));
    inverses.extend(rows.map(|(x, out)| normalize(x, gain, out)));
}

#[allow(
    clippy::too_many_arguments,
    reason = "the arguments of the norm, and its gradients"
)]
fn normalize_rows_backward<R: Real>(
    x: &[R],
    gain: &[R],
    inverses: &[R],
    dout: &[R],
    dx: &mut [R],
    dgain: &mut [R],
    scratch: &mut Vec<R>,
) {
    let width = gain.len();
    scratch.resize(width.max(scratch.len()), R::ZERO);
    let rows = x.chunks_exact(width).zip(dout.chunks_exact(width));
    let rows = rows.zip(dx.chunks_exact_mut(width)).zip(inverses);
    for (((x, dout), dx), inverse) in rows {
        normalize_backward(x, gain, *inverse, dout, dx, dgain, &mut scratch[..width]);
    }
}

/// Writes the transposed of a part of a matrix, with rows padded by zeros.
fn turn<R: Real>(
    part: &[R],
    part_stride: usize,
    (rows, columns): (usize, usize),
    stride: usize,
    out: &mut Vec<R>,
) {
    out.clear();
    out.resize(columns * stride, R::ZERO);
    for (row, values) in part.chunks(part_stride).take(rows).enumerate() {
        for (column, value) in values.iter().take(columns).enumerate() {
            out[column * stride + row] = *value;
        }
    }
}

fn copy_rows<R: Real>(from: &[R], from_stride: usize, to: &mut [R], to_stride: usize, rows: usize) {
    let from = from.chunks_exact(from_stride);
    for (from, to) in from.zip(to.chunks_mut(to_stride)).take(rows) {
        if let Some(to) = to.get_mut(..from.len()) {
            to.copy_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::random::Random;

    use super::*;
    use crate::weights::Weights;

    const SHAPE: Shape = Shape {
        vocabulary: 11,
        context: 9,
        width: 16,
        heads: 2,
        layers: 2,
    };

    fn loss(network: &Network<f64>, tape: &mut Tape<f64>, factors: &[f64]) -> f64 {
        let sequences: [&[u8]; 3] = [&[1, 2, 3, 4, 10], &[5, 5], &[0, 9, 8, 7, 6, 5, 4, 3, 2, 1]];
        tape.forward(network, &sequences, 0.8).unwrap();
        let log_probs = tape.log_probs().iter();
        log_probs
            .zip(factors)
            .map(|(log_prob, factor)| log_prob * factor)
            .sum()
    }

    #[test]
    fn gradients_are_the_finite_differences() {
        let mut random = Random::new(5);
        let weights: Weights<f64> = Weights::random(SHAPE, &mut random).unwrap();
        let mut network = Network::new(weights);
        let mut tape = Tape::new(SHAPE);
        let factors: Vec<f64> = (0..14).map(|_| random.float01() - 0.4).collect();
        loss(&network, &mut tape, &factors);
        let mut gradient = vec![0.0; SHAPE.parameters()];
        tape.backward(&network, &factors, &mut gradient);
        for tensor in SHAPE.tensors() {
            for _ in 0..12 {
                let index = tensor.range.start + random.below(tensor.range.len() as u64) as usize;
                let step = 1e-5;
                network.update(|values| values[index] += step).unwrap();
                let above = loss(&network, &mut tape, &factors);
                network
                    .update(|values| values[index] -= 2.0 * step)
                    .unwrap();
                let below = loss(&network, &mut tape, &factors);
                network.update(|values| values[index] += step).unwrap();
                let expected = (above - below) / (2.0 * step);
                let error = (gradient[index] - expected).abs();
                assert!(
                    error <= 1e-7 * expected.abs().max(1.0),
                    "{}: {} instead of {expected}",
                    tensor.name.text(),
                    gradient[index]
                );
            }
        }
    }

    #[test]
    fn a_sequence_does_not_depend_on_those_beside_it() {
        let weights: Weights = Weights::random(SHAPE, &mut Random::new(1)).unwrap();
        let network = Network::new(weights);
        let mut tape = Tape::new(SHAPE);
        tape.forward(&network, &[&[1, 2, 3, 4, 5]], 1.0).unwrap();
        let alone = tape.log_probs().to_vec();
        let others: [&[u8]; 3] = [&[3, 3, 3], &[1, 2, 3, 4, 5], &[9, 8, 7, 6, 5, 4]];
        tape.forward(&network, &others, 1.0).unwrap();
        assert_eq!(tape.log_probs()[2..6], alone);
        // What comes later changes nothing that was before.
        tape.forward(&network, &[&[1, 2, 3, 4, 0, 0, 0, 0]], 1.0)
            .unwrap();
        assert_eq!(tape.log_probs()[..3], alone[..3]);
    }

    #[test]
    fn sequences_that_do_not_fit_are_refused() {
        let weights: Weights = Weights::random(SHAPE, &mut Random::new(1)).unwrap();
        let network = Network::new(weights);
        let mut tape = Tape::new(SHAPE);
        let mut refuse = |tokens: &[u8]| tape.forward(&network, &[tokens], 1.0).unwrap_err();
        assert_eq!(
            refuse(&[1; 11]),
            TapeError::Length {
                tokens: 11,
                limit: 10
            }
        );
        assert_eq!(
            refuse(&[1]),
            TapeError::Length {
                tokens: 1,
                limit: 10
            }
        );
        let unknown = TapeError::Token {
            token: 11,
            vocabulary: 11,
        };
        assert_eq!(refuse(&[1, 11]), unknown);
    }
}
