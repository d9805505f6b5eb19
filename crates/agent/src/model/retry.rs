//! Retry policy with exponential backoff: a pure function of the failures.
//!
//! Transient failures are retried after a wait that doubles each time, with jitter, so that many requests that failed
//! together are not retried together. A wait time requested by the provider is obeyed; if it is too long, the retry is
//! left to the user.

use volary_core::random::Random;

use super::{ModelError, ModelRequest, ParameterFallback, ProviderKind, fallback_for};

/// The parameters of the backoff.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The maximum number of attempts, including the first one.
    pub attempts: u32,
    /// The wait after the first failure, in seconds.
    pub first_wait: f64,
    /// The upper limit of the backoff, in seconds.
    pub longest_wait: f64,
    /// The longest wait requested by a provider that is obeyed, in seconds.
    pub longest_asked: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff {
            attempts: 5,
            first_wait: 1.0,
            longest_wait: 30.0,
            longest_asked: 120.0,
        }
    }
}

/// The decision after a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Retry {
    /// Wait this many seconds, then try again.
    Wait(f64),
    /// Do not retry.
    GiveUp,
}

impl Backoff {
    /// The decision after the `failures`-th failure in a row (from 1). The same seed returns the same wait.
    pub fn after(&self, failures: u32, error: &ModelError, seed: u64) -> Retry {
        if failures >= self.attempts || !error.is_transient() {
            return Retry::GiveUp;
        }
        let doublings = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let wait = (self.first_wait * 2_f64.powi(doublings)).min(self.longest_wait);
        let chance = Random::new(seed)
            .fork(&format!("retry {failures}"))
            .float01();
        match asked(error) {
            Some(asked) if asked > self.longest_asked => Retry::GiveUp,
            // Never before the requested time, with jitter after it.
            Some(asked) => Retry::Wait(asked + wait.min(self.first_wait) * chance),
            None => Retry::Wait(wait * (0.5 + chance / 2.0)),
        }
    }
}

fn asked(error: &ModelError) -> Option<f64> {
    match error {
        ModelError::Status { retry_after, .. } => retry_after.filter(|seconds| *seconds >= 0.0),
        _ => None,
    }
}

/// The next step after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// The request was changed: send it again at once, and notify the user.
    FallBack(ParameterFallback),
    /// Wait this many seconds, then send it again.
    Wait(f64),
    /// Report the error to the user.
    GiveUp,
}

/// The attempts of one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempts {
    backoff: Backoff,
    seed: u64,
    failures: u32,
}

impl Attempts {
    /// A request without failures. The seed determines the jitter.
    pub fn new(backoff: Backoff, seed: u64) -> Self {
        Attempts {
            backoff,
            seed,
            failures: 0,
        }
    }

    /// The next step after a failed attempt. A fallback is applied to the request itself.
    pub fn after(
        &mut self,
        kind: ProviderKind,
        request: &mut ModelRequest,
        error: &ModelError,
    ) -> Next {
        if let Some(fallback) = fallback_for(kind, request, error) {
            request.fallbacks = request.fallbacks.with(fallback);
            return Next::FallBack(fallback);
        }
        self.failures += 1;
        match self.backoff.after(self.failures, error, self.seed) {
            Retry::Wait(seconds) => Next::Wait(seconds),
            Retry::GiveUp => Next::GiveUp,
        }
    }
}

/// The seconds to wait by a `Retry-After` header: a number, or a date (`Sun, 06 Nov 1994 08:49:37
/// GMT`) relative to `now`, in seconds since 1970.
pub fn seconds_of_header(value: &str, now: f64) -> Option<f64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then_some(seconds);
    }
    Some((seconds_of_date(value)? - now).max(0.0))
}

/// An HTTP date as seconds since 1970.
fn seconds_of_date(date: &str) -> Option<f64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, rest) = date.split_once(", ")?;
    let mut words = rest.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = i64::try_from(MONTHS.iter().position(|month| *month == name)?).ok()? + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut time = words.next()?.split(':').map(str::parse::<i64>);
    let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    if words.next()? != "GMT" || !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    // Days since 1970 in the Gregorian calendar, counted in years that begin in March.
    let years = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (years.div_euclid(400), years.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn status(status: u16, retry_after: Option<f64>, message: &str) -> ModelError {
        ModelError::Status {
            status,
            message: message.into(),
            code: None,
            parameter: None,
            retry_after,
        }
    }

    #[test]
    fn only_transient_errors_are_retried() {
        let backoff = Backoff::default();
        let waits = |error: &ModelError| backoff.after(1, error, 7) != Retry::GiveUp;
        for code in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(waits(&status(code, None, "")), "{code}");
        }
        for code in [400, 401, 402, 403, 404, 413, 422, 501] {
            assert!(!waits(&status(code, None, "")), "{code}");
        }
        assert!(waits(&ModelError::Cut));
        assert!(waits(&ModelError::Silent { seconds: 60 }));
        assert!(!waits(&ModelError::TokenLimit));
        assert!(!waits(&status(
            429,
            None,
            "Your credit balance is too low."
        )));
        // A quota error with a wait time is a rate limit.
        assert!(waits(&status(429, Some(3.0), "insufficient_quota")));
    }

    #[test]
    fn a_provider_that_names_a_time_is_obeyed() {
        let backoff = Backoff::default();
        match backoff.after(1, &status(429, Some(20.0), ""), 3) {
            Retry::Wait(seconds) => assert!((20.0..=21.0).contains(&seconds)),
            Retry::GiveUp => panic!("20 s can be waited for"),
        }
        let long = status(429, Some(3600.0), "");
        assert_eq!(backoff.after(1, &long, 3), Retry::GiveUp);
    }

    #[test]
    fn fallbacks_do_not_count_as_tries() {
        let mut request = ModelRequest {
            temperature: Some(0.5),
            ..ModelRequest::default()
        };
        let mut attempts = Attempts::new(Backoff::default(), 1);
        let kind = ProviderKind::OpenAiChat;
        let mut after = |error: &ModelError| attempts.after(kind, &mut request, error);
        let refusal = status(400, None, "temperature is not supported");
        assert_eq!(
            after(&refusal),
            Next::FallBack(ParameterFallback::NoTemperature)
        );
        assert_eq!(after(&refusal), Next::GiveUp);
        let waits = (0..4).filter(|_| matches!(after(&ModelError::Cut), Next::Wait(_)));
        assert_eq!(waits.count(), 3);
    }

    #[test]
    fn headers_name_seconds_or_a_date() {
        assert_eq!(seconds_of_header(" 12 ", 0.0), Some(12.0));
        assert_eq!(seconds_of_header("0.5", 0.0), Some(0.5));
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(seconds_of_header(date, 784_111_777.0 - 5.0), Some(5.0));
        assert_eq!(seconds_of_header(date, 1e9), Some(0.0));
        assert_eq!(
            seconds_of_header("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800.0),
            Some(0.0)
        );
        for none in [
            "",
            "soon",
            "-3",
            "nan",
            "Sun, 06 Nov 1994",
            "Sun, 06 Foo 1994 08:49:37 GMT",
        ] {
            assert_eq!(seconds_of_header(none, 0.0), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn waits_double_within_their_bounds_and_end(failures in 1_u32..40, seed: u64) {
            let backoff = Backoff::default();
            match backoff.after(failures, &ModelError::Cut, seed) {
                Retry::Wait(seconds) => {
                    let whole = (1.0 * 2_f64.powi(failures as i32 - 1)).min(30.0);
                    prop_assert!(failures < 5);
                    prop_assert!(seconds >= whole / 2.0 && seconds <= whole);
                    prop_assert_eq!(backoff.after(failures, &ModelError::Cut, seed), Retry::Wait(seconds));
                }
                Retry::GiveUp => prop_assert!(failures >= 5),
            }
        }

        #[test]
        fn no_header_panics(value in "\\PC{0,40}") {
            seconds_of_header(&value, 0.0);
        }
    }
}
