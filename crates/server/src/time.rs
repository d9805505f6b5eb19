//! Time for environments, and the clock by which they grow old.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::LocalBoxFuture;
use volary_core::Clock;

/// The runtime's time, as environments see it.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    start: Instant,
}

impl RuntimeClock {
    /// A clock that begins now.
    pub fn new() -> Rc<Self> {
        Rc::new(RuntimeClock {
            start: Instant::now(),
        })
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Seconds by which last uses are counted. A function, so that tests move it by hand.
pub type Seconds = Arc<dyn Fn() -> f64 + Send + Sync>;

/// Real seconds.
pub fn real_seconds() -> Seconds {
    let start = Instant::now();
    Arc::new(move || start.elapsed().as_secs_f64())
}
