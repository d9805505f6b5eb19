//! A virtual clock, which advances only when all tasks wait: tests and replays of slow environments
//! take no time, and are deterministic.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::clock::Clock;

/// A clock that starts at zero and advances to the end of the next sleep. Clones share
/// their time.
#[derive(Clone, Default)]
pub struct VirtualClock {
    time: Rc<RefCell<Time>>,
}

#[derive(Default)]
struct Time {
    now: Duration,
    /// The number of sleeps so far, so that sleeps with the same end wake in the order of creation.
    asked: u64,
    sleeps: BTreeMap<(Duration, u64), Option<Waker>>,
}

/// The error for a future that waits for something other than this clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Everything waits, and no sleep of the virtual clock would end that.")]
pub struct Stalled;

impl VirtualClock {
    /// A clock at zero.
    pub fn new() -> Self {
        VirtualClock::default()
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.time.borrow().now
    }

    /// Runs a future to completion; time advances whenever it waits.
    pub fn run<F: Future>(&self, future: F) -> Result<F::Output, Stalled> {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            while woken.0.swap(false, Ordering::Relaxed) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return Ok(output);
                }
            }
            if !self.pass() {
                return Err(Stalled);
            }
        }
    }

    /// Advances to the next end of a sleep, and wakes all sleeps that end then. Returns whether
    /// there was one.
    fn pass(&self) -> bool {
        let mut wakers = Vec::new();
        {
            let mut time = self.time.borrow_mut();
            let Some((&(next, _), _)) = time.sleeps.first_key_value() else {
                return false;
            };
            time.now = time.now.max(next);
            while let Some(entry) = time.sleeps.first_entry()
                && entry.key().0 <= next
            {
                wakers.extend(entry.remove());
            }
        }
        wakers.into_iter().for_each(Waker::wake);
        true
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> f64 {
        self.elapsed().as_secs_f64()
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        let mut time = self.time.borrow_mut();
        time.asked += 1;
        let key = (time.now.saturating_add(duration), time.asked);
        time.sleeps.insert(key, None);
        Box::pin(Sleep {
            time: Rc::clone(&self.time),
            key,
        })
    }
}

/// Resolves at its time. Dropped before, it is removed, so time never advances because of it.
struct Sleep {
    time: Rc<RefCell<Time>>,
    key: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.time.borrow_mut().sleeps.get_mut(&self.key) {
            Some(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.time.borrow_mut().sleeps.remove(&self.key);
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_only_when_everything_waits() {
        let clock = VirtualClock::new();
        let shared = clock.clone();
        let order = RefCell::new(Vec::new());
        let sleep = |name, ms| {
            let order = &order;
            let sleep = clock.sleep(Duration::from_millis(ms));
            async move {
                sleep.await;
                order.borrow_mut().push(name);
            }
        };
        let all = futures_util::future::join4(
            sleep("late", 20),
            sleep("first", 10),
            sleep("second", 10),
            sleep("at once", 0),
        );
        assert!(clock.run(all).is_ok());
        assert_eq!(*order.borrow(), ["at once", "first", "second", "late"]);
        assert_eq!(shared.now(), 0.02);
    }

    #[test]
    fn waiting_without_a_timer_is_an_error() {
        let clock = VirtualClock::new();
        assert_eq!(clock.run(std::future::pending::<()>()), Err(Stalled));
    }

    #[test]
    fn a_dropped_sleep_passes_no_time() {
        let clock = VirtualClock::new();
        drop(clock.sleep(Duration::from_secs(9)));
        let short = clock.sleep(Duration::from_secs(1));
        assert!(clock.run(short).is_ok());
        assert_eq!(clock.elapsed(), Duration::from_secs(1));
    }
}
