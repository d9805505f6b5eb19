//! Advantages from rewards.

use crate::knobs::Estimator;

/// What is added to the standard deviation of a group.
pub const EPSILON: f64 = 1e-6;

/// The advantages of rewards, which are in the order of their groups.
pub fn advantages(rewards: &[f64], group: usize, estimator: Estimator) -> Vec<f64> {
    let mean = |rewards: &[f64]| rewards.iter().sum::<f64>() / rewards.len().max(1) as f64;
    match estimator {
        Estimator::Reinforce => rewards.to_vec(),
        Estimator::ReinforceBaseline => {
            let mean = mean(rewards);
            rewards.iter().map(|reward| reward - mean).collect()
        }
        Estimator::Grpo | Estimator::DrGrpo => {
            let mut all = Vec::with_capacity(rewards.len());
            for rewards in rewards.chunks(group.max(1)) {
                let mean = mean(rewards);
                // A mean of equal numbers can differ from them in the last bit, and must not become an advantage.
                let is_dead = rewards.iter().all(|reward| *reward == rewards[0]);
                let deviation = || {
                    let squares: f64 = rewards
                        .iter()
                        .map(|reward| (reward - mean) * (reward - mean))
                        .sum();
                    (squares / (rewards.len() - 1) as f64).sqrt() + EPSILON
                };
                let divisor = match estimator {
                    Estimator::Grpo if !is_dead => deviation(),
                    _ => 1.0,
                };
                all.extend(rewards.iter().map(|reward| {
                    if is_dead {
                        0.0
                    } else {
                        (reward - mean) / divisor
                    }
                }));
            }
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_estimator_follows_its_definition() {
        let rewards = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let grpo = advantages(&rewards, 4, Estimator::Grpo);
        // Deviation of two of four with n − 1: √(1/3).
        assert!((grpo[0] - 0.5 / (1.0_f64 / 3.0).sqrt()).abs() < 1e-5);
        assert_eq!(
            grpo[4..],
            [0.0; 4],
            "a group of equal rewards teaches nothing"
        );
        let dr_grpo = advantages(&rewards, 4, Estimator::DrGrpo);
        assert_eq!(dr_grpo, [0.5, -0.5, -0.5, 0.5, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(advantages(&rewards, 4, Estimator::Reinforce), rewards);
        let baseline = advantages(&rewards, 4, Estimator::ReinforceBaseline);
        assert_eq!(baseline[..2], [0.25, -0.75]);
        assert_eq!(advantages(&[0.1, 0.1, 0.1], 3, Estimator::Grpo), [0.0; 3]);
        assert_eq!(advantages(&[0.7], 1, Estimator::Grpo), [0.0]);
    }
}
