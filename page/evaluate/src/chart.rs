//! Geometry of the charts, in percent of their boxes, and number formats of the table. Pure.

use volary_agent::evaluation::Table;
use volary_agent::evaluation::table::PolicyRow;
use volary_app::evaluation::summary::Interval;
use volary_view::summary::reward_text;

/// The range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
}

impl Axis {
    /// An axis for the mean rewards of all policies and their intervals. It starts at 0 unless a value is lower.
    pub fn of_rewards(table: &Table) -> Axis {
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for reward in table.policies.iter().filter_map(|row| row.reward) {
            for end in [Some(reward.mean), reward.low, reward.high]
                .into_iter()
                .flatten()
            {
                if end.is_finite() {
                    low = low.min(end);
                    high = high.max(end);
                }
            }
        }
        if low == high {
            high = low + 1.0;
        }
        // Rewards are usually between 0 and 1; the axis then ends at 1.
        if low == 0.0 && high > 0.5 && high < 1.0 {
            high = 1.0;
        }
        Axis { low, high }
    }

    /// The position of a value, from 0 to 100.
    pub fn place(self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low) * 100.0).clamp(0.0, 100.0)
    }
}

/// The bar of a policy's mean reward, as an SVG path in a box of 100 by 20.
pub fn bar(axis: Axis, row: &PolicyRow) -> String {
    let Some(reward) = row.reward else {
        return String::new();
    };
    let (zero, mean) = (axis.place(0.0), axis.place(reward.mean));
    format!("M{zero:.2} 5H{mean:.2}V15H{zero:.2}Z")
}

/// The confidence interval of the mean, as an SVG path in the same box.
pub fn whisker(axis: Axis, row: &PolicyRow) -> String {
    let ends = row
        .reward
        .and_then(|reward| Some((axis.place(reward.low?), axis.place(reward.high?))));
    match ends {
        Some((low, high)) => {
            format!("M{low:.2} 10H{high:.2}M{low:.2} 6V14M{high:.2} 6V14")
        }
        None => String::new(),
    }
}

/// A curve of probabilities over the number of trials, as an SVG path in a box of 100 by 100.
pub fn curve(trials: &[usize], chances: impl Iterator<Item = Option<f64>>) -> String {
    let most = trials.last().copied().unwrap_or(1).max(2);
    let mut path = String::new();
    for (k, chance) in trials.iter().zip(chances) {
        if let Some(chance) = chance {
            let x = (k.saturating_sub(1)) as f64 / (most - 1) as f64 * 100.0;
            let y = 100.0 - chance * 100.0;
            path.push(if path.is_empty() { 'M' } else { 'L' });
            path.push_str(&format!("{x:.2} {y:.2}"));
        }
    }
    path
}

/// Formats a value with at most three decimals.
pub fn short(value: f64) -> String {
    reward_text((value * 1e3).round() / 1e3)
}

/// Formats a mean with its interval: `0.75 (0.5 to 1)`.
pub fn reward_words(row: &PolicyRow) -> String {
    match row.reward {
        None => "–".to_owned(),
        Some(reward) => match reward.low.zip(reward.high) {
            Some((low, high)) => {
                format!("{} ({} to {})", short(reward.mean), short(low), short(high))
            }
            None => short(reward.mean),
        },
    }
}

/// Formats a probability with its interval: `75% (53 to 89)`.
pub fn interval_words(rate: Interval) -> String {
    let mean = percent(Some(rate.mean));
    match rate.low.zip(rate.high) {
        Some((low, high)) => format!("{mean} ({:.0} to {:.0})", low * 100.0, high * 100.0),
        None => mean,
    }
}

/// Formats a probability in percent.
pub fn percent(chance: Option<f64>) -> String {
    chance.map_or_else(
        || "–".to_owned(),
        |chance| format!("{:.0}%", chance * 100.0),
    )
}

/// Formats a cost, which may be unknown.
pub fn cost_words(cost: Option<f64>) -> String {
    match cost {
        None => "unknown".to_owned(),
        Some(0.0) => "–".to_owned(),
        Some(cost) if cost < 0.01 => format!("${cost:.5}"),
        Some(cost) => format!("${cost:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use volary_analysis::statistics::Estimate;

    use super::*;

    fn row(mean: f64, half: Option<f64>) -> PolicyRow {
        PolicyRow {
            reward: Some(Estimate {
                mean,
                low: half.map(|half| mean - half),
                high: half.map(|half| mean + half),
                count: 4,
            }),
            ..PolicyRow::default()
        }
    }

    fn axis(rows: Vec<PolicyRow>) -> Axis {
        Axis::of_rewards(&Table {
            policies: rows,
            ..Table::default()
        })
    }

    #[test]
    fn axes_hold_all_intervals() {
        let expected = |low, high| Axis { low, high };
        assert_eq!(axis(vec![]), expected(0.0, 1.0));
        assert_eq!(axis(vec![row(0.5, Some(0.25))]), expected(0.0, 1.0));
        assert_eq!(
            axis(vec![row(-1.0, Some(0.5)), row(4.0, None)]),
            expected(-1.5, 4.0)
        );
        assert_eq!(axis(vec![row(f64::NAN, None)]), expected(0.0, 1.0));
    }

    #[test]
    fn shapes() {
        let axis = Axis {
            low: 0.0,
            high: 2.0,
        };
        let row = row(1.0, Some(0.5));
        assert_eq!(bar(axis, &row), "M0.00 5H50.00V15H0.00Z");
        assert_eq!(whisker(axis, &row), "M25.00 10H75.00M25.00 6V14M75.00 6V14");
        assert_eq!(bar(axis, &PolicyRow::default()), "");
        assert_eq!(
            curve(&[1, 2, 3], [Some(0.5), None, Some(1.0)].into_iter()),
            "M0.00 50.00L100.00 0.00"
        );
        assert_eq!(reward_words(&row), "1.0 (0.5 to 1.5)");
        assert_eq!(
            (percent(Some(0.125)), percent(None)),
            ("12%".to_owned(), "–".to_owned())
        );
        let rate = |mean, low, high| interval_words(Interval { mean, low, high });
        assert_eq!(rate(0.75, Some(0.531), Some(0.888)), "75% (53 to 89)");
        assert_eq!(rate(1.0, None, None), "100%");
        assert_eq!(cost_words(Some(0.001)), "$0.00100");
    }
}
