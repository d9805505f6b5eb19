//! A list of wakers, notified on every state change.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// A change counter with the wakers of the tasks that wait for the next change.
#[derive(Debug, Default)]
pub(super) struct Changes {
    count: Cell<u64>,
    waiting: RefCell<Vec<Waker>>,
}

impl Changes {
    /// Increments the counter and wakes all waiting tasks.
    pub(super) fn notify(&self) {
        self.count.set(self.count.get() + 1);
        let waiting = self.waiting.take();
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Resolves on the next change after this call.
    ///
    /// A wakeup does not imply a change: for example, dropping a timer also wakes the task. A caller that took every
    /// wakeup for a change, asked again and dropped the next timer would loop forever in microtasks and block the page.
    pub(super) async fn next(&self) {
        let known = self.count.get();
        poll_fn(|context| {
            if self.count.get() != known {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            self.waiting.borrow_mut().push(waker);
            Poll::Pending
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Context;

    use super::*;

    #[test]
    fn a_wake_up_is_not_a_change() {
        let changes = Changes::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut next = pin!(changes.next());
        for _ in 0..3 {
            assert!(next.as_mut().poll(&mut context).is_pending());
        }
        changes.notify();
        assert!(next.as_mut().poll(&mut context).is_ready());
        let mut another = pin!(changes.next());
        assert!(another.as_mut().poll(&mut context).is_pending());
    }
}
