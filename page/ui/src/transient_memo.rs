//! Memos of views that come and go.
//!
//! A memo, or an effect, stays in the list of subscribers of what it read until that changes. A plain memo never takes a
//! subscriber out that no longer exists. So views that are drawn again and again, such as the rows of a table that is
//! followed for hours, would leave an entry each.

use leptos::prelude::*;
use leptos::reactive::graph::{Subscriber, ToAnySubscriber};

/// A memo that leaves the lists of its sources when its owner is cleaned up. Effects of the view read it instead of a
/// signal that outlives the view.
pub fn transient_memo<T: PartialEq + Send + Sync + 'static>(
    compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static,
) -> Memo<T> {
    let memo = ArcMemo::new(compute);
    let subscriber = memo.to_any_subscriber();
    on_cleanup(move || subscriber.clear_sources(&subscriber));
    memo.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn it_follows_its_sources_as_long_as_its_owner_lives() {
        let page = Owner::new();
        page.with(|| {
            let source = RwSignal::new(1);
            let between = Memo::new(move |_| source.get() * 2);
            let computed = Arc::new(AtomicUsize::new(0));
            let count = || computed.load(Ordering::Relaxed);
            let view = Owner::new();
            let memo = view.with(|| {
                let computed = Arc::clone(&computed);
                transient_memo(move |_| {
                    computed.fetch_add(1, Ordering::Relaxed);
                    between.get() + 1
                })
            });
            assert_eq!(memo.get_untracked(), 3);
            source.set(2);
            assert_eq!((memo.get_untracked(), count()), (5, 2));
            view.cleanup();
            assert_eq!(memo.try_get_untracked(), None);
            source.set(3);
            assert_eq!((between.get_untracked(), count()), (6, 2));
            assert_eq!(Arc::strong_count(&computed), 1, "nothing holds it");
        });
    }
}
