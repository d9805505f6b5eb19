//! Throttles redraws of the page: immediate when idle, less frequent while a policy runs.
//!
//! Invariant: every requested redraw happens, though several may be coalesced into one.

/// The minimum time between two redraws, in seconds.
const FRAME: f64 = 0.016;

/// When to redraw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redraw {
    /// At once.
    Now,
    /// With the next frame; then ask again.
    NextFrame,
    /// A frame was requested already.
    Scheduled,
}

/// Throttle of redraws. Times are in seconds, from any origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct RedrawThrottle {
    last: f64,
    /// The duration of the last redraw of a run, in seconds.
    cost: f64,
    is_scheduled: bool,
}

impl RedrawThrottle {
    /// Requests a redraw. While a policy runs, drawing takes at most about a quarter of the time; the rest is left for
    /// steps.
    pub fn request(&mut self, now: f64, is_running: bool) -> Redraw {
        let pause = if is_running { 3.0 * self.cost } else { 0.0 };
        if now - self.last >= FRAME.max(pause) {
            return Redraw::Now;
        }
        if std::mem::replace(&mut self.is_scheduled, true) {
            Redraw::Scheduled
        } else {
            Redraw::NextFrame
        }
    }

    /// Handles the requested animation frame.
    pub fn frame_came(&mut self) {
        self.is_scheduled = false;
    }

    /// Notes the start of a redraw.
    pub fn begin(&mut self, now: f64) {
        self.last = now;
    }

    /// Notes the duration of a redraw.
    pub fn took(&mut self, seconds: f64) {
        self.cost = seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(cost: f64) -> RedrawThrottle {
        let mut throttle = RedrawThrottle::default();
        throttle.begin(10.0);
        throttle.took(cost);
        throttle
    }

    #[test]
    fn changes_within_a_frame_share_one_redraw() {
        let mut throttle = drawn(0.0);
        assert_eq!(throttle.request(10.001, false), Redraw::NextFrame);
        assert_eq!(throttle.request(10.002, false), Redraw::Scheduled);
        throttle.frame_came();
        assert_eq!(throttle.request(10.005, false), Redraw::NextFrame);
        throttle.frame_came();
        assert_eq!(throttle.request(10.017, false), Redraw::Now);
    }

    #[test]
    fn expensive_redraws_are_rarer_only_while_a_policy_runs() {
        assert_eq!(drawn(0.1).request(10.2, true), Redraw::NextFrame);
        assert_eq!(drawn(0.1).request(10.31, true), Redraw::Now);
        assert_eq!(drawn(0.1).request(10.2, false), Redraw::Now);
    }
}
