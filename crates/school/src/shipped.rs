//! The warm starts that come with the program, as `cargo run --release -p volary-school --example warm_start` writes them.

use volary_policy::Weights;
use volary_policy::file::{FileError, read_8_bit};

const CALCULATOR: &[u8] = include_bytes!("../data/calculator.volp");
const COUNTER: &[u8] = include_bytes!("../data/counter.volp");
const HANDS: &[u8] = include_bytes!("../data/hands.volp");

/// The warm start of an environment; that of the calculator for a name that is not in the school.
///
/// # Errors
///
/// If the file is damaged, which the tests exclude.
pub fn shipped(environment: &str) -> Result<Weights, FileError> {
    read_8_bit(match environment {
        "counter" => COUNTER,
        "hands" => HANDS,
        _ => CALCULATOR,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learnables;
    use crate::run::shape;

    #[test]
    fn warm_starts_are_small_to_load() {
        for bytes in [CALCULATOR, COUNTER, HANDS] {
            assert!(bytes.len() < 30_000, "{}", bytes.len());
        }
    }

    #[test]
    fn every_environment_has_a_warm_start_of_its_shape() {
        for learnable in learnables() {
            let weights = shipped(learnable.environment()).unwrap();
            assert_eq!(weights.shape(), shape(&*learnable));
        }
    }
}
