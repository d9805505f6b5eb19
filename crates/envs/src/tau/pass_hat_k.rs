//! pass^k: the probability that k trials at a task all succeed.

use num_bigint::BigInt;
use volary_core::json::Integer;

use crate::calculator::expression::{Budget, EvaluationError, Integer as Whole, divide};

/// The tolerance of a success: its maximum distance from a reward of 1.
const TOLERANCE: f64 = 1e-6;

/// The result of one trial of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    pub task: Integer,
    /// The number of the trial.
    pub trial: Integer,
    pub reward: f64,
}

/// Why pass^k cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// There are no trials.
    #[error("There are no results.")]
    NoResults,
    /// There are too many trials to compute with.
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
/// There are no trials, or too many.
pub fn pass_hat_k(results: &[TrialResult]) -> Result<Vec<f64>, PassError> {
    let mut trials: Vec<&Integer> = Vec::new();
    // In order of first appearance, which is the order of summation.
    let mut tasks: Vec<(&Integer, u64)> = Vec::new();
    for one in results {
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
    (0..k).fold(BigInt::from(1), |product, i| product * (n - i) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(rewards: &[(i64, i64, f64)]) -> Vec<TrialResult> {
        let rewards = rewards.iter();
        rewards
            .map(|(task, trial, reward)| TrialResult {
                task: (*task).into(),
                trial: (*trial).into(),
                reward: *reward,
            })
            .collect()
    }

    #[test]
    fn one_task_that_succeeds_half_the_time() {
        let trials = trials(&[(0, 0, 1.0), (0, 1, 1.0), (0, 2, 0.0), (0, 3, 0.0)]);
        assert_eq!(pass_hat_k(&trials), Ok(vec![0.5, 1.0 / 6.0, 0.0, 0.0]));
    }

    #[test]
    fn rows_that_occur_twice_count_twice() {
        assert_eq!(
            pass_hat_k(&trials(&[(0, 0, 1.0), (0, 0, 1.0)])),
            Ok(vec![2.0])
        );
        assert_eq!(pass_hat_k(&[]), Err(PassError::NoResults));
    }
}
