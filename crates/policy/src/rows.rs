//! Functions of single rows: root-mean-square norm, softmax, entropy.

use crate::matrix::dot;
use crate::real::Real;

const NORM_EPSILON: f64 = 1e-5;

/// out = x / rms(x) · gain; returns 1 / rms(x).
#[inline]
pub fn normalize<R: Real>(x: &[R], gain: &[R], out: &mut [R]) -> R {
    let mean = dot(x, x) / R::of(x.len() as f64);
    let inverse = R::ONE / (mean + R::of(NORM_EPSILON)).sqrt();
    for ((out, x), gain) in out.iter_mut().zip(x).zip(gain) {
        *out = *x * inverse * *gain;
    }
    inverse
}

/// Adds the gradient of [`normalize`] to `dx` and `dgain`. `scratch` has the length of a row.
#[inline]
pub fn normalize_backward<R: Real>(
    x: &[R],
    gain: &[R],
    inverse: R,
    dout: &[R],
    dx: &mut [R],
    dgain: &mut [R],
    scratch: &mut [R],
) {
    for ((scratch, dout), gain) in scratch.iter_mut().zip(dout).zip(gain) {
        *scratch = *dout * *gain;
    }
    let mean = dot(scratch, x) / R::of(x.len() as f64);
    let factor = mean * inverse * inverse * inverse;
    for ((((dx, x), scratch), dout), dgain) in
        dx.iter_mut().zip(x).zip(scratch).zip(dout).zip(dgain)
    {
        *dx += *scratch * inverse - *x * factor;
        *dgain += *dout * *x * inverse;
    }
}

/// Replaces values by their softmax, and returns the logarithm of the normaliser of the values as they were.
#[inline]
pub fn softmax<R: Real>(values: &mut [R]) -> R {
    let mut highest = values.first().copied().unwrap_or_default();
    for value in values.iter() {
        if *value > highest {
            highest = *value;
        }
    }
    for value in values.iter_mut() {
        *value = (*value - highest).exp();
    }
    let mut sum = R::ZERO;
    for value in values.iter() {
        sum += *value;
    }
    let inverse = R::ONE / sum;
    for value in values.iter_mut() {
        *value = *value * inverse;
    }
    highest + sum.ln()
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
        let normalizer = softmax(&mut probabilities);
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
