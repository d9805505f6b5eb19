//! pass^k: the probability that k tries at a task all succeed.

use num_bigint::BigInt;
use volary_core::json::Integer;

use crate::calculator::expression::{Budget, EvaluationError, Integer as Whole, divide};

/// The tolerance of a success: its maximum distance from a reward of 1.
const TOLERANCE: f64 = 1e-6;

/// One try at a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    pub task: Integer,
    /// The number of the try.
    pub trial: Integer,
    pub reward: f64,
}

/// Why pass^k cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// There are no tries.
    #[error("There are no results.")]
    NoResults,
    /// There are too many tries to compute with.
    #[error("There are too many trials.")]
    TooMany,
}

impl From<EvaluationError> for PassError {
    fn from(_: EvaluationError) -> Self {
        PassError::TooMany
    }
}

/// pass^1, pass^2, … up to the number of different trials of all tasks.
///
/// Computed like the original: the number of trials is that of all tasks together, and a duplicate row
/// counts twice, so a value can exceed 1.
///
/// # Errors
///
/// There are no tries, or too many.
pub fn pass_hat_k(tries: &[Try]) -> Result<Vec<f64>, PassError> {
    let mut trials: Vec<&Integer> = Vec::new();
    // In order of first appearance, which is the order of summation.
    let mut tasks: Vec<(&Integer, u64)> = Vec::new();
    for one in tries {
        let success = (1.0 - TOLERANCE..=1.0 + TOLERANCE).contains(&one.reward);
        if !trials.contains(&&one.trial) {
            trials.push(&one.trial);
        }
        match tasks.iter_mut().find(|(task, _)| **task == one.task) {
            Some((_, successes)) => *successes += u64::from(success),
            None => tasks.push((&one.task, u64::from(success))),
        }
    }
    if tasks.is_empty() {
        return Err(PassError::NoResults);
    }
    let trials = trials.len() as u64;
    (1..=trials)
        .map(|k| {
            let all = choose(trials, k);
            let sum = tasks.iter().try_fold(0.0, |sum, (_, successes)| {
                let successes = Whole::from(choose(*successes, k));
                let share = divide(successes, Whole::from(all.clone()), &mut Budget::default())?;
                Ok::<f64, PassError>(sum + share)
            })?;
            Ok(sum / tasks.len() as f64)
        })
        .collect()
}

/// The binomial coefficient: the number of ways to choose `k` of `n`.
fn choose(n: u64, k: u64) -> BigInt {
    if k > n {
        return BigInt::from(0);
    }
    let k = k.min(n - k);
    (0..k).fold(BigInt::from(1), |product, place| {
        product * (n - place) / (place + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(rewards: &[(i64, i64, f64)]) -> Vec<Try> {
        let rewards = rewards.iter();
        rewards
            .map(|(task, trial, reward)| Try {
                task: (*task).into(),
                trial: (*trial).into(),
                reward: *reward,
            })
            .collect()
    }

    #[test]
    fn one_task_that_succeeds_half_the_time() {
        let tries = tries(&[(0, 0, 1.0), (0, 1, 1.0), (0, 2, 0.0), (0, 3, 0.0)]);
        assert_eq!(pass_hat_k(&tries), Ok(vec![0.5, 1.0 / 6.0, 0.0, 0.0]));
    }

    #[test]
    fn rows_that_occur_twice_count_twice() {
        assert_eq!(
            pass_hat_k(&tries(&[(0, 0, 1.0), (0, 0, 1.0)])),
            Ok(vec![2.0])
        );
        assert_eq!(pass_hat_k(&[]), Err(PassError::NoResults));
    }
}
