//! Paired comparison of two sides on the same tasks: wins, ties and losses, the mean difference, and its significance.

use super::{Estimate, mean};

/// The comparison of two sides over the tasks that both tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The number of tasks at which the first side is better.
    pub wins: usize,
    /// The number of tasks at which both are equal.
    pub ties: usize,
    /// The number of tasks at which the second side is better.
    pub losses: usize,
    /// The mean of first minus second.
    pub difference: Estimate,
    /// The p-value of the sign test: the probability of wins and losses at least as uneven, if either side is equally
    /// likely to win a task.
    pub p_value: f64,
}

/// Smaller differences are ties: sums of rewards have rounding errors.
const TIE: f64 = 1e-9;

impl Paired {
    /// Compares the values of both sides, task by task; `None` without tasks.
    pub fn of(pairs: &[(f64, f64)], confidence: f64) -> Option<Paired> {
        let differences: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
        let wins = differences.iter().filter(|one| **one > TIE).count();
        let losses = differences.iter().filter(|one| **one < -TIE).count();
        Some(Paired {
            wins,
            ties: pairs.len() - wins - losses,
            losses,
            difference: mean(&differences, confidence)?,
            p_value: sign_test(wins, losses),
        })
    }
}

/// The two-sided sign test: the probability that among `wins + losses` fair coin flips the rarer side occurs at most as
/// often as observed. 1 if there are none.
pub fn sign_test(wins: usize, losses: usize) -> f64 {
    let (count, rarer) = (wins + losses, wins.min(losses));
    // Logarithms, because the powers of a half underflow.
    let mut log_chance = -(count as f64) * std::f64::consts::LN_2;
    let mut chance = log_chance.exp();
    for k in 0..rarer {
        log_chance += ((count - k) as f64 / (k + 1) as f64).ln();
        chance += log_chance.exp();
    }
    (2.0 * chance).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sign_tests() {
        // 2 × (1 + 5) / 32 and 2 × (1 + 10 + 45) / 1024.
        for (wins, losses, expected) in [
            (0, 0, 1.0),
            (3, 3, 1.0),
            (4, 1, 0.375),
            (1, 4, 0.375),
            (8, 2, 0.109_375),
            (5, 0, 0.0625),
        ] {
            let found = sign_test(wins, losses);
            assert!((found - expected).abs() < 1e-12, "{wins} {losses}: {found}");
        }
        // Far beyond the range of 2^-n.
        let even = sign_test(2_500, 2_500);
        assert!((even - 1.0).abs() < 1e-9, "{even}");
        assert!(sign_test(3_000, 2_000) < 1e-40);
    }

    #[test]
    fn pairs_are_compared_task_by_task() {
        let found = Paired::of(
            &[(1.0, 0.0), (1.0, 1.0), (0.0, 0.5), (0.1 + 0.2, 0.3)],
            0.95,
        );
        let found = found.unwrap();
        assert_eq!((found.wins, found.ties, found.losses), (1, 2, 1));
        assert!((found.difference.mean - 0.125).abs() < 1e-9);
        assert_eq!((found.difference.count, found.p_value), (4, 1.0));
        assert_eq!(Paired::of(&[], 0.95), None);
    }
}
