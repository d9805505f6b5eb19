//! How often the page shows a running evaluation. Pure.

use std::cell::Cell;

/// The least time between two updates, in seconds.
const LEAST_REST: f64 = 0.2;
/// The longest.
const LONGEST_REST: f64 = 10.0;
/// Updating takes at most one part in this many of the time: tables of many thousand results are slow.
const SHARE: f64 = 10.0;

/// When the page is updated next.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Due {
    /// Nothing has changed.
    No,
    /// After a rest.
    Soon,
    /// At once: it changes rarely, and the user waits for it.
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
    /// Something has changed. Returns how many seconds to wait before the update; `None` if one is due anyway.
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

    /// Whether the update that was due is still to be made; then it counts as made.
    pub(super) fn take(&self, due: Due) -> bool {
        let is_due = self.due.get() == due;
        if is_due {
            self.due.set(Due::No);
        }
        is_due
    }

    /// An update was made.
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
        // What cannot wait replaces what is due.
        assert_eq!(throttle.changed(2.5, Due::Now), Some(0.0));
        assert!(throttle.take(Due::Now) && !throttle.take(Due::Soon));
        throttle.updated(3.0, 3.0);
        assert_eq!(throttle.changed(9.0, Due::Soon), Some(0.0));
    }
}
