//! The completion of a transaction, as a future. (The future of the idb crate does not report why one was aborted.)

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use idb::Transaction;

use super::DatabaseError;

/// A transaction and its completion.
pub(super) struct Completion {
    /// `None` once this was dropped.
    pub(super) transaction: Option<Transaction>,
    end: End,
    /// Another handle of the same transaction; `Some` if dropping this aborts it.
    breaks_off: Option<Transaction>,
}

/// The result of a process that runs whether or not it is awaited. Clones share it.
#[derive(Clone)]
pub(super) struct End(Rc<RefCell<CompletionState>>);

enum CompletionState {
    Open(Option<Waker>),
    Done(Result<(), DatabaseError>),
}

impl End {
    pub(super) fn new() -> End {
        End(Rc::new(RefCell::new(CompletionState::Open(None))))
    }

    pub(super) fn reach(&self, result: Result<(), DatabaseError>) {
        if let CompletionState::Open(Some(waker)) = self.0.replace(CompletionState::Done(result)) {
            waker.wake();
        }
    }
}

impl Future for End {
    type Output = Result<(), DatabaseError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self.0.borrow_mut() {
            CompletionState::Done(result) => Poll::Ready(result.clone()),
            CompletionState::Open(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Completion {
    /// The future may be dropped while the browser still calls the event handlers, so the transaction is leaked.
    fn drop(&mut self) {
        if matches!(&*self.end.0.borrow(), CompletionState::Open(_)) {
            // Aborting fails only if the transaction has ended.
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

    /// Makes dropping this abort the transaction; `same` is another handle of it.
    pub(super) fn break_off_unless_wanted(&mut self, same: Transaction) {
        self.breaks_off = Some(same);
    }

    /// Commits: all requests were made, so the transaction need not wait until the page has handled each result.
    pub(super) fn commit(&self, names: &[&str]) {
        // In a browser without `commit` the transaction ends by itself.
        let _ = self.other_handle(names).map(|other| other.commit());
    }

    /// Aborts. If the transaction was aborted before, its original error is still reported.
    pub(super) fn abort(&self, names: &[&str]) {
        let _ = self.other_handle(names).map(Transaction::abort);
    }

    /// Another handle of the same transaction, without event handlers; `None` if it is over.
    fn other_handle(&self, names: &[&str]) -> Option<Transaction> {
        let (name, transaction) = names.first().zip(self.transaction.as_ref())?;
        let store = transaction.object_store(name).ok()?;
        Some(store.transaction())
    }

    pub(super) async fn wait(self) -> Result<(), DatabaseError> {
        self.end.clone().await
    }
}
