//! Which tab plays an evaluation: the lock, and the start that waits for it.
//!
//! Invariants: one lock is requested at a time. A start that the user withdrew does not follow, however late the lock
//! arrives.

/// Which tab plays the evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// It was just created: no other tab can know of it.
    New,
    /// Another tab may play it.
    Free,
    /// The lock was requested.
    Requesting { start: Start, is_new: bool },
    /// The lock is held; changes that other tabs stored are being read.
    Reloading { start: Start },
    /// The lock is held; failed cells are being stored as waiting.
    Retrying { start: Start },
    /// This tab plays it.
    Held,
}

/// The start that follows once the lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Resume,
    RetryFailures,
    /// The user paused meanwhile.
    Withdrawn,
}

impl Start {
    /// Merges another start that was requested meanwhile: a retry includes a start, and a withdrawn start is replaced.
    fn or(self, other: Start) -> Start {
        match (self, other) {
            (Start::Withdrawn, other) => other,
            (_, Start::RetryFailures) => Start::RetryFailures,
            (known, _) => known,
        }
    }
}

/// What follows from a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Something that is in progress.
    Wait,
    /// Cells are played while the lock of a new evaluation is requested.
    PlayMeanwhile,
    /// The lock is requested. Cells of a new evaluation are played meanwhile.
    RequestLock { is_new: bool },
    /// The changes that other tabs stored are read.
    Reload,
    /// The lock is held.
    Begin(Start),
}

impl Ownership {
    /// Handles that the user starts it.
    pub(super) fn start(&mut self, start: Start) -> Next {
        match self {
            // A start is already requested.
            Ownership::Requesting {
                start: known,
                is_new,
            } => {
                *known = known.or(start);
                if *is_new {
                    Next::PlayMeanwhile
                } else {
                    Next::Wait
                }
            }
            Ownership::Reloading { start: known } | Ownership::Retrying { start: known } => {
                *known = known.or(start);
                Next::Wait
            }
            Ownership::New | Ownership::Free => {
                let is_new = *self == Ownership::New;
                *self = Ownership::Requesting { start, is_new };
                Next::RequestLock { is_new }
            }
            Ownership::Held => Next::Begin(start),
        }
    }

    /// Handles that this tab holds the lock.
    pub(super) fn granted(&mut self) -> Next {
        match *self {
            Ownership::Requesting {
                start,
                is_new: true,
            } => {
                *self = Ownership::Held;
                Next::Begin(start)
            }
            Ownership::Requesting {
                start,
                is_new: false,
            } => {
                *self = Ownership::Reloading { start };
                Next::Reload
            }
            _ => Next::Wait,
        }
    }

    /// Handles that another tab holds the lock. Returns whether the evaluation is new, so that cells were started
    /// without the lock; `None` if it was not requested.
    pub(super) fn refused(&mut self) -> Option<bool> {
        let Ownership::Requesting { is_new, .. } = *self else {
            return None;
        };
        *self = Ownership::Free;
        Some(is_new)
    }

    /// Handles that the stored evaluation was read. Returns the start that follows.
    pub(super) fn reloaded(&mut self) -> Option<Start> {
        let Ownership::Reloading { start } = *self else {
            return None;
        };
        *self = Ownership::Held;
        Some(start)
    }

    /// Handles that failed cells are being stored as waiting.
    pub(super) fn retry(&mut self) {
        *self = Ownership::Retrying {
            start: Start::Resume,
        };
    }

    /// Handles that they were stored. Returns the start that follows.
    pub(super) fn retried(&mut self) -> Option<Start> {
        let Ownership::Retrying { start } = *self else {
            return None;
        };
        *self = Ownership::Held;
        Some(start)
    }

    /// Handles that the user pauses it: a start that still waits does not follow.
    pub(super) fn withdraw(&mut self) {
        match self {
            Ownership::Requesting { start, .. }
            | Ownership::Reloading { start }
            | Ownership::Retrying { start } => *start = Start::Withdrawn,
            Ownership::New | Ownership::Free | Ownership::Held => {}
        }
    }

    /// Releases the lock. Returns whether it was held, and nothing waits for it.
    pub(super) fn release(&mut self) -> bool {
        let is_held = *self == Ownership::Held;
        if is_held {
            *self = Ownership::Free;
        }
        is_held
    }

    /// Whether this tab holds the lock, so that cells run or may start.
    pub(super) fn has_lock(self) -> bool {
        match self {
            Ownership::Held | Ownership::Retrying { .. } => true,
            Ownership::New
            | Ownership::Free
            | Ownership::Requesting { .. }
            | Ownership::Reloading { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_evaluation_is_read_again_before_it_starts() {
        let mut ownership = Ownership::Free;
        let request = Next::RequestLock { is_new: false };
        assert_eq!(ownership.start(Start::Resume), request);
        assert_eq!(ownership.start(Start::Resume), Next::Wait, "requested once");
        assert!(!ownership.has_lock());
        assert_eq!(ownership.granted(), Next::Reload);
        assert!(!ownership.has_lock(), "it may have changed");
        assert_eq!(ownership.reloaded(), Some(Start::Resume));
        assert!(ownership.has_lock());
        assert_eq!(ownership.start(Start::Resume), Next::Begin(Start::Resume));
    }

    #[test]
    fn a_new_evaluation_is_played_while_its_lock_is_requested() {
        let mut ownership = Ownership::New;
        let request = Next::RequestLock { is_new: true };
        assert_eq!(ownership.start(Start::Resume), request);
        assert_eq!(ownership.start(Start::Resume), Next::PlayMeanwhile);
        assert_eq!(ownership.granted(), Next::Begin(Start::Resume));
        let mut refused = Ownership::New;
        refused.start(Start::Resume);
        assert_eq!(refused.refused(), Some(true), "its cells are taken back");
        assert_eq!(refused, Ownership::Free);
        assert_eq!(refused.refused(), None);
    }

    #[test]
    fn a_pause_withdraws_a_start_that_waits() {
        let mut ownership = Ownership::Free;
        ownership.start(Start::RetryFailures);
        ownership.withdraw();
        ownership.granted();
        assert_eq!(ownership.reloaded(), Some(Start::Withdrawn));
        // The user starts it again while it is read.
        let mut ownership = Ownership::Reloading {
            start: Start::Withdrawn,
        };
        assert_eq!(ownership.start(Start::RetryFailures), Next::Wait);
        assert_eq!(ownership.start(Start::Resume), Next::Wait);
        assert_eq!(
            ownership.reloaded(),
            Some(Start::RetryFailures),
            "a retry includes a start"
        );
    }

    #[test]
    fn the_lock_is_not_released_while_failures_are_stored() {
        let mut ownership = Ownership::Held;
        ownership.retry();
        assert!(ownership.has_lock());
        assert!(!ownership.release());
        assert_eq!(ownership.retried(), Some(Start::Resume));
        assert_eq!(ownership.retried(), None, "once");
        assert!(ownership.release());
        assert!(!ownership.release() && !ownership.has_lock());
    }

    #[test]
    fn late_answers_about_the_lock_change_nothing() {
        for known in [Ownership::Free, Ownership::Held, Ownership::New] {
            let mut ownership = known;
            assert_eq!(ownership.granted(), Next::Wait);
            assert_eq!(ownership.refused(), None);
            assert_eq!(ownership.reloaded(), None);
            assert_eq!(ownership, known);
        }
    }
}
