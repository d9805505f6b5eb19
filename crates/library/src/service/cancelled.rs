//! Cancelled readings. Waiting tasks are woken at once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, Waker};
use volary_protocol::RequestId;

use futures_util::future::{Either, select};

/// The numbers of the cancelled readings.
#[derive(Default)]
pub(super) struct Cancelled {
    numbers: RefCell<BTreeSet<RequestId>>,
    /// One waker for the task of each reading, which is woken wherever it waits.
    wakers: RefCell<BTreeMap<RequestId, Waker>>,
}

impl Cancelled {
    /// Cancels a reading.
    pub(super) fn add(&self, number: RequestId) {
        self.numbers.borrow_mut().insert(number);
        let waker = self.wakers.borrow_mut().remove(&number);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Whether a reading is cancelled.
    pub(super) fn has(&self, number: RequestId) -> bool {
        self.numbers.borrow().contains(&number)
    }

    /// Removes a reading that has ended. Returns whether it was cancelled.
    pub(super) fn remove(&self, number: RequestId) -> bool {
        self.wakers.borrow_mut().remove(&number);
        self.numbers.borrow_mut().remove(&number)
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.numbers.borrow().len() + self.wakers.borrow().len()
    }

    /// Resolves when a reading is cancelled.
    pub(super) fn of(&self, number: RequestId) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            if self.has(number) {
                Poll::Ready(())
            } else {
                let waker = context.waker().clone();
                self.wakers.borrow_mut().insert(number, waker);
                Poll::Pending
            }
        })
    }

    /// The output of a future, unless the reading is cancelled first.
    pub(super) async fn unless<T>(
        &self,
        number: RequestId,
        something: impl Future<Output = T>,
    ) -> Option<T> {
        match select(pin!(self.of(number)), pin!(something)).await {
            Either::Left(_) => None,
            Either::Right((done, _)) => Some(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Context;

    use super::*;

    #[test]
    fn repeated_polls_register_one_waker() {
        let cancelled = Cancelled::default();
        let mut context = Context::from_waker(Waker::noop());
        for number in [7, 8] {
            for _ in 0..100 {
                let mut ends = pin!(cancelled.of(number));
                assert!(ends.as_mut().poll(&mut context).is_pending());
            }
        }
        assert_eq!(cancelled.wakers.borrow().len(), 2);
        cancelled.add(7);
        let mut ends = pin!(cancelled.of(7));
        assert!(ends.as_mut().poll(&mut context).is_ready());
        assert!(cancelled.remove(7) && !cancelled.remove(8));
        assert!(cancelled.wakers.borrow().is_empty(), "nobody waits now");
    }

    #[test]
    fn work_ends_at_once_when_its_reading_is_cancelled() {
        let cancelled = Cancelled::default();
        let mut context = Context::from_waker(Waker::noop());
        let work = std::future::pending::<()>();
        let mut work = pin!(cancelled.unless(7, work));
        assert!(work.as_mut().poll(&mut context).is_pending());
        cancelled.add(8);
        assert!(work.as_mut().poll(&mut context).is_pending(), "another one");
        cancelled.add(7);
        assert_eq!(work.as_mut().poll(&mut context), Poll::Ready(None));
    }

    #[test]
    fn work_that_is_done_has_an_output() {
        let cancelled = Cancelled::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut work = pin!(cancelled.unless(7, std::future::ready(3)));
        assert_eq!(work.as_mut().poll(&mut context), Poll::Ready(Some(3)));
        // A reading that was cancelled before begins no work.
        cancelled.add(7);
        let begin = async { unreachable!("it began") };
        let mut work = pin!(cancelled.unless::<()>(7, begin));
        assert_eq!(work.as_mut().poll(&mut context), Poll::Ready(None));
    }
}
