//! State of a policy's run.
//!
//! Invariant: late events of a run do not affect other runs. Runs are numbered, and only the current number counts.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// No policy acts.
    #[default]
    Idle,
    /// A policy acts, in the run of this number.
    Going(u32),
    /// The user asked this run to stop; its last step is still in flight.
    Stopping(u32),
}

impl Run {
    /// Asks the run to stop after its current step.
    #[must_use]
    pub fn stopping(self) -> Run {
        match self {
            Run::Idle => Run::Idle,
            Run::Going(number) | Run::Stopping(number) => Run::Stopping(number),
        }
    }

    /// Whether a run is still the current one.
    pub fn is_current(self, number: u32) -> bool {
        matches!(self, Run::Going(current) | Run::Stopping(current) if current == number)
    }

    /// Whether a run takes another step.
    pub fn goes_on(self, number: u32) -> bool {
        self == Run::Going(number)
    }
}

/// Counts the runs, and stores how the last one was started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Runs {
    last: u32,
    is_single: bool,
}

impl Runs {
    /// Starts a run and returns its number. A single run ends after one action.
    pub fn begin(&mut self, is_single: bool) -> u32 {
        self.is_single = is_single;
        self.last = self.last.wrapping_add(1);
        self.last
    }

    /// Whether the last run was for a single action.
    pub fn was_single(&self) -> bool {
        self.is_single
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_replaced_is_over() {
        let mut runs = Runs::default();
        let first = runs.begin(false);
        let second = runs.begin(true);
        assert!(runs.was_single());
        let run = Run::Going(second);
        assert!(run.is_current(second) && run.goes_on(second));
        assert!(!run.is_current(first) && !run.goes_on(first));
        assert!(!Run::Idle.is_current(second));
    }

    #[test]
    fn a_stopping_run_is_current_until_its_step_ends() {
        let run = Run::Going(4).stopping();
        assert_eq!(run, Run::Stopping(4));
        assert!(run.is_current(4) && !run.goes_on(4));
        assert_eq!(run.stopping(), run);
        assert_eq!(Run::Idle.stopping(), Run::Idle);
    }
}
