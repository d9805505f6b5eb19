//! The number of episodes of an evaluation that is being set up, and whether it can start. Pure.

use volary_app::notice::Notice;
use volary_core::quantity::{count_text, plural};

use crate::setup::MOST_CELLS;

/// The numbers whose product is the number of episodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EvaluationSize {
    pub tasks: usize,
    pub policies: usize,
    pub trials: usize,
}

impl EvaluationSize {
    /// The number of episodes; at most the largest number, because the factors come from a form.
    pub fn episodes(self) -> usize {
        let factors = [self.tasks, self.policies, self.trials];
        factors.into_iter().fold(1, usize::saturating_mul)
    }

    /// The calculation, for the user.
    pub fn words(self) -> String {
        format!(
            "{} × {} × {} = {}",
            plural(self.tasks, "task"),
            plural(self.policies, "policy"),
            plural(self.trials, "trial"),
            plural(self.episodes(), "episode")
        )
    }

    /// Why an evaluation of this size cannot start.
    pub fn refusal(self) -> Option<Notice> {
        (self.episodes() > MOST_CELLS).then(|| {
            Notice::new(
                "This evaluation is too large.",
                format!(
                    "{} exceed the limit of {} per evaluation.",
                    plural(self.episodes(), "episode"),
                    count_text(MOST_CELLS)
                ),
                "Use fewer tasks or trials, or split it into several evaluations.",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(tasks: usize, policies: usize, trials: usize) -> EvaluationSize {
        EvaluationSize {
            tasks,
            policies,
            trials,
        }
    }

    #[test]
    fn the_calculation_is_spelled_out() {
        assert_eq!(
            size(1, 1, 1).words(),
            "1 task × 1 policy × 1 trial = 1 episode"
        );
        assert_eq!(
            size(50, 2, 3).words(),
            "50 tasks × 2 policies × 3 trials = 300 episodes"
        );
        assert_eq!(
            size(7, 0, 3).words(),
            "7 tasks × 0 policies × 3 trials = 0 episodes"
        );
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        assert_eq!(size(MOST_CELLS, 1, 1).refusal(), None);
        let notice = size(MOST_CELLS + 1, 1, 1).refusal().unwrap();
        assert!(
            notice.why.contains(&count_text(MOST_CELLS)),
            "{}",
            notice.why
        );
    }

    #[test]
    fn a_product_beyond_all_numbers_is_too_large() {
        let size = size(usize::MAX, 2, usize::MAX);
        assert_eq!(size.episodes(), usize::MAX);
        assert!(size.refusal().is_some());
    }

    #[test]
    fn an_empty_evaluation_is_not_too_large() {
        assert_eq!(size(usize::MAX, 0, 5).refusal(), None);
    }
}
