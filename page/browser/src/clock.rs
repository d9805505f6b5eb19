//! The browser's clock, as environments see time. Works in the page and in workers.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use volary_core::Clock;
use volary_core::clock::whole_microseconds;

use super::timers;

/// `performance.now` and `setTimeout`.
#[derive(Clone, Copy, Debug, Default)]
pub struct BrowserClock;

impl Clock for BrowserClock {
    fn now(&self) -> f64 {
        whole_microseconds(timers::now())
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(timers::sleep(duration))
    }
}
