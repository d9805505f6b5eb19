//! The distribution of a figure over samples.

/// Figures of a distribution. All but the counts are over finite values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The number of finite values.
    pub count: usize,
    /// The number of samples without a value.
    pub missing: usize,
    /// The number of NaN and infinite values.
    pub not_finite: usize,
    pub mean: Option<f64>,
    /// The standard deviation (with n − 1); `None` for fewer than two values.
    pub deviation: Option<f64>,
    /// The lowest value, the quartiles, and the highest value.
    pub marks: Option<[f64; 5]>,
}

impl Spread {
    /// The distribution of the values of samples; `None` is a sample without one.
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Spread {
        let mut spread = Spread::default();
        let mut finite = Vec::new();
        for value in values {
            match value {
                None => spread.missing += 1,
                Some(value) if value.is_finite() => finite.push(value),
                Some(_) => spread.not_finite += 1,
            }
        }
        spread.count = finite.len();
        if finite.is_empty() {
            return spread;
        }
        finite.sort_by(f64::total_cmp);
        let n = finite.len() as f64;
        let mean = finite.iter().sum::<f64>() / n;
        // Equal values have no deviation, whatever the rounding of the mean.
        let is_equal = finite.first() == finite.last();
        spread.mean = Some(if is_equal { finite[0] } else { mean });
        spread.deviation = (finite.len() > 1).then(|| {
            if is_equal {
                0.0
            } else {
                let squares: f64 = finite.iter().map(|value| (value - mean).powi(2)).sum();
                (squares / (n - 1.0)).sqrt()
            }
        });
        spread.marks = Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&finite, share)));
        spread
    }

    /// The lowest and the highest value.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.marks.map(|[low, .., high]| (low, high))
    }

    /// The middle value.
    pub fn median(&self) -> Option<f64> {
        self.marks.map(|[_, _, median, ..]| median)
    }
}

/// A quantile of sorted values, interpolated.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let low = position.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    let part = position - low as f64;
    sorted[low] + (sorted[high] - sorted[low]) * part
}

/// The number of values in each of some intervals of equal width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The start of the first and the end of the last interval.
    pub range: (f64, f64),
    pub counts: Vec<usize>,
}

impl Histogram {
    /// The histogram of the finite values, within a range; `None` without values. If all values are equal, there is one
    /// interval. Values outside of the range are in its outermost intervals.
    pub fn of(
        values: impl IntoIterator<Item = f64>,
        range: (f64, f64),
        bins: usize,
    ) -> Option<Histogram> {
        let (low, high) = range;
        let bins = if low < high { bins.max(1) } else { 1 };
        let mut counts = vec![0; bins];
        let width = (high - low) / bins as f64;
        for value in values.into_iter().filter(|value| value.is_finite()) {
            let bin = if width > 0.0 {
                // Casts saturate: values below the range are in the first interval.
                (((value - low) / width) as usize).min(bins - 1)
            } else {
                0
            };
            counts[bin] += 1;
        }
        let is_empty = counts.iter().all(|count| *count == 0);
        (!is_empty).then_some(Histogram { range, counts })
    }

    /// The start and the end of an interval.
    pub fn interval(&self, bin: usize) -> (f64, f64) {
        let (low, high) = self.range;
        let width = (high - low) / self.counts.len().max(1) as f64;
        (low + width * bin as f64, low + width * (bin + 1) as f64)
    }
}

/// Pearson's correlation of pairs of finite values; `None` for fewer than three, or if one side does not vary.
pub fn correlation(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let pairs = pairs.into_iter();
    let pairs: Vec<(f64, f64)> = pairs
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    if pairs.len() < 3 {
        return None;
    }
    let n = pairs.len() as f64;
    let (sum_x, sum_y) = pairs
        .iter()
        .fold((0.0, 0.0), |(x, y), pair| (x + pair.0, y + pair.1));
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
        xy += (x - mean_x) * (y - mean_y);
    }
    let is_varied = |squares: f64, mean: f64| squares > 1e-18 * n * (mean * mean).max(1e-6);
    (is_varied(xx, mean_x) && is_varied(yy, mean_y)).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_zero_and_nan_are_three_things() {
        let spread = Spread::of([
            Some(0.0),
            None,
            Some(f64::NAN),
            Some(1.0),
            Some(f64::INFINITY),
        ]);
        assert_eq!((spread.count, spread.missing, spread.not_finite), (2, 1, 2));
        assert_eq!(spread.mean, Some(0.5));
        assert!((spread.deviation.unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(spread.marks, Some([0.0, 0.25, 0.5, 0.75, 1.0]));
        let none = Spread::of([None, Some(f64::NAN)]);
        assert_eq!((none.mean, none.range()), (None, None));
        let single = Spread::of([Some(2.0)]);
        assert_eq!((single.deviation, single.median()), (None, Some(2.0)));
        // 0.1 three times sums to 0.30000000000000004.
        let same = Spread::of([Some(0.1); 3]);
        assert_eq!((same.mean, same.deviation), (Some(0.1), Some(0.0)));
    }

    #[test]
    fn histograms_hold_all_values() {
        let histogram = Histogram::of([0.0, 0.4, 0.5, 1.0, 7.0, -7.0, f64::NAN], (0.0, 1.0), 2);
        let histogram = histogram.unwrap();
        assert_eq!(histogram.counts, [3, 3]);
        assert_eq!(histogram.interval(1), (0.5, 1.0));
        let equal = Histogram::of([2.0, 2.0], (2.0, 2.0), 10).unwrap();
        assert_eq!(equal.counts, [2]);
        assert_eq!(Histogram::of([f64::NAN], (0.0, 1.0), 4), None);
    }

    #[test]
    fn correlations() {
        let r = correlation([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert!((r - 1.0).abs() < 1e-12);
        let r = correlation([(0.0, 5.0), (1.0, 3.0), (2.0, 1.0), (f64::NAN, 0.0)]).unwrap();
        assert!((r + 1.0).abs() < 1e-12);
        assert_eq!(correlation([(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), None);
        assert_eq!(correlation([(0.0, 1.0), (1.0, 2.0)]), None);
    }
}
