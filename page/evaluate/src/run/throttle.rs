//! Throttles updates of the page during a running evaluation. Pure.

use std::cell::Cell;

/// The minimum time between two updates, in seconds.
const LEAST_REST: f64 = 0.2;
/// The maximum time between two updates, in seconds.
const LONGEST_REST: f64 = 10.0;
/// An update may take at most 1/`SHARE` of the time: tables of many thousand results are slow.
const SHARE: f64 = 10.0;

/// When the next update is due.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Due {
    /// Nothing has changed.
    No,
    /// After the current interval.
    Soon,
    /// Immediately: the change is rare, and the user waits for it.
    Now,
}

/// Limits how often the page is updated.
#[derive(Debug)]
pub(super) struct Throttle {
    due: Cell<Due>,
    updated: Cell<f64>,
    rest: Cell<f64>,
}

impl Default for Throttle {
    fn default() -> Self {
        Throttle {
            due: Cell::new(Due::No),
            updated: Cell::new(0.0),
            rest: Cell::new(0.0),
        }
    }
}

impl Throttle {
    /// Records a change. Returns the number of seconds to wait before the update; `None` if one is already scheduled.
    pub(super) fn changed(&self, now: f64, due: Due) -> Option<f64> {
        if self.due.get() >= due {
            return None;
        }
        self.due.set(due);
        let rest = match due {
            Due::Now | Due::No => 0.0,
            Due::Soon => self.rest.get(),
        };
        Some((self.updated.get() + rest - now).clamp(0.0, rest))
    }

    /// Returns whether a scheduled update is still due, and clears it.
    pub(super) fn take(&self, due: Due) -> bool {
        let is_due = self.due.get() == due;
        if is_due {
            self.due.set(Due::No);
        }
        is_due
    }

    /// Records an update with its start and end.
    pub(super) fn updated(&self, before: f64, after: f64) {
        self.updated.set(after);
        let rest = (after - before) * SHARE;
        self.rest.set(rest.clamp(LEAST_REST, LONGEST_REST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_rest_longer_the_longer_they_take() {
        let throttle = Throttle::default();
        assert_eq!(throttle.changed(1.0, Due::Soon), Some(0.0));
        assert_eq!(throttle.changed(1.0, Due::Soon), None);
        assert!(throttle.take(Due::Soon) && !throttle.take(Due::Soon));
        throttle.updated(1.0, 1.5);
        assert_eq!(throttle.changed(2.5, Due::Soon), Some(4.0));
        // An urgent update replaces the scheduled one.
        assert_eq!(throttle.changed(2.5, Due::Now), Some(0.0));
        assert!(throttle.take(Due::Now) && !throttle.take(Due::Soon));
        throttle.updated(3.0, 3.0);
        assert_eq!(throttle.changed(9.0, Due::Soon), Some(0.0));
    }
}
