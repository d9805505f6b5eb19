//! Computes expensive values in time slices, so that the page stays responsive.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use volary_browser::{self as browser, timers};

/// The length of a slice in seconds.
const SLICE_SECONDS: f64 = 0.008;

/// Runs one slice of the work. Returns the result when the work is done.
pub type Work<T> = Box<dyn FnMut() -> Option<T>>;

/// A value that is recomputed whenever a signal read by `begin` changes. The previous value stays until the new one is
/// complete; a value that is cheap to compute is available immediately.
pub fn gradually<T: Send + Sync + 'static>(
    first: T,
    begin: impl Fn() -> Work<T> + 'static,
) -> RwSignal<T> {
    gradually_with(first, RwSignal::new(false), begin)
}

/// Like [`gradually`]; `is_working` is true while a new value is being computed.
pub fn gradually_with<T: Send + Sync + 'static>(
    first: T,
    is_working: RwSignal<bool>,
    begin: impl Fn() -> Work<T> + 'static,
) -> RwSignal<T> {
    let value = RwSignal::new(first);
    // The inputs may change during the computation; only the last run counts.
    let last = Rc::new(Cell::new(0_u32));
    Effect::new(move |_| {
        let number = last.get().wrapping_add(1);
        last.set(number);
        let mut work = begin();
        if let Some(done) = go_on(&mut work) {
            is_working.set(false);
            return value.set(done);
        }
        is_working.set(true);
        let last = Rc::clone(&last);
        browser::spawn(async move {
            loop {
                timers::sleep(Duration::ZERO).await;
                if last.get() != number || value.is_disposed() {
                    return;
                }
                if let Some(done) = go_on(&mut work) {
                    is_working.set(false);
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
        if done.is_some() || timers::now() - start > SLICE_SECONDS {
            return done;
        }
    }
}
