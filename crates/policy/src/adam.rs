//! The optimiser.

use crate::real::Real;

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Adam (Kingma and Ba), with β₁ = 0.9, β₂ = 0.999, ε = 1e-8, and no weight decay.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam<R = f32> {
    /// The running means of the gradient and of its square.
    pub(crate) first: Vec<R>,
    pub(crate) second: Vec<R>,
    pub(crate) steps: u32,
}

impl<R: Real> Adam<R> {
    /// The optimiser of this many parameters, before its first step.
    pub fn new(parameters: usize) -> Self {
        Adam {
            first: vec![R::ZERO; parameters],
            second: vec![R::ZERO; parameters],
            steps: 0,
        }
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Changes weights against a gradient.
    pub fn step(&mut self, weights: &mut [R], gradient: &[R], learning_rate: f64) {
        self.steps += 1;
        let corrected_1 = 1.0 - power(BETA_1, self.steps);
        let corrected_2 = 1.0 - power(BETA_2, self.steps);
        let rate = R::of(learning_rate / corrected_1);
        let scale = R::of(1.0 / corrected_2);
        let epsilon = R::of(EPSILON);
        let (keep_1, add_1) = (R::of(BETA_1), R::of(1.0 - BETA_1));
        let (keep_2, add_2) = (R::of(BETA_2), R::of(1.0 - BETA_2));
        let means = self.first.iter_mut().zip(&mut self.second);
        for ((weight, gradient), (first, second)) in weights.iter_mut().zip(gradient).zip(means) {
            *first = keep_1 * *first + add_1 * *gradient;
            *second = keep_2 * *second + add_2 * *gradient * *gradient;
            let root = (*second * scale).sqrt();
            *weight = *weight - rate * *first / (root + epsilon);
        }
    }
}

/// Multiplied out, because the precision of `powi` differs between platforms.
fn power(base: f64, exponent: u32) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_size_of_the_learning_rate() {
        let mut weights = [1.0_f32, 1.0, 1.0];
        let mut adam = Adam::new(3);
        adam.step(&mut weights, &[1e-3, -5.0, 0.0], 0.1);
        assert!((weights[0] - 0.9).abs() < 1e-4);
        assert!((weights[1] - 1.1).abs() < 1e-6);
        assert_eq!(weights[2], 1.0);
    }

    #[test]
    fn it_finds_the_lowest_point_of_a_bowl() {
        let mut weights = [3.0_f32, -2.0];
        let mut adam = Adam::new(2);
        for _ in 0..2000 {
            let gradient = [2.0 * (weights[0] - 1.0), 20.0 * (weights[1] - 0.5)];
            adam.step(&mut weights, &gradient, 0.01);
        }
        assert!((weights[0] - 1.0).abs() < 1e-3 && (weights[1] - 0.5).abs() < 1e-3);
    }
}
