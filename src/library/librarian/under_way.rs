//! Readings that are under way: whoever wants an episode that is not there yet waits for them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// The readings that are under way.
#[derive(Default)]
pub(super) struct UnderWay {
    count: Cell<usize>,
    changes: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

/// A reading is under way as long as this lives.
pub struct Going<'a>(&'a UnderWay);

impl UnderWay {
    /// One more begins.
    pub(super) fn begin(&self) -> Going<'_> {
        self.count.set(self.count.get() + 1);
        Going(self)
    }

    /// Whether something may still come.
    pub(super) fn is_any(&self) -> bool {
        self.count.get() > 0
    }

    /// Something came, or nothing more will.
    pub(super) fn tell(&self) {
        self.changes.set(self.changes.get().wrapping_add(1));
        self.wakers.take().into_iter().for_each(Waker::wake);
    }

    /// How it stands now, for [`UnderWay::changed`].
    pub(super) fn state(&self) -> u64 {
        self.changes.get()
    }

    /// Waits until something came since.
    pub(super) async fn changed(&self, since: u64) {
        poll_fn(|context| match self.changes.get() == since {
            false => Poll::Ready(()),
            true => {
                self.wakers.borrow_mut().push(context.waker().clone());
                Poll::Pending
            }
        })
        .await;
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        self.0.tell();
    }
}
