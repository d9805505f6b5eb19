//! Clocks for environments and for their age.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::future::LocalBoxFuture;
use volary_core::Clock;

/// Tokio's clock, for environments.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    start: Instant,
}

impl RuntimeClock {
    /// A clock that starts at zero now.
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

/// Returns the seconds since an unspecified moment. A function, so that tests can set the time.
pub type Seconds = Arc<dyn Fn() -> f64 + Send + Sync>;

/// Seconds of real time.
pub fn real_seconds() -> Seconds {
    let start = Instant::now();
    Arc::new(move || start.elapsed().as_secs_f64())
}

/// The seconds since 1970 (UTC); 0 if the clock is set to an earlier time.
pub fn unix_seconds() -> f64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.unwrap_or_default().as_secs_f64()
}
