//! Timers: delays, and the next animation frame.

use std::cell::OnceCell;
use std::time::Duration;

use gloo_timers::callback::Timeout;
use wasm_bindgen::prelude::*;
use web_sys::Performance;

thread_local! {
    static PERFORMANCE: OnceCell<Option<Performance>> = const { OnceCell::new() };
}

/// Seconds since the page or worker was started. Monotonic.
pub fn now() -> f64 {
    PERFORMANCE.with(|cell| {
        let performance = cell.get_or_init(|| {
            js_sys::Reflect::get(&js_sys::global(), &"performance".into())
                .ok()?
                .dyn_into()
                .ok()
        });
        performance
            .as_ref()
            .map_or(0.0, |performance| performance.now() / 1000.0)
    })
}

/// Seconds since 1970 by the system clock, which may jump.
pub fn wall_clock() -> f64 {
    js_sys::Date::now() / 1000.0
}

/// Formats a time of the system clock, in seconds since 1970, as local date and time: `2026-11-25 14:05`.
pub fn local_time(seconds: f64) -> String {
    // JavaScript cannot represent dates far beyond this.
    if !seconds.is_finite() || seconds.abs() > 8.0e12 {
        return String::new();
    }
    let date = |milliseconds: f64| js_sys::Date::new(&milliseconds.into());
    let milliseconds = seconds * 1000.0;
    let offset = date(milliseconds).get_timezone_offset() * 60_000.0;
    let text = String::from(date(milliseconds - offset).to_iso_string());
    text.chars().take(16).collect::<String>().replace('T', " ")
}

/// The longest delay of a browser's timer, in milliseconds. A timer with a longer one fires at once.
const LONGEST: u32 = i32::MAX.unsigned_abs();

/// Resolves after a duration of any length.
pub async fn sleep(duration: Duration) {
    for part in parts(duration) {
        gloo_timers::future::TimeoutFuture::new(part).await;
    }
}

/// A timer. Dropping it cancels it.
pub struct Alarm(#[allow(dead_code, reason = "it is only held")] Timeout);

/// Runs a function after a delay.
pub fn alarm(duration: Duration, action: impl FnOnce() + 'static) -> Alarm {
    let millis = u32::try_from(duration.as_millis()).unwrap_or(LONGEST);
    Alarm(Timeout::new(millis.min(LONGEST), action))
}

/// Splits a delay into parts that a timer accepts, in milliseconds, rounded up so that it never fires too early.
fn parts(duration: Duration) -> impl Iterator<Item = u32> {
    let rest = duration.subsec_nanos().div_ceil(1_000_000);
    let millis = duration.as_secs().saturating_mul(1000);
    let mut left = Some(millis.saturating_add(rest.into()));
    std::iter::from_fn(move || {
        let now = left?;
        let part = u32::try_from(now).unwrap_or(LONGEST).min(LONGEST);
        left = Some(now - u64::from(part)).filter(|left| *left > 0);
        Some(part)
    })
}

/// Runs a function before the next paint.
pub fn next_frame(action: impl FnOnce() + 'static) {
    let action = Closure::once_into_js(action);
    if let Some(window) = web_sys::window() {
        // Fails only without a document, and then there is nothing to paint.
        let _ = window.request_animation_frame(action.unchecked_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_come_in_parts_that_a_timer_takes() {
        let of = |millis| parts(Duration::from_millis(millis)).collect::<Vec<_>>();
        assert_eq!(of(0), [0]);
        assert_eq!(of(200), [200]);
        assert_eq!(of(u64::from(LONGEST)), [LONGEST]);
        assert_eq!(of(u64::from(LONGEST) * 2 + 7), [LONGEST, LONGEST, 7]);
        let short = parts(Duration::from_micros(1_200));
        assert_eq!(short.collect::<Vec<_>>(), [2], "not too early");
        assert_eq!(parts(Duration::MAX).take(3).count(), 3);
    }
}
