//! Whether a worker that was lost is replaced at once, or only when it is needed.

/// After this many losses in a row, workers are started only on demand: they may never work in this browser.
const MOST: u32 = 3;

/// The workers that were lost since the last one replied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerLosses(u32);

impl WorkerLosses {
    /// Handles a reply: this worker works.
    pub fn replied(&mut self) {
        self.0 = 0;
    }

    /// Handles the loss of a worker. Returns whether another one is started before it is needed.
    pub fn lost(&mut self) -> bool {
        self.0 = self.0.saturating_add(1);
        self.0 < MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_fail_at_once_are_not_started_forever() {
        let mut losses = WorkerLosses::default();
        let replaced: Vec<bool> = (0..4).map(|_| losses.lost()).collect();
        assert_eq!(replaced, [true, true, false, false]);
        // The user tries again, and it works.
        losses.replied();
        assert!(losses.lost());
    }
}
