//! Waiting for a transaction. (The crate's own future does not tell why one was broken off.)

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use idb::Transaction;

use super::DatabaseError;

/// How a transaction ends.
pub(super) struct Completion {
    /// `None` once this was dropped.
    pub(super) transaction: Option<Transaction>,
    end: End,
    /// The same transaction once more, if it ends when nobody waits for it any more.
    breaks_off: Option<Transaction>,
}

/// How something ends that goes on whether or not anybody waits for it. Clones are of the same.
#[derive(Clone)]
pub(super) struct End(Rc<RefCell<State>>);

enum State {
    Open(Option<Waker>),
    Done(Result<(), DatabaseError>),
}

impl End {
    pub(super) fn new() -> End {
        End(Rc::new(RefCell::new(State::Open(None))))
    }

    pub(super) fn reach(&self, result: Result<(), DatabaseError>) {
        if let State::Open(Some(waker)) = self.0.replace(State::Done(result)) {
            waker.wake();
        }
    }
}

impl Future for End {
    type Output = Result<(), DatabaseError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self.0.borrow_mut() {
            State::Done(result) => Poll::Ready(result.clone()),
            State::Open(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Completion {
    /// Whoever waited may be gone; the browser still calls when it is done.
    fn drop(&mut self) {
        if matches!(&*self.end.0.borrow(), State::Open(_)) {
            // One that can't be broken off is over, but for the call.
            let _ = self.breaks_off.take().map(Transaction::abort);
            std::mem::forget(self.transaction.take());
        }
    }
}

impl Completion {
    pub(super) fn of(mut transaction: Transaction) -> Self {
        let end = End::new();
        let (done, broken) = (end.clone(), end.clone());
        transaction.on_complete(move |_| done.reach(Ok(())));
        transaction.on_abort(move |event| broken.reach(Err(DatabaseError::of_event(&event))));
        Completion {
            transaction: Some(transaction),
            end,
            breaks_off: None,
        }
    }

    /// It is broken off when nobody waits for it any more; `same` is another handle of it.
    pub(super) fn break_off_unless_wanted(&mut self, same: Transaction) {
        self.breaks_off = Some(same);
    }

    /// All is asked for: it ends by itself, and not when the page, which may be busy, has heard of every request.
    pub(super) fn commit(&self, names: &[&str]) {
        // Nothing is lost where a browser knows no such end.
        let _ = self.other_handle(names).map(|other| other.commit());
    }

    /// Breaks it off. One that was broken off already still tells why.
    pub(super) fn abort(&self, names: &[&str]) {
        let _ = self.other_handle(names).map(Transaction::abort);
    }

    /// Another handle of the same transaction, which hears of nothing; `None` if it is over.
    fn other_handle(&self, names: &[&str]) -> Option<Transaction> {
        let (name, transaction) = names.first().zip(self.transaction.as_ref())?;
        let store = transaction.object_store(name).ok()?;
        Some(store.transaction())
    }

    pub(super) async fn wait(self) -> Result<(), DatabaseError> {
        self.end.clone().await
    }
}
