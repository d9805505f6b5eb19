//! A counter of work in flight, for tasks that wait for one result or for all of it.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// Counts what is in flight, and wakes waiting tasks at every change.
#[derive(Default)]
pub struct InFlight {
    count: Cell<usize>,
    changes: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

/// Guard of one unit of work, which is in flight until this is dropped.
pub struct Flight<'a>(&'a InFlight);

impl InFlight {
    /// Starts a unit of work.
    pub fn begin(&self) -> Flight<'_> {
        self.count.set(self.count.get() + 1);
        Flight(self)
    }

    /// Whether anything is in flight.
    pub fn is_any(&self) -> bool {
        self.count.get() > 0
    }

    /// Wakes the waiting tasks.
    pub fn notify(&self) {
        self.changes.set(self.changes.get().wrapping_add(1));
        self.wakers.take().into_iter().for_each(Waker::wake);
    }

    /// The number of changes so far, for [`InFlight::changed`].
    pub fn state(&self) -> u64 {
        self.changes.get()
    }

    /// Waits for a change after `since`.
    pub async fn changed(&self, since: u64) {
        poll_fn(|context| {
            if self.changes.get() == since {
                self.wakers.borrow_mut().push(context.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }

    /// Waits until nothing is in flight.
    pub async fn finished(&self) {
        while self.is_any() {
            self.changed(self.state()).await;
        }
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        self.0.notify();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn waiters_wake_after_a_change_and_at_the_end() {
        let in_flight = InFlight::default();
        assert_eq!(in_flight.finished().now_or_never(), Some(()));
        let flight = in_flight.begin();
        let before = in_flight.state();
        let mut finished = Box::pin(in_flight.finished());
        assert_eq!((&mut finished).now_or_never(), None);
        assert_eq!(in_flight.changed(before).now_or_never(), None);
        in_flight.notify();
        assert_eq!(in_flight.changed(before).now_or_never(), Some(()));
        assert_eq!((&mut finished).now_or_never(), None, "it goes on");
        drop(flight);
        assert_eq!(finished.now_or_never(), Some(()));
    }
}
