//! Time as the core sees it: given from outside, so that tests can use a virtual clock.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

/// A monotonic clock that can also wait. The page's worker gives the browser's, the server gives
/// tokio's, tests give a virtual one.
pub trait Clock {
    /// Seconds since some fixed moment; never goes back.
    fn now(&self) -> f64;

    /// Seconds since a moment, in whole microseconds: clocks know no less, and what a difference of floats has beyond
    /// takes long to write down.
    fn since(&self, moment: f64) -> f64 {
        whole_microseconds(self.now() - moment)
    }

    /// Resolves after the time has passed.
    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()>;
}

/// Seconds in whole microseconds.
pub fn whole_microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// A clock that never advances and whose sleeps end at once: for replays, checks and benchmarks, where no time
/// should pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standstill;

impl Clock for Standstill {
    fn now(&self) -> f64 {
        0.0
    }

    fn sleep(&self, _duration: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::number::float_text;

    #[test]
    fn times_have_few_digits() {
        let (before, after) = (5.273_599_999_994_039, 5.274_099_999_994_04);
        assert_eq!(float_text(whole_microseconds(before)), "5.2736");
        assert_eq!(float_text(whole_microseconds(after - before)), "0.0005");
    }
}
