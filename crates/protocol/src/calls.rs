//! The open calls of a worker's client, and an inbox for each of them. Pure: it stores wakers and returns them to be
//! woken.
//!
//! Invariants:
//! - A letter reaches only the call with its request id, in the order of arrival. Ids are never reused, so letters
//!   for a call that was abandoned or has ended are dropped.
//! - Once the worker is lost, every open call receives the loss after its letters, and ends.
//! - Once the client is closed, no letter is delivered any more, not even one that had arrived.

use std::collections::{BTreeMap, VecDeque};
use std::task::{Context, Poll, Waker};

use crate::{RequestId, WorkerLoss};

/// The open calls; `L` is the type of letters.
pub struct Calls<L> {
    last: RequestId,
    open: BTreeMap<RequestId, Inbox<L>>,
    loss: Option<WorkerLoss>,
    is_closed: bool,
}

/// The letters of a call that were not polled yet.
struct Inbox<L> {
    letters: VecDeque<Result<L, WorkerLoss>>,
    is_ended: bool,
    waker: Option<Waker>,
}

impl<L> Default for Calls<L> {
    fn default() -> Self {
        Calls {
            last: 0,
            open: BTreeMap::new(),
            loss: None,
            is_closed: false,
        }
    }
}

impl<L> Calls<L> {
    /// Opens a call. If the worker is lost, the call receives the loss.
    pub fn begin(&mut self) -> RequestId {
        self.last += 1;
        let loss = self.loss.clone().filter(|_| !self.is_closed).map(Err);
        let inbox = Inbox {
            is_ended: loss.is_some() || self.is_closed,
            letters: loss.into_iter().collect(),
            waker: None,
        };
        self.open.insert(self.last, inbox);
        self.last
    }

    /// Adds a letter to a call. Returns the waker to wake.
    #[must_use]
    pub fn deliver(&mut self, id: RequestId, letter: L) -> Option<Waker> {
        let inbox = self.open.get_mut(&id).filter(|inbox| !inbox.is_ended)?;
        inbox.letters.push_back(Ok(letter));
        inbox.waker.take()
    }

    /// Ends a call: no more letters will arrive. Returns the waker to wake.
    #[must_use]
    pub fn end(&mut self, id: RequestId) -> Option<Waker> {
        self.open.get_mut(&id).and_then(Inbox::end)
    }

    /// Handles the loss of the worker. Returns the wakers to wake.
    #[must_use]
    pub fn lose(&mut self, loss: WorkerLoss) -> Vec<Waker> {
        if self.loss.is_some() || self.is_closed {
            return Vec::new();
        }
        self.loss = Some(loss.clone());
        let open = self.open.values_mut().filter(|inbox| !inbox.is_ended);
        let wakers = open.filter_map(|inbox| {
            inbox.letters.push_back(Err(loss.clone()));
            inbox.end()
        });
        wakers.collect()
    }

    /// Closes the client: every open call ends at once, after the reason if there is one. Returns the wakers to
    /// wake.
    #[must_use]
    pub fn close(&mut self, reason: Option<WorkerLoss>) -> Vec<Waker> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Vec::new();
        }
        let wakers = self.open.values_mut().filter_map(|inbox| {
            inbox.letters.clear();
            inbox.letters.extend(reason.clone().map(Err));
            inbox.end()
        });
        wakers.collect()
    }

    /// Abandons a call, whose replies were dropped.
    pub fn give_up(&mut self, id: RequestId) {
        self.open.remove(&id);
    }

    /// Polls the next letter of a call; `None` at its end.
    pub fn poll(
        &mut self,
        id: RequestId,
        context: &Context<'_>,
    ) -> Poll<Option<Result<L, WorkerLoss>>> {
        let Some(inbox) = self.open.get_mut(&id) else {
            return Poll::Ready(None);
        };
        match inbox.letters.pop_front() {
            Some(letter) => Poll::Ready(Some(letter)),
            None if inbox.is_ended => Poll::Ready(None),
            None => {
                inbox.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Whether the worker is lost and does not reply any more.
    pub fn is_lost(&self) -> bool {
        self.loss.is_some()
    }
}

impl<L> Inbox<L> {
    fn end(&mut self) -> Option<Waker> {
        self.is_ended = true;
        self.waker.take()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Polled = Poll<Option<Result<(RequestId, u32), WorkerLoss>>>;

    fn loss() -> WorkerLoss {
        WorkerLoss::Crashed {
            message: "panicked".into(),
        }
    }

    fn poll(calls: &mut Calls<(RequestId, u32)>, id: RequestId) -> Polled {
        calls.poll(id, &Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_call_receives_its_letters_then_the_loss_then_nothing() {
        let mut calls = Calls::default();
        let id = calls.begin();
        assert_eq!(poll(&mut calls, id), Poll::Pending);
        assert!(calls.deliver(id, (id, 0)).is_some(), "it waits");
        let wakers = calls.lose(loss());
        assert!(wakers.is_empty(), "it is awake");
        assert_eq!(poll(&mut calls, id), Poll::Ready(Some(Ok((id, 0)))));
        assert_eq!(poll(&mut calls, id), Poll::Ready(Some(Err(loss()))));
        assert_eq!(poll(&mut calls, id), Poll::Ready(None));
        let later = calls.begin();
        assert_eq!(poll(&mut calls, later), Poll::Ready(Some(Err(loss()))));
        assert!(calls.is_lost());
    }

    #[test]
    fn a_closed_client_delivers_nothing_but_the_reason() {
        for reason in [None, Some(loss())] {
            let mut calls = Calls::default();
            let (awake, waiting) = (calls.begin(), calls.begin());
            assert!(calls.deliver(awake, (awake, 0)).is_none());
            assert!(poll(&mut calls, waiting).is_pending());
            assert_eq!(calls.close(reason.clone()).len(), 1, "one waits");
            assert!(calls.close(None).is_empty());
            assert!(calls.deliver(awake, (awake, 1)).is_none());
            for id in [awake, waiting] {
                if let Some(reason) = &reason {
                    let told = Poll::Ready(Some(Err(reason.clone())));
                    assert_eq!(poll(&mut calls, id), told);
                }
                assert_eq!(poll(&mut calls, id), Poll::Ready(None));
            }
        }
    }

    /// A waker that counts how often it is woken.
    #[derive(Default)]
    struct Count(std::sync::atomic::AtomicU32);

    impl std::task::Wake for Count {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn a_call_is_woken_once_for_each_wait() {
        let mut calls = Calls::default();
        let id = calls.begin();
        let (old, new) = (
            std::sync::Arc::<Count>::default(),
            std::sync::Arc::<Count>::default(),
        );
        let count = |counter: &Count| counter.0.load(std::sync::atomic::Ordering::Relaxed);
        for counter in [&old, &new] {
            let waker = Waker::from(counter.clone());
            assert!(calls.poll(id, &Context::from_waker(&waker)).is_pending());
        }
        let waker = calls.deliver(id, (id, 0)).unwrap();
        assert!(calls.deliver(id, (id, 1)).is_none(), "it is awake already");
        waker.wake();
        // Only the last poll counts, as for all futures.
        assert_eq!((count(&old), count(&new)), (0, 1));
        for number in [0, 1] {
            assert_eq!(poll(&mut calls, id), Poll::Ready(Some(Ok((id, number)))));
        }
    }

    #[test]
    fn the_end_wakes_a_call_that_waits() {
        let mut calls = Calls::default();
        let (waiting, awake) = (calls.begin(), calls.begin());
        assert!(poll(&mut calls, waiting).is_pending());
        assert!(calls.end(awake).is_none());
        assert!(calls.end(waiting).is_some());
        assert!(calls.end(waiting).is_none(), "it has ended");
        assert!(calls.end(99).is_none(), "there is no such call");
        assert!(calls.deliver(waiting, (waiting, 0)).is_none());
        for id in [waiting, awake] {
            assert_eq!(poll(&mut calls, id), Poll::Ready(None));
        }
    }

    #[test]
    fn a_loss_wakes_the_open_calls_only() {
        let mut calls = Calls::default();
        let [waiting, ended, dropped] = [calls.begin(), calls.begin(), calls.begin()];
        for id in [waiting, ended, dropped] {
            assert!(poll(&mut calls, id).is_pending());
        }
        let _ = calls.end(ended);
        calls.give_up(dropped);
        assert_eq!(calls.lose(loss()).len(), 1);
        assert!(
            calls.lose(WorkerLoss::Unloaded).is_empty(),
            "the first cause counts"
        );
        assert_eq!(poll(&mut calls, waiting), Poll::Ready(Some(Err(loss()))));
        assert_eq!(poll(&mut calls, ended), Poll::Ready(None));
        assert_eq!(poll(&mut calls, dropped), Poll::Ready(None));
    }

    /// An event on either side; numbers choose among the calls so far.
    #[derive(Clone, Debug)]
    enum Happening {
        Begin,
        Deliver(usize),
        End(usize),
        GiveUp(usize),
        Poll(usize),
        Lose,
        Close,
    }

    fn happening() -> impl Strategy<Value = Happening> {
        let call = || 0..6usize;
        prop_oneof![
            4 => Just(Happening::Begin),
            12 => call().prop_map(Happening::Deliver),
            2 => call().prop_map(Happening::End),
            2 => call().prop_map(Happening::GiveUp),
            12 => call().prop_map(Happening::Poll),
            1 => Just(Happening::Lose),
            1 => Just(Happening::Close),
        ]
    }

    /// The letters that a call may still receive, by the invariants of this module.
    #[derive(Default)]
    struct Expected {
        letters: VecDeque<Result<(RequestId, u32), WorkerLoss>>,
        is_ended: bool,
    }

    proptest! {
        #[test]
        fn letters_reach_their_open_call_in_order_and_no_other(
            happenings in prop::collection::vec(happening(), 0..80)
        ) {
            let mut calls = Calls::default();
            let mut expected: Vec<(RequestId, Expected)> = Vec::new();
            let (mut is_lost, mut is_closed) = (false, false);
            for (number, happening) in happenings.into_iter().enumerate() {
                let number = number as u32;
                match happening {
                    Happening::Begin => {
                        let id = calls.begin();
                        prop_assert!(expected.iter().all(|(known, _)| *known != id));
                        let mut call = Expected {
                            is_ended: is_lost || is_closed,
                            ..Expected::default()
                        };
                        call.letters.extend((is_lost && !is_closed).then(|| Err(loss())));
                        expected.push((id, call));
                    }
                    Happening::Deliver(at) => {
                        // The worker may still reply to an abandoned call.
                        let id = expected.get(at).map_or(99, |(id, _)| *id);
                        let _ = calls.deliver(id, (id, number));
                        if let Some((id, call)) = expected.get_mut(at)
                            && !call.is_ended
                        {
                            call.letters.push_back(Ok((*id, number)));
                        }
                    }
                    Happening::End(at) => {
                        if let Some((id, call)) = expected.get_mut(at) {
                            let _ = calls.end(*id);
                            call.is_ended = true;
                        }
                    }
                    Happening::GiveUp(at) => {
                        if let Some((id, call)) = expected.get_mut(at) {
                            calls.give_up(*id);
                            call.is_ended = true;
                            call.letters.clear();
                        }
                    }
                    Happening::Poll(at) => {
                        if let Some((id, call)) = expected.get_mut(at) {
                            let next = match call.letters.pop_front() {
                                Some(letter) => Poll::Ready(Some(letter)),
                                None if call.is_ended => Poll::Ready(None),
                                None => Poll::Pending,
                            };
                            prop_assert_eq!(poll(&mut calls, *id), next);
                        }
                    }
                    Happening::Lose => {
                        let _ = calls.lose(loss());
                        if !is_lost && !is_closed {
                            for (_, call) in expected.iter_mut().filter(|(_, call)| !call.is_ended) {
                                call.letters.push_back(Err(loss()));
                                call.is_ended = true;
                            }
                            is_lost = true;
                        }
                    }
                    Happening::Close => {
                        let _ = calls.close(None);
                        is_closed = true;
                        for (_, call) in &mut expected {
                            call.letters.clear();
                            call.is_ended = true;
                        }
                    }
                }
            }
        }
    }
}
