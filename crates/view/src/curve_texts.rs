//! What a curve says in words: to screen readers as a whole, and to all at the selected step.

use volary_core::quantity::plural;

use super::curve::Bounds;
use super::measures::StepMeasure;
use super::summary::reward_text;

/// The description of a reward curve.
pub fn reward_summary(bounds: &Bounds, total: f64) -> String {
    format!(
        "Reward over {}: {} in total. The curve ranges from {} to {}.",
        plural(bounds.steps, "step"),
        reward_text(total),
        reward_text(bounds.low),
        reward_text(bounds.high),
    )
}

/// The reward at a step and up to it. `reward` is that of the step; `None` if it has none, because it failed.
pub fn reward_at(rewards: &[f64], step: usize, reward: Option<f64>) -> String {
    let so_far: f64 = rewards.iter().take(step).sum();
    let so_far = reward_text(so_far);
    match reward {
        Some(reward) => format!("{} at step {step}, {so_far} so far", reward_text(reward)),
        None if step == 0 => "no reward yet".to_owned(),
        None => format!("no reward at step {step}, {so_far} so far"),
    }
}

/// The description of the curve of a measure.
pub fn measure_summary(measure: &StepMeasure, amounts: &[f64]) -> String {
    format!(
        "{} over {}: {} in total.",
        measure.name,
        plural(amounts.len(), "step"),
        (measure.words)(total(amounts)),
    )
}

/// The amount of a measure at a step and up to it.
pub fn measure_at(measure: &StepMeasure, amounts: &[f64], step: usize) -> String {
    match step.checked_sub(1).and_then(|place| amounts.get(place)) {
        Some(amount) => format!(
            "{} at step {step}, {} so far",
            (measure.words)(*amount),
            (measure.words)(total(amounts.get(..step).unwrap_or(amounts)))
        ),
        None => "none yet".to_owned(),
    }
}

fn total(amounts: &[f64]) -> f64 {
    // The sum of no floats is negative zero.
    amounts.iter().sum::<f64>() + 0.0
}

#[cfg(test)]
mod tests {
    use super::super::curve::bounds;
    use super::super::measures::{COST, REWARD, TOKENS};
    use super::*;

    #[test]
    fn a_reward_curve_says_its_total_and_its_range() {
        let rewards = [1.0, -0.5, 0.0];
        assert_eq!(
            reward_summary(&bounds(&rewards), 0.5),
            "Reward over 3 steps: 0.5 in total. The curve ranges from -0.5 to 1.0."
        );
        assert_eq!(
            reward_summary(&bounds(&[]), 0.0),
            "Reward over 0 steps: 0.0 in total. The curve ranges from 0.0 to 0.0."
        );
    }

    #[test]
    fn a_step_has_its_reward_and_the_sum_up_to_it() {
        let rewards = [0.1, 0.2, 1.0];
        assert_eq!(reward_at(&rewards, 0, None), "no reward yet");
        assert_eq!(
            reward_at(&rewards, 2, Some(0.2)),
            "0.2 at step 2, 0.3 so far"
        );
        assert_eq!(
            reward_at(&rewards, 2, None),
            "no reward at step 2, 0.3 so far",
            "a step that failed"
        );
    }

    #[test]
    fn measures_are_told_in_their_units() {
        let tokens = [1_200.0, 300.0];
        assert_eq!(
            measure_summary(&TOKENS, &tokens),
            "Tokens over 2 steps: 1,500 in total."
        );
        assert_eq!(
            measure_at(&TOKENS, &tokens, 2),
            "300 at step 2, 1,500 so far"
        );
        assert_eq!(measure_at(&REWARD, &[0.5], 1), "0.5 at step 1, 0.5 so far");
    }

    #[test]
    fn nothing_is_told_before_the_first_step_or_after_the_last() {
        for measure in [&REWARD, &TOKENS, &COST] {
            assert_eq!(
                measure_at(measure, &[1.0], 0),
                "none yet",
                "{}",
                measure.name
            );
            assert_eq!(
                measure_at(measure, &[1.0], 2),
                "none yet",
                "{}",
                measure.name
            );
        }
        assert!(!measure_summary(&COST, &[]).contains('-'));
    }
}
