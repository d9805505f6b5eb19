//! Limits of time and memory for Python: settings of the user, stored between visits.
//!
//! Invariant: limits are within their bounds, whatever was stored or entered.

use std::ops::RangeInclusive;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use volary_browser::shared::{Shared, Unsaved};

/// The bounds of an answer's time, in seconds.
pub const SECONDS: RangeInclusive<u32> = 1..=3600;
/// The bounds of a worker's memory, in megabytes. Python itself needs about 100; 4096 is the maximum of wasm32.
pub const MEGABYTES: RangeInclusive<u32> = 256..=4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The timeout of an answer in seconds: opening an environment, a reset or a step.
    pub seconds: u32,
    /// The maximum memory of a worker in megabytes.
    pub megabytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            seconds: 60,
            megabytes: 1024,
        }
    }
}

impl Limits {
    fn read(text: &str) -> Option<Limits> {
        let limits: Limits = serde_json::from_str(text).ok()?;
        Some(Limits {
            seconds: clamp(limits.seconds, &SECONDS),
            megabytes: clamp(limits.megabytes, &MEGABYTES),
        })
    }

    fn to_text(self) -> String {
        // Two numbers can always be serialized.
        serde_json::to_string(&self).unwrap_or_default()
    }
}

fn clamp(value: u32, bounds: &RangeInclusive<u32>) -> u32 {
    value.clamp(*bounds.start(), *bounds.end())
}

/// Parses a limit; `None` unless it is a whole number within the bounds.
pub fn typed(text: &str, bounds: &RangeInclusive<u32>) -> Option<u32> {
    let value = text.trim().parse().ok()?;
    bounds.contains(&value).then_some(value)
}

thread_local! {
    static STATE: Shared<Limits> =
        Shared::new("python-limits", Limits::read, |limits| limits.to_text(), |_| {});
}

/// The limits. Tracks changes.
pub fn limits() -> Limits {
    STATE.with(Shared::signal).get()
}

/// Whether changes of the limits are only in memory.
pub fn unsaved() -> Unsaved {
    STATE.with(Shared::unsaved)
}

/// Changes the limits, in all tabs.
pub fn change(act: impl FnOnce(&mut Limits)) {
    STATE.with(|state| state.change(act));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_limits_come_back_within_their_bounds() {
        let limits = Limits {
            seconds: 600,
            megabytes: 2048,
        };
        assert_eq!(Limits::read(&limits.to_text()), Some(limits));
        assert_eq!(Limits::read("{}"), Some(Limits::default()));
        assert_eq!(
            Limits::read(r#"{"seconds": 0, "megabytes": 99999}"#),
            Some(Limits {
                seconds: 1,
                megabytes: 4096
            })
        );
        for broken in ["", "1", r#"{"seconds": -1}"#, r#"{"seconds": 1.5}"#] {
            assert_eq!(Limits::read(broken), None, "{broken}");
        }
    }

    #[test]
    fn typed_limits_must_be_whole_numbers_within_bounds() {
        assert_eq!(typed(" 90 ", &SECONDS), Some(90));
        for wrong in ["", "0", "3601", "-1", "1.5", "1e2", "a minute"] {
            assert_eq!(typed(wrong, &SECONDS), None, "{wrong}");
        }
    }
}
