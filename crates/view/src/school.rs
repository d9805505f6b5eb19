//! What the school shows: curves of a run, its knobs, samples as coloured tokens, and a group explained.

pub mod group_story;
pub mod knob_fields;
pub mod plot;
pub mod sample_strip;

use volary_school::{Behaviour, UpdateMetrics};

/// A share as a whole percentage.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The figures of an update in one sentence.
pub fn update_sentence(metrics: &UpdateMetrics) -> String {
    let most = Behaviour::ALL
        .into_iter()
        .filter(|behaviour| *behaviour != Behaviour::Right)
        .max_by_key(|behaviour| metrics.behaviours.get(behaviour).copied().unwrap_or(0));
    let count = most.map_or(0, |behaviour| {
        metrics.behaviours.get(&behaviour).copied().unwrap_or(0)
    });
    let mut text = format!(
        "{} of {} samples solved their task",
        percent(metrics.success),
        metrics.samples
    );
    if let Some(most) = most.filter(|_| count > 0) {
        let share = count as f64 / metrics.samples.max(1) as f64;
        text.push_str(&format!(
            "; most common fault: {}, {}",
            most.label(),
            percent(share)
        ));
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_update_is_told_in_a_sentence() {
        let metrics = UpdateMetrics {
            samples: 128,
            success: 0.703,
            behaviours: BTreeMap::from([
                (Behaviour::Right, 90),
                (Behaviour::IgnoredResult, 30),
                (Behaviour::NoTool, 8),
            ]),
            ..UpdateMetrics::default()
        };
        assert_eq!(
            update_sentence(&metrics),
            "70 % of 128 samples solved their task; most common fault: ignored result, 23 %."
        );
        let all = UpdateMetrics {
            samples: 1,
            success: 1.0,
            ..UpdateMetrics::default()
        };
        assert_eq!(
            update_sentence(&all),
            "100 % of 1 samples solved their task."
        );
    }
}
