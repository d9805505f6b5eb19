//! Which readings shall end. Those that wait for something else hear of it at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, Waker};

use futures_util::future::{Either, select};

use super::super::protocol::Number;

/// The numbers of readings that shall end.
#[derive(Default)]
pub(super) struct Cancelled {
    numbers: RefCell<BTreeSet<Number>>,
    /// Who waits to hear of the next one.
    wakers: RefCell<Vec<Waker>>,
}

impl Cancelled {
    /// A reading shall end.
    pub(super) fn add(&self, number: Number) {
        self.numbers.borrow_mut().insert(number);
        self.wakers.take().into_iter().for_each(Waker::wake);
    }

    /// Whether it shall end.
    pub(super) fn has(&self, number: Number) -> bool {
        self.numbers.borrow().contains(&number)
    }

    /// It has ended. Gives whether it was to.
    pub(super) fn remove(&self, number: Number) -> bool {
        self.numbers.borrow_mut().remove(&number)
    }

    /// Waits until a reading shall end.
    pub(super) fn of(&self, number: Number) -> impl Future<Output = ()> {
        poll_fn(move |context| match self.has(number) {
            true => Poll::Ready(()),
            false => {
                self.wakers.borrow_mut().push(context.waker().clone());
                Poll::Pending
            }
        })
    }

    /// What comes of something, unless the reading is to end before: then it is not waited for any longer.
    pub(super) async fn unless<T>(
        &self,
        number: Number,
        something: impl Future<Output = T>,
    ) -> Option<T> {
        match select(pin!(self.of(number)), pin!(something)).await {
            Either::Left(_) => None,
            Either::Right((done, _)) => Some(done),
        }
    }
}
