//! Loss and gradients equal those of the same network in PyTorch; see `tests/interop/policy_reference.py`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;

use serde::Deserialize;
use volary_policy::{Network, Shape, Tape, Weights};

const SHAPE: Shape = Shape {
    vocabulary: 11,
    context: 9,
    width: 16,
    heads: 2,
    layers: 2,
};

const SEQUENCES: [&[u8]; 3] = [&[1, 2, 3, 4, 10], &[5, 5], &[0, 9, 8, 7, 6, 5, 4, 3, 2, 1]];

#[derive(Deserialize)]
struct Golden {
    log_probs: Vec<f64>,
    factors: Vec<f64>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f64>>,
}

/// The weights that the Python program computes from their numbers.
fn weights() -> Weights {
    let mut values = Vec::new();
    for tensor in SHAPE.tensors() {
        values.extend(tensor.range.map(|number| {
            let value = (number * 7919 % 2003) as f64 / 2003.0 - 0.5;
            if tensor.name.is_gain() {
                (1.0 + value * 0.5) as f32
            } else {
                value as f32
            }
        }));
    }
    Weights::new(SHAPE, values).unwrap()
}

#[test]
fn loss_and_gradients_are_those_of_pytorch() {
    let golden: Golden = serde_json::from_str(include_str!("../golden/gradients.json")).unwrap();
    let network = Network::new(weights());
    let mut tape = Tape::new(SHAPE);
    tape.forward(&network, &SEQUENCES, 0.8).unwrap();
    let mut loss = 0.0;
    for ((found, expected), factor) in tape
        .log_probs()
        .iter()
        .zip(&golden.log_probs)
        .zip(&golden.factors)
    {
        assert!((f64::from(*found) - expected).abs() <= 1e-4 * expected.abs());
        loss += f64::from(*found) * factor;
    }
    assert!((loss - golden.loss).abs() <= 1e-4 * golden.loss.abs());
    let factors: Vec<f32> = golden.factors.iter().map(|factor| *factor as f32).collect();
    let mut gradient = vec![0.0; SHAPE.parameters()];
    tape.backward(&network, &factors, &mut gradient);
    for tensor in SHAPE.tensors() {
        let name = tensor.name.text();
        let expected = &golden.gradients[&name];
        let found = &gradient[tensor.range.clone()];
        assert_eq!(found.len(), expected.len());
        // Relative to the gradient of the parameter as a whole: single numbers can cancel out to nearly nothing.
        let size = (expected.iter().map(|value| value * value).sum::<f64>()
            / expected.len() as f64)
            .sqrt();
        for (found, expected) in found.iter().zip(expected) {
            let error = (f64::from(*found) - expected).abs();
            assert!(
                error <= 1e-4 * expected.abs().max(size),
                "{name}: {found} instead of {expected}"
            );
        }
    }
}
