//! What takes long is worked out a little at a time, so that the page never stands still.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use crate::browser::{self, timers};
use crate::components::erased::watch;

/// So many seconds of work are done in one go.
const AT_ONCE: f64 = 0.008;

/// Does a part of the work; gives what came of all of it once it is done.
pub type Work<T> = Box<dyn FnMut() -> Option<T>>;

/// A value that is worked out anew whenever a signal changes that `begin` reads. Until that is done the value
/// stays what it was; what takes no longer than a moment is there at once.
pub fn gradually<T: Send + Sync + 'static>(
    first: T,
    begin: impl Fn() -> Work<T> + 'static,
) -> RwSignal<T> {
    let value = RwSignal::new(first);
    // What is wanted may change before all is done; the last one counts.
    let last = Rc::new(Cell::new(0_u32));
    watch(move || {
        let number = last.get().wrapping_add(1);
        last.set(number);
        let mut work = begin();
        if let Some(done) = go_on(&mut work) {
            return value.set(done);
        }
        let last = Rc::clone(&last);
        browser::spawn(async move {
            loop {
                timers::sleep(Duration::ZERO).await;
                if last.get() != number || value.is_disposed() {
                    return;
                }
                if let Some(done) = go_on(&mut work) {
                    return value.set(done);
                }
            }
        });
    });
    value
}

fn go_on<T>(work: &mut Work<T>) -> Option<T> {
    let start = timers::now();
    loop {
        let done = work();
        if done.is_some() || timers::now() - start > AT_ONCE {
            return done;
        }
    }
}
