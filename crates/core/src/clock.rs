//! Time as the core sees it: given from outside, so that tests can use a virtual clock.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

/// A monotonic clock that can also wait. The page's worker gives the browser's, the server gives
/// tokio's, tests give a virtual one.
pub trait Clock {
    /// Seconds since some fixed moment; never goes back.
    fn now(&self) -> f64;

    /// Resolves after the time has passed.
    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()>;
}

/// A clock that stands still and whose sleeps end at once: for runs in which no time shall pass
/// (replays, checks, benchmarks of what is not waiting).
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
