//! The check of an episode: its actions are replayed, and the results are compared.
//!
//! Invariants: only the last check counts. A result is shown only with the episode that was checked: once another one is
//! shown, the check of the former one ends without a result.

use volary_core::json::Text;

/// Identifies a check. Numbers count up.
pub type CheckNumber = u32;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayVerdict {
    /// The message for the user.
    pub words: String,
    /// The first step that differs; 0 is the reset. `None` if none does.
    pub step: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CheckProgress {
    /// Nothing was checked, or the result was dismissed.
    #[default]
    None,
    Running {
        number: CheckNumber,
        /// The id of the episode.
        episode: Text,
    },
    Done(ReplayVerdict),
    /// The episode cannot be replayed, for this reason.
    Failed(String),
}

/// The last check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayCheck {
    last: CheckNumber,
    progress: CheckProgress,
}

impl ReplayCheck {
    pub fn progress(&self) -> &CheckProgress {
        &self.progress
    }

    pub fn is_running(&self) -> bool {
        matches!(self.progress, CheckProgress::Running { .. })
    }

    pub fn verdict(&self) -> Option<&ReplayVerdict> {
        match &self.progress {
            CheckProgress::Done(verdict) => Some(verdict),
            _ => None,
        }
    }

    /// Starts a check of this episode, which replaces the one before.
    pub fn begin(&mut self, episode: Text) -> CheckNumber {
        self.last = self.last.wrapping_add(1);
        let number = self.last;
        self.progress = CheckProgress::Running { number, episode };
        number
    }

    /// Handles the result of a check. Returns whether it still counts.
    pub fn end(&mut self, number: CheckNumber, result: Result<ReplayVerdict, String>) -> bool {
        let counts = matches!(self.progress, CheckProgress::Running { number: running, .. } if running == number);
        if counts {
            self.progress = result.map_or_else(CheckProgress::Failed, CheckProgress::Done);
        }
        counts
    }

    /// Handles that this episode is shown: a former result goes, and a check of another episode ends.
    pub fn show(&mut self, shown: &str) {
        match &self.progress {
            CheckProgress::Running { episode, .. } if **episode == *shown => {}
            _ => self.progress = CheckProgress::None,
        }
    }

    /// Removes the result, and ends a check.
    pub fn dismiss(&mut self) {
        self.progress = CheckProgress::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(step: usize) -> ReplayVerdict {
        ReplayVerdict {
            words: "It differs.".to_owned(),
            step: Some(step),
        }
    }

    #[test]
    fn a_check_ends_with_a_verdict_or_a_reason() {
        let mut check = ReplayCheck::default();
        assert_eq!(check.progress(), &CheckProgress::None);
        let number = check.begin("a".into());
        assert!(check.is_running());
        assert_eq!(check.verdict(), None);
        assert!(check.end(number, Ok(verdict(3))));
        assert!(!check.is_running());
        assert_eq!(check.verdict(), Some(&verdict(3)));
        let number = check.begin("a".into());
        assert_eq!(check.verdict(), None);
        assert!(check.end(number, Err("no".to_owned())));
        assert_eq!(check.progress(), &CheckProgress::Failed("no".to_owned()));
        // The same answer again.
        assert!(!check.end(number, Ok(verdict(1))));
    }

    #[test]
    fn the_result_of_another_episode_is_never_shown() {
        let mut check = ReplayCheck::default();
        let number = check.begin("a".into());
        check.show("b");
        assert!(!check.is_running());
        assert!(!check.end(number, Ok(verdict(3))));
        assert_eq!(check.progress(), &CheckProgress::None);
        // A late end does not end the check of the other one.
        let next = check.begin("b".into());
        assert!(!check.end(number, Err("no".to_owned())));
        assert!(check.is_running());
        assert!(check.end(next, Ok(verdict(1))));
    }

    #[test]
    fn a_check_goes_on_while_its_episode_is_opened_again() {
        let mut check = ReplayCheck::default();
        let number = check.begin("a".into());
        check.show("a");
        assert!(check.end(number, Ok(verdict(3))));
        // But a result is one of the former visit.
        check.show("a");
        assert_eq!(check.progress(), &CheckProgress::None);
    }

    #[test]
    fn the_last_of_two_checks_counts() {
        let mut check = ReplayCheck::default();
        let first = check.begin("a".into());
        let second = check.begin("a".into());
        assert!(!check.end(first, Ok(verdict(1))));
        assert!(check.is_running());
        assert!(check.end(second, Ok(verdict(2))));
        assert!(!check.end(first, Ok(verdict(1))));
        assert_eq!(check.verdict(), Some(&verdict(2)));
    }

    #[test]
    fn a_dismissed_check_has_no_result() {
        let mut check = ReplayCheck::default();
        let number = check.begin("a".into());
        check.dismiss();
        assert!(!check.end(number, Ok(verdict(1))));
        let number = check.begin("a".into());
        check.end(number, Ok(verdict(1)));
        check.dismiss();
        assert_eq!(check.verdict(), None);
    }
}
