//! Time as an input of the core, so that tests can use a virtual clock.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

/// A monotonic clock that can also sleep. The page's worker passes the browser's clock, the server
/// tokio's, tests a virtual one.
pub trait Clock {
    /// Seconds since an unspecified moment; never decreases.
    fn now(&self) -> f64;

    /// Seconds since a moment, rounded to microseconds: clocks are not more precise, and the further digits of a
    /// difference of floats only make its text longer.
    fn since(&self, moment: f64) -> f64 {
        whole_microseconds(self.now() - moment)
    }

    /// Resolves after the duration.
    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()>;
}

/// Seconds, rounded to microseconds.
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
