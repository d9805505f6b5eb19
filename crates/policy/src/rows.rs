//! Functions of single rows: root-mean-square norm, softmax, entropy.

use crate::lanes::{Lanes, dot, each, each_with, each_with_both, highest};
use crate::real::Real;

const NORM_EPSILON: f64 = 1e-5;

/// out = x / rms(x) · gain; returns 1 / rms(x).
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn normalize<R: Real>(x: &[R], gain: &[R], out: &mut [R]) -> R {
    let mean = dot(x, x) / R::of(x.len() as f64);
    let inverse = R::ONE / (mean + R::of(NORM_EPSILON)).sqrt();
    let factor = R::Lanes::splat(inverse);
    each_with_both(out, (x, gain), |_, x, gain| x.mul(factor).mul(gain));
    inverse
}

/// Adds the gradient of [`normalize`] to `dx` and `dgain`. `scratch` has the length of a row.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn normalize_backward<R: Real>(
    x: &[R],
    gain: &[R],
    inverse: R,
    dout: &[R],
    dx: &mut [R],
    dgain: &mut [R],
    scratch: &mut [R],
) {
    each_with_both(scratch, (dout, gain), |_, dout, gain| dout.mul(gain));
    let mean = dot(scratch, x) / R::of(x.len() as f64);
    let factor = R::Lanes::splat(mean * inverse * inverse * inverse);
    let inverse = R::Lanes::splat(inverse);
    each_with_both(dx, (x, scratch), |dx, x, scaled| {
        dx.add(scaled.mul(inverse).sub(x.mul(factor)))
    });
    each_with_both(dgain, (dout, x), |dgain, dout, x| {
        dgain.add(dout.mul(x).mul(inverse))
    });
}

/// Replaces values by their softmax. Returns the highest value, and the sum of the exponentials of what the values were
/// above it; [`log_normalizer`] is computed of them.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn softmax<R: Real>(values: &mut [R]) -> (R, R) {
    let highest = highest(values);
    let shift = R::Lanes::splat(highest);
    each(values, |lanes| lanes.sub(shift).exp());
    let mut sum = R::ZERO;
    for value in values.iter() {
        sum += *value;
    }
    scale_all(values, R::ONE / sum);
    (highest, sum)
}

/// The logarithm of the sum of the exponentials of values, from what [`softmax`] returned.
pub fn log_normalizer<R: Real>((highest, sum): (R, R)) -> R {
    highest + sum.ln()
}

/// The gradient of a softmax and of a factor before it: of its results, `row`, and of those by the loss, `drow`, which are
/// replaced.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn softmax_backward<R: Real>(row: &[R], drow: &mut [R], factor: R) {
    let mean = R::Lanes::splat(dot(drow, row));
    let factor = R::Lanes::splat(factor);
    each_with(drow, row, |drow, row| row.mul(drow.sub(mean)).mul(factor));
}

/// Multiplies all by a factor.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn scale_all<R: Real>(values: &mut [R], factor: R) {
    let factor = R::Lanes::splat(factor);
    each(values, |lanes| lanes.mul(factor));
}

/// ReLU: replaces negative numbers by 0. NaN stays NaN.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn rectify<R: Real>(values: &mut [R]) {
    let zero = R::Lanes::splat(R::ZERO);
    each(values, |lanes| lanes.highest(zero));
}

/// The gradient of [`rectify`], of whose results `values` are.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn rectify_backward<R: Real>(values: &[R], dvalues: &mut [R]) {
    each_with(dvalues, values, |dvalue, value| {
        dvalue.where_positive(value)
    });
}

/// The distribution of the next token: probabilities, and what log probabilities are computed from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenDistribution {
    pub probabilities: Vec<f32>,
    /// Logits divided by the temperature.
    pub scaled: Vec<f32>,
    /// The logarithm of the sum of their exponentials.
    pub normalizer: f32,
}

impl TokenDistribution {
    /// The distribution of logits at a temperature above 0.
    pub fn of(logits: &[f32], temperature: f32) -> Self {
        let scale = 1.0 / temperature;
        let scaled: Vec<f32> = logits.iter().map(|logit| logit * scale).collect();
        let mut probabilities = scaled.clone();
        let normalizer = log_normalizer(softmax(&mut probabilities));
        TokenDistribution {
            probabilities,
            scaled,
            normalizer,
        }
    }

    /// The log probability of a token; −∞ if there is no such token.
    pub fn log_prob(&self, token: usize) -> f32 {
        let scaled = self.scaled.get(token).copied();
        scaled.map_or(f32::NEG_INFINITY, |scaled| scaled - self.normalizer)
    }

    /// The entropy in nats.
    pub fn entropy(&self) -> f32 {
        entropy(&self.probabilities, &self.scaled, self.normalizer)
    }
}

/// The entropy of a softmax in nats: normaliser − Σ p·x.
#[inline]
pub fn entropy<R: Real>(probabilities: &[R], scaled: &[R], normalizer: R) -> R {
    let mut mean = R::ZERO;
    for (probability, scaled) in probabilities.iter().zip(scaled) {
        mean += *probability * *scaled;
    }
    normalizer - mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_logits_have_the_entropy_of_their_number() {
        let even = TokenDistribution::of(&[2.0; 4], 0.7);
        assert!((even.entropy() - 4.0_f32.ln()).abs() < 1e-6);
        assert!((even.log_prob(3) + 4.0_f32.ln()).abs() < 1e-6);
        assert_eq!(even.log_prob(4), f32::NEG_INFINITY);
    }

    #[test]
    fn a_low_temperature_sharpens() {
        let logits = [0.0, 1.0];
        let [warm, cold] = [1.0, 0.2].map(|t| TokenDistribution::of(&logits, t).probabilities[1]);
        assert!((warm - 0.731_058_6).abs() < 1e-6);
        assert!((cold - 0.993_307_1).abs() < 1e-6);
    }
}
