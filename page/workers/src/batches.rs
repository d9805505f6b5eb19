//! Sends what arrives one by one in batches, because a message and a transaction cost more than an item.
//!
//! Invariants: every item is sent once, in the order of arrival, and none waits longer than the limit for items that
//! come later or never: what is finished must be stored before the worker can be lost.

use std::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::{Stream, StreamExt};
use volary_core::Clock;

/// When a batch is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchLimits {
    /// Once its items are longer than this in total…
    pub length: usize,
    /// …or this many seconds after its first item.
    pub seconds: f64,
}

/// Sends the items of a stream until it ends.
pub(super) async fn send_in_batches<T>(
    mut items: impl Stream<Item = T> + Unpin,
    clock: &dyn Clock,
    limits: BatchLimits,
    length_of: impl Fn(&T) -> usize,
    mut send: impl FnMut(Vec<T>),
) {
    let (mut batch, mut length, mut begun) = (Vec::new(), 0, 0.0);
    // Some while there are items in the batch.
    let mut due: Option<LocalBoxFuture<'static, ()>> = None;
    loop {
        let arrived = match &mut due {
            None => Either::Left(items.next().await),
            Some(due) => match select(items.next(), due).await {
                Either::Left((item, _)) => Either::Left(item),
                Either::Right(((), _)) => Either::Right(()),
            },
        };
        let is_due = match arrived {
            Either::Left(None) => break,
            Either::Left(Some(item)) => {
                if due.is_none() {
                    begun = clock.now();
                    due = Some(clock.sleep(Duration::from_secs_f64(limits.seconds)));
                }
                length += length_of(&item);
                batch.push(item);
                // A timer does not fire while items keep this thread busy.
                length > limits.length || clock.now() - begun > limits.seconds
            }
            Either::Right(()) => true,
        };
        if is_due {
            send(std::mem::take(&mut batch));
            (length, due) = (0, None);
        }
    }
    if !batch.is_empty() {
        send(batch);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use futures_util::stream;
    use proptest::prelude::*;
    use volary_core::virtual_clock::VirtualClock;

    use super::*;

    const LIMITS: BatchLimits = BatchLimits {
        length: 100,
        seconds: 1.0,
    };

    /// An item that arrives after some seconds.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Late {
        at: f64,
        length: usize,
    }

    fn late(at: f64, length: usize) -> Late {
        Late { at, length }
    }

    /// The batches of items that are all awaited at once, each with the time at which it was sent.
    fn batches(items: &[Late]) -> Vec<(f64, Vec<Late>)> {
        let clock = VirtualClock::new();
        let sent = RefCell::new(Vec::new());
        let arriving = items.iter().map(async |item| {
            clock.sleep(Duration::from_secs_f64(item.at)).await;
            *item
        });
        let arriving = stream::iter(arriving).buffer_unordered(1000);
        let send = |batch| sent.borrow_mut().push((clock.now(), batch));
        let sending = send_in_batches(arriving, &clock, LIMITS, |item| item.length, send);
        assert_eq!(clock.run(sending), Ok(()));
        sent.into_inner()
    }

    #[test]
    fn a_finished_item_does_not_wait_for_one_that_takes_minutes() {
        let (one, other, slow) = (late(0.5, 1), late(0.7, 1), late(600.0, 1));
        assert_eq!(
            batches(&[slow, one, other]),
            [(1.5, vec![one, other]), (600.0, vec![slow])]
        );
    }

    #[test]
    fn a_long_batch_is_sent_at_once() {
        let items = [late(0.1, 60), late(0.2, 60), late(0.3, 5)];
        assert_eq!(
            batches(&items),
            [(0.2, items[..2].to_vec()), (0.3, items[2..].to_vec())]
        );
        let large = late(0.0, 101);
        assert_eq!(batches(&[large]), [(0.0, vec![large])]);
    }

    #[test]
    fn the_time_counts_from_the_first_item_of_a_batch() {
        let items = [late(5.0, 1), late(5.9, 1), late(6.1, 1)];
        assert_eq!(
            batches(&items),
            [(6.0, items[..2].to_vec()), (6.1, items[2..].to_vec())]
        );
    }

    #[test]
    fn nothing_is_sent_without_items() {
        assert_eq!(batches(&[]), []);
    }

    #[test]
    fn items_that_keep_the_thread_busy_are_sent_in_time_too() {
        // Each takes 0.4 s of computing, in which no timer fires.
        let now = RefCell::new(0.0);
        struct Busy<'a>(&'a RefCell<f64>);
        impl Clock for Busy<'_> {
            fn now(&self) -> f64 {
                *self.0.borrow()
            }

            fn sleep(&self, _: Duration) -> LocalBoxFuture<'static, ()> {
                Box::pin(std::future::pending())
            }
        }
        let items = stream::iter(0..7).inspect(|_| *now.borrow_mut() += 0.4);
        let mut sent = Vec::new();
        let clock = Busy(&now);
        let sending = send_in_batches(items, &clock, LIMITS, |_| 1, |batch| sent.push(batch));
        assert_eq!(futures_util::FutureExt::now_or_never(sending), Some(()));
        assert_eq!(sent, [vec![0, 1, 2, 3], vec![4, 5, 6]]);
    }

    proptest! {
        #[test]
        fn every_item_is_sent_once_and_soon(
            items in prop::collection::vec((0u32..80, 0usize..60), 0..40),
        ) {
            // Times of their own, so that the order of arrival is known.
            let mut items: Vec<Late> = items
                .iter()
                .enumerate()
                .map(|(place, (at, length))| late(f64::from(*at) / 10.0 + place as f64 / 1e4, *length))
                .collect();
            let batches = batches(&items);
            items.sort_by(|one, other| one.at.total_cmp(&other.at));
            let sent: Vec<Late> = batches.iter().flat_map(|(_, batch)| batch.clone()).collect();
            prop_assert_eq!(sent, items);
            for (at, batch) in &batches {
                let first = batch.first().map(|item| item.at);
                prop_assert!(first.is_some_and(|first| at - first <= LIMITS.seconds + 1e-6));
                let all_but_last = &batch[..batch.len() - 1];
                let length: usize = all_but_last.iter().map(|item| item.length).sum();
                prop_assert!(length <= LIMITS.length);
            }
        }
    }
}
