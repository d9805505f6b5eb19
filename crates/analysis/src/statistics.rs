//! Statistics of evaluation results: means with confidence intervals, and success probabilities over several trials.
//!
//! Pure functions of samples. Intervals are two-sided, of a given confidence (0.95 is usual).

mod distribution;
mod paired;

use std::collections::BTreeMap;

pub use paired::{Paired, sign_test};

use distribution::{normal_quantile, student_quantile};

/// A mean with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the samples.
    pub mean: f64,
    /// The interval's lower end; `None` if it is unknown (for a single sample).
    pub low: Option<f64>,
    /// The interval's upper end; `None` if it is unknown.
    pub high: Option<f64>,
    /// The number of samples.
    pub count: usize,
}

/// The mean of independent samples, by Student's distribution; `None` without samples.
pub fn mean(samples: &[f64], confidence: f64) -> Option<Estimate> {
    let count = samples.len();
    if count == 0 {
        return None;
    }
    let n = count as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let half = (count > 1).then(|| {
        let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        student_quantile(0.5 + confidence / 2.0, n - 1.0) * error
    });
    Some(Estimate {
        mean,
        low: half.map(|half| mean - half),
        high: half.map(|half| mean + half),
        count,
    })
}

/// Half-widths of confidence intervals of means, by Student's distribution. Caches the quantiles: a table has many
/// means of the same number of samples.
#[derive(Clone, Debug)]
pub struct HalfWidths {
    confidence: f64,
    quantiles: BTreeMap<usize, f64>,
}

impl HalfWidths {
    /// Creates a cache for a confidence.
    pub fn new(confidence: f64) -> HalfWidths {
        HalfWidths {
            confidence,
            quantiles: BTreeMap::new(),
        }
    }

    /// The half-width for a mean of `count` samples with this standard error; `None` for fewer than two samples.
    pub fn of(&mut self, standard_error: f64, count: usize) -> Option<f64> {
        let degrees = count.checked_sub(1).filter(|degrees| *degrees > 0)?;
        let confidence = self.confidence;
        let quantile = self
            .quantiles
            .entry(degrees)
            .or_insert_with(|| student_quantile(0.5 + confidence / 2.0, degrees as f64));
        Some(*quantile * standard_error)
    }
}

/// The mean over tasks with several trials each. Trials of one task are correlated, so the tasks count as samples; with a
/// single task its trials do.
pub fn mean_over_tasks(tasks: &[Vec<f64>], confidence: f64) -> Option<Estimate> {
    let tried: Vec<&Vec<f64>> = tasks.iter().filter(|trials| !trials.is_empty()).collect();
    if let [only] = tried.as_slice() {
        return mean(only, confidence);
    }
    let means: Vec<f64> = tried
        .iter()
        .map(|trials| trials.iter().sum::<f64>() / trials.len() as f64)
        .collect();
    mean(&means, confidence)
}

/// The share of successes, with Wilson's interval, which stays within 0 and 1; `None` without trials.
pub fn share(successes: usize, count: usize, confidence: f64) -> Option<Estimate> {
    if count == 0 {
        return None;
    }
    let share = successes.min(count) as f64 / count as f64;
    Some(wilson(share, count as f64, count, confidence))
}

/// Wilson's interval of a share among `n` trials.
fn wilson(share: f64, n: f64, count: usize, confidence: f64) -> Estimate {
    let z = normal_quantile(0.5 + confidence / 2.0);
    let squared = z * z / n;
    let centre = (share + squared / 2.0) / (1.0 + squared);
    let half = z / (1.0 + squared) * (share * (1.0 - share) / n + squared / (4.0 * n)).sqrt();
    Estimate {
        mean: share,
        low: Some((centre - half).max(0.0)),
        high: Some((centre + half).min(1.0)),
        count,
    }
}

/// The share of successes over tasks with several trials each (successes and trials of each): the mean over tasks, with
/// Wilson's interval. Trials of one task are correlated, so the interval uses an [effective number](effective_trials) of
/// trials.
pub fn share_over_tasks(tasks: &[(usize, usize)], confidence: f64) -> Option<Estimate> {
    let tried: Vec<(usize, usize)> = tasks.iter().copied().filter(|task| task.1 > 0).collect();
    if let [(successes, count)] = tried.as_slice() {
        return share(*successes, *count, confidence);
    }
    let shares: Vec<f64> = tried
        .iter()
        .map(|(successes, count)| (*successes).min(*count) as f64 / *count as f64)
        .collect();
    let trials: usize = tried.iter().map(|(_, count)| count).sum();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let effective = effective_trials(&shares, trials);
    (!shares.is_empty()).then(|| wilson(mean, effective, shares.len(), confidence))
}

/// The number of independent trials that tell as much as those of several tasks with these shares of successes. The more
/// the tasks differ from each other, the fewer: at least the number of tasks, at most the number of trials.
///
/// The spread is estimated as if there were one more task that always succeeds and one that never does. Without them, tasks
/// that all fail have no spread and no estimate, and would need another rule than those of which one trial succeeds.
fn effective_trials(shares: &[f64], trials: usize) -> f64 {
    let tasks = shares.len() as f64;
    let all = || shares.iter().copied().chain([0.0, 1.0]);
    let count = tasks + 2.0;
    let mean = all().sum::<f64>() / count;
    let squares: f64 = all().map(|share| (share - mean).powi(2)).sum();
    let variance = squares / (count - 1.0) / count;
    // Tasks whose trials always agree give the number of tasks, with one for the two additional tasks.
    (mean * (1.0 - mean) / variance - 1.0).clamp(tasks, (trials as f64).max(tasks))
}

/// pass@k: an unbiased estimate of the probability that at least one of `k` trials succeeds, from `successes` among
/// `count` trials: 1 − C(n−c, k) / C(n, k). `None` if there were fewer than `k`.
pub fn pass_at(k: usize, successes: usize, count: usize) -> Option<f64> {
    let failures = count.checked_sub(successes)?;
    Some(1.0 - chosen_among(k, failures, count)?)
}

/// pass^k: an unbiased estimate of the probability that all of `k` trials succeed: C(c, k) / C(n, k). `None` if there
/// were fewer than `k`.
pub fn pass_all(k: usize, successes: usize, count: usize) -> Option<f64> {
    count.checked_sub(successes)?;
    chosen_among(k, successes, count)
}

/// C(part, k) / C(whole, k): the probability that `k` draws from the whole all belong to the part.
fn chosen_among(k: usize, part: usize, whole: usize) -> Option<f64> {
    if k == 0 || k > whole {
        return None;
    }
    // Factor by factor: the binomials themselves would overflow.
    let factors = (0..k).map(|drawn| part.saturating_sub(drawn) as f64 / (whole - drawn) as f64);
    Some(factors.product())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
    }

    /// C(n, k) by Pascal's rule.
    fn binomial(n: u64, k: u64) -> f64 {
        (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product()
    }

    #[test]
    fn shares_over_tasks_lie_between_tasks_and_tries() {
        let wide = |tasks: &[(usize, usize)]| {
            let found = share_over_tasks(tasks, 0.95).unwrap();
            (found.mean, found.high.unwrap() - found.low.unwrap())
        };
        assert_eq!(share_over_tasks(&[], 0.95), None);
        assert_eq!(share_over_tasks(&[(0, 0)], 0.95), None);
        assert_eq!(share_over_tasks(&[(3, 4), (0, 0)], 0.95), share(3, 4, 0.95));
        // One trial for each task: the trials are the samples.
        let single = share_over_tasks(&[(1, 1), (0, 1), (1, 1)], 0.95).unwrap();
        let plain = share(2, 3, 0.95).unwrap();
        assert!(close(single.low.unwrap(), plain.low.unwrap()));
        // Trials of a task that always agree count as one trial.
        let (mean, agreeing) = wide(&[(4, 4), (0, 4), (4, 4)]);
        assert!(close(mean, 2.0 / 3.0));
        assert!(close(agreeing, wide(&[(1, 1), (0, 1), (1, 1)]).1));
        // Trials that differ within tasks add information.
        assert!(wide(&[(3, 4), (2, 4), (3, 4)]).1 < agreeing);
        // All successes: as many samples as tasks.
        let all = share_over_tasks(&[(4, 4), (4, 4)], 0.95).unwrap();
        assert!(close(
            all.low.unwrap(),
            share(2, 2, 0.95).unwrap().low.unwrap()
        ));
    }

    #[test]
    fn a_rate_of_zero_has_an_interval_like_that_of_a_small_one() {
        let high = |successful: usize| {
            let tasks = (0..78).map(|task| (usize::from(task < successful), 4));
            let found = share_over_tasks(&tasks.collect::<Vec<_>>(), 0.95).unwrap();
            found.high.unwrap()
        };
        let highs: Vec<f64> = (0..8).map(high).collect();
        assert!(highs[0] > 0.04 && highs[0] < 0.05, "{highs:?}");
        // One success more moves the upper end by less than half a point.
        for pair in highs.windows(2) {
            assert!((pair[1] - pair[0]).abs() < 0.005, "{highs:?}");
        }
    }

    #[test]
    fn means_have_the_intervals_of_student() {
        // t(0.975, 4) = 2.7764451051977987; the standard error of these is sqrt(2.5 / 5).
        let found = mean(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        let half = 2.776_445_105_197_798_7 * 0.5_f64.sqrt();
        assert!(close(found.mean, 3.0) && found.count == 5);
        assert!(close(found.low.unwrap(), 3.0 - half), "{found:?}");
        assert!(close(found.high.unwrap(), 3.0 + half));
        assert_eq!(mean(&[], 0.95), None);
        let single = mean(&[0.5], 0.95).unwrap();
        assert_eq!((single.mean, single.low, single.high), (0.5, None, None));
        let same = mean(&[1.0, 1.0], 0.95).unwrap();
        assert_eq!((same.low, same.high), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn tries_of_one_task_are_not_samples_of_many() {
        let alike = vec![vec![0.0; 4], vec![1.0; 4]];
        let found = mean_over_tasks(&alike, 0.95).unwrap();
        assert_eq!((found.mean, found.count), (0.5, 2));
        let uneven = vec![vec![1.0], vec![0.0, 0.0, 0.0], vec![]];
        assert_eq!(
            mean_over_tasks(&uneven, 0.95).map(|found| found.mean),
            Some(0.5)
        );
        let single = mean_over_tasks(&[vec![0.0, 1.0]], 0.95).unwrap();
        assert_eq!(single.count, 2);
    }

    #[test]
    fn shares_have_the_intervals_of_wilson() {
        // 8 of 10: 0.49016247153664505 to 0.9433178485456247; 0 of 10: 0 to 0.27753279986288665.
        let found = share(8, 10, 0.95).unwrap();
        assert!(
            close(found.low.unwrap(), 0.490_162_471_536_645_05),
            "{found:?}"
        );
        assert!(
            close(found.high.unwrap(), 0.943_317_848_545_624_7),
            "{found:?}"
        );
        let none = share(0, 10, 0.95).unwrap();
        assert_eq!(none.low, Some(0.0));
        assert!(
            close(none.high.unwrap(), 0.277_532_799_862_886_65),
            "{none:?}"
        );
        assert_eq!(share(0, 0, 0.95), None);
    }

    #[test]
    fn known_chances() {
        // 3 of 10 succeeded: pass@1 = 0.3, pass@2 = 1 - C(7,2)/C(10,2) = 1 - 21/45.
        assert!(close(pass_at(1, 3, 10).unwrap(), 0.3));
        assert!(close(pass_at(2, 3, 10).unwrap(), 1.0 - 21.0 / 45.0));
        assert_eq!(pass_at(8, 3, 10), Some(1.0));
        assert!(close(pass_all(2, 3, 10).unwrap(), 3.0 / 45.0));
        assert_eq!(pass_all(4, 3, 10), Some(0.0));
        assert_eq!(pass_all(10, 10, 10), Some(1.0));
        for none in [
            pass_at(0, 1, 2),
            pass_at(3, 1, 2),
            pass_all(1, 3, 2),
            pass_at(1, 3, 2),
        ] {
            assert_eq!(none, None);
        }
        assert!(pass_at(500, 10, 100_000).is_some_and(|chance| chance > 0.0 && chance < 1.0));
    }

    proptest! {
        #[test]
        fn chances_are_those_of_the_binomials(n in 1_u64..25, c in 0_u64..25, k in 1_u64..25) {
            prop_assume!(c <= n && k <= n);
            let at = pass_at(k as usize, c as usize, n as usize).unwrap();
            let all = pass_all(k as usize, c as usize, n as usize).unwrap();
            let none = if n - c < k { 0.0 } else { binomial(n - c, k) / binomial(n, k) };
            let every = if c < k { 0.0 } else { binomial(c, k) / binomial(n, k) };
            prop_assert!((at - (1.0 - none)).abs() < 1e-9);
            prop_assert!((all - every).abs() < 1e-9);
            prop_assert!(all <= at + 1e-12);
        }

        #[test]
        fn means_lie_within_their_intervals(samples in prop::collection::vec(-1e3..1e3, 2..30)) {
            let found = mean(&samples, 0.95).unwrap();
            prop_assert!(found.low.unwrap() <= found.mean && found.mean <= found.high.unwrap());
        }
    }
}
