//! The reader/writer rule of tool calls: concurrency-safe calls (readers) run concurrently, any other call (a
//! writer) runs alone.
//!
//! The order is aviary's: a waiting writer does not block readers; when a writer ends, all waiting readers
//! enter, otherwise the next writer; otherwise calls enter in request order. A stream of readers could starve a
//! writer, but the number of calls in a message is finite.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The access that a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Concurrently with other readers.
    Read,
    /// Alone.
    Write,
}

/// The lock of one message's calls.
#[derive(Default)]
pub struct CallLock {
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    readers: usize,
    writer: bool,
    waiting_readers: VecDeque<Rc<Ticket>>,
    waiting_writers: VecDeque<Rc<Ticket>>,
}

/// A position in the queue. The releasing call counts the admitted one, so no other call can slip in between.
#[derive(Default)]
struct Ticket {
    admitted: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl CallLock {
    /// A free lock.
    pub fn new() -> Self {
        CallLock::default()
    }

    /// Resolves when the call may run; it runs until the guard is dropped.
    pub fn enter(&self, access: Access) -> Enter<'_> {
        Enter {
            lock: self,
            access,
            ticket: None,
        }
    }

    /// Enters at once, if the lock admits the call.
    fn try_enter(&self, access: Access) -> bool {
        let mut state = self.state.borrow_mut();
        match access {
            Access::Read if !state.writer => {
                state.readers += 1;
                true
            }
            Access::Write if !state.writer && state.readers == 0 => {
                state.writer = true;
                true
            }
            _ => false,
        }
    }

    fn leave(&self, access: Access) {
        let mut admitted = Vec::new();
        {
            let mut state = self.state.borrow_mut();
            match access {
                Access::Read => state.readers -= 1,
                Access::Write => {
                    state.writer = false;
                    admitted.extend(state.waiting_readers.drain(..));
                    state.readers = admitted.len();
                }
            }
            if state.readers == 0
                && let Some(ticket) = state.waiting_writers.pop_front()
            {
                state.writer = true;
                admitted.push(ticket);
            }
        }
        // Woken outside the borrow: a waker may run arbitrary code.
        for ticket in admitted {
            ticket.admitted.set(true);
            if let Some(waker) = ticket.waker.take() {
                waker.wake();
            }
        }
    }
}

/// Waits for admission. If dropped before, it passes its place on.
pub struct Enter<'a> {
    lock: &'a CallLock,
    access: Access,
    ticket: Option<Rc<Ticket>>,
}

impl<'a> Future for Enter<'a> {
    type Output = Guard<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Guard<'a>> {
        let entered = match &self.ticket {
            Some(ticket) => ticket.admitted.get(),
            None => self.lock.try_enter(self.access),
        };
        if entered {
            self.ticket = None;
            return Poll::Ready(Guard {
                lock: self.lock,
                access: self.access,
            });
        }
        let lock = self.lock;
        let access = self.access;
        let ticket = self.ticket.get_or_insert_with(|| {
            let ticket = Rc::new(Ticket::default());
            lock.state
                .borrow_mut()
                .queue(access)
                .push_back(Rc::clone(&ticket));
            ticket
        });
        ticket.waker.replace(Some(context.waker().clone()));
        Poll::Pending
    }
}

impl State {
    fn queue(&mut self, access: Access) -> &mut VecDeque<Rc<Ticket>> {
        match access {
            Access::Read => &mut self.waiting_readers,
            Access::Write => &mut self.waiting_writers,
        }
    }
}

impl Drop for Enter<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else {
            return;
        };
        if ticket.admitted.get() {
            self.lock.leave(self.access);
        } else {
            self.lock
                .state
                .borrow_mut()
                .queue(self.access)
                .retain(|waiting| !Rc::ptr_eq(waiting, &ticket));
        }
    }
}

/// The admission of a call. Dropping it admits the next ones.
pub struct Guard<'a> {
    lock: &'a CallLock,
    access: Access,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.lock.leave(self.access);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::StreamExt;
    use futures_util::stream::FuturesUnordered;
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Clock;
    use crate::virtual_clock::VirtualClock;

    /// A call: its request time, its access, its duration.
    type Call = (u64, Access, u64);

    /// The times at which a call was requested, began and ended.
    #[derive(Clone, Copy, Debug)]
    struct Ran {
        access: Access,
        asked: u64,
        began: u64,
        ended: u64,
    }

    fn schedule(calls: &[Call]) -> Vec<Ran> {
        let clock = VirtualClock::new();
        let lock = CallLock::new();
        let order = RefCell::new(Vec::new());
        let millis = || clock.elapsed().as_millis() as u64;
        let mut running: FuturesUnordered<_> = calls
            .iter()
            .map(|&(asks, access, takes)| {
                let (clock, lock, order) = (&clock, &lock, &order);
                async move {
                    clock.sleep(Duration::from_millis(asks)).await;
                    let asked = millis();
                    let guard = lock.enter(access).await;
                    let began = millis();
                    clock.sleep(Duration::from_millis(takes)).await;
                    let ended = millis();
                    order.borrow_mut().push(Ran {
                        access,
                        asked,
                        began,
                        ended,
                    });
                    drop(guard);
                }
            })
            .collect();
        clock
            .run(async { while running.next().await.is_some() {} })
            .unwrap();
        order.take()
    }

    fn access() -> impl Strategy<Value = Access> {
        prop_oneof![Just(Access::Read), Just(Access::Write)]
    }

    proptest! {
        #[test]
        fn a_writer_runs_alone_and_every_waiter_proceeds(
            calls in prop::collection::vec((0_u64..40, access(), 1_u64..20), 1..14),
        ) {
            let ran = schedule(&calls);
            prop_assert_eq!(ran.len(), calls.len());
            for (index, call) in ran.iter().enumerate() {
                for other in &ran[index + 1..] {
                    if call.access == Access::Write || other.access == Access::Write {
                        let apart = call.ended <= other.began || other.ended <= call.began;
                        prop_assert!(apart, "{call:?} beside {other:?}");
                    }
                }
                // A call that waited begins at the end of another one.
                if call.began > call.asked {
                    prop_assert!(ran.iter().any(|other| other.ended == call.began));
                }
                // A reader waits only for the writer that was running when it asked.
                if call.access == Access::Read {
                    let passed = ran.iter().filter(|other| {
                        other.access == Access::Write
                            && call.asked < other.began
                            && other.began < call.began
                    });
                    prop_assert_eq!(passed.count(), 0);
                }
            }
        }

        #[test]
        fn writers_run_in_the_order_of_asking(
            calls in prop::collection::vec((0_u64..40, access(), 1_u64..20), 1..14),
        ) {
            let mut writers: Vec<Ran> = schedule(&calls)
                .into_iter()
                .filter(|call| call.access == Access::Write)
                .collect();
            writers.sort_by_key(|call| call.began);
            prop_assert!(writers.is_sorted_by_key(|call| call.asked));
        }
    }

    #[test]
    fn a_cancelled_waiter_lets_the_next_one_in() {
        let lock = CallLock::new();
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = |enter: &mut Enter<'_>| match Pin::new(enter).poll(&mut context) {
            Poll::Ready(guard) => {
                std::mem::forget(guard);
                true
            }
            Poll::Pending => false,
        };
        let mut first = lock.enter(Access::Write);
        assert!(poll(&mut first));
        let mut second = lock.enter(Access::Write);
        let mut third = lock.enter(Access::Write);
        let mut fourth = lock.enter(Access::Read);
        assert!(!poll(&mut second) && !poll(&mut third) && !poll(&mut fourth));
        drop(second);
        // The fourth is admitted and dropped before it runs, so the third is admitted.
        lock.leave(Access::Write);
        assert!(!poll(&mut third));
        drop(fourth);
        assert!(poll(&mut third));
    }
}
