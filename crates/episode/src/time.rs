//! Parses and formats points in time, as seconds since 1970 (UTC).
//!
//! Invariants: a formatted time reads back equal to the microsecond.

const DAY: f64 = 86_400.0;

/// Parses an ISO 8601 time: `2026-11-20T20:15:00.123456+01:00`. A space is accepted instead of the `T`; a time
/// without a zone is UTC; the time of day is optional.
pub fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let date = text.get(..10)?;
    let mut parts = date.split('-');
    let mut part = || digits(parts.next()?);
    let (year, month, day) = (part()?, part()?, part()?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || date.len() != 10 {
        return None;
    }
    let days = days_from_civil(year, month, day) as f64 * DAY;
    match text.get(10..)? {
        "" => Some(days),
        rest => {
            let (time, offset) = zone(rest.strip_prefix(['T', 't', ' '])?)?;
            Some(days + time_of_day(time)? - offset)
        }
    }
}

/// Formats a time in UTC, to the microsecond: `2026-11-20T19:15:00.123456Z`. `None` outside the years 0 to 9999.
pub fn format(seconds: f64) -> Option<String> {
    let micros = (seconds * 1e6).round();
    // From the year 0 to the end of 9999.
    if !(-62_167_219_200e6..253_402_300_800e6).contains(&micros) {
        return None;
    }
    let micros = micros as i64;
    let days = micros.div_euclid(86_400_000_000);
    let rest = micros.rem_euclid(86_400_000_000);
    let (year, month, day) = civil_from_days(days);
    let (whole, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (whole / 3600, whole / 60 % 60, whole % 60);
    let fraction = match fraction {
        0 => String::new(),
        fraction => format!(".{fraction:06}"),
    };
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"
    ))
}

/// The seconds from one time to another, to the microsecond; 0 if the end precedes the start.
pub fn between(start: f64, end: f64) -> f64 {
    (((end - start) * 1e6).round() / 1e6).max(0.0)
}

fn digits(text: &str) -> Option<i64> {
    let all = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| all)
}

/// The time without its zone, and the offset of the zone from UTC in seconds.
fn zone(text: &str) -> Option<(&str, f64)> {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return Some((time, 0.0));
    }
    let Some(sign_at) = text.rfind(['+', '-']) else {
        return Some((text, 0.0));
    };
    let (time, offset) = text.split_at(sign_at);
    let sign = if offset.starts_with('-') { -1.0 } else { 1.0 };
    let (hours, minutes) = match offset.get(1..)? {
        plain if plain.len() == 4 => plain.split_at_checked(2)?,
        other => other.split_once(':').unwrap_or((other, "0")),
    };
    Some((
        time,
        sign * (digits(hours)? * 3600 + digits(minutes)? * 60) as f64,
    ))
}

fn time_of_day(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let hour = digits(parts.next()?)?;
    let minute = digits(parts.next()?)?;
    let seconds: f64 = match parts.next() {
        Some(seconds) if seconds.starts_with(|first: char| first.is_ascii_digit()) => {
            seconds.parse().ok()?
        }
        Some(_) => return None,
        None => 0.0,
    };
    let fits = hour <= 24 && minute < 60 && seconds < 61.0 && parts.next().is_none();
    fits.then_some((hour * 3600 + minute * 60) as f64 + seconds)
}

/// Days since 1970, by the Gregorian calendar (years begin in March, so that leap days come last).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0.0)),
            ("2024-02-29T12:00:00.5+00:00", Some(1_709_208_000.5)),
            ("2024-02-29 13:00:00+01:00", Some(1_709_208_000.0)),
            ("2024-02-29T12:00:00", Some(1_709_208_000.0)),
            ("2024-02-29T07:00-0500", Some(1_709_208_000.0)),
            ("2024-02-29", Some(1_709_164_800.0)),
            ("1969-12-31T23:59:59Z", Some(-1.0)),
            ("2024-13-01T00:00:00Z", None),
            ("yesterday at noon", None),
            ("2024-02-29T1:é", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for seconds in [
            0.0,
            1_709_208_000.5,
            1_763_669_700.123_456,
            -1.25,
            -62_167_219_200.0,
        ] {
            let text = format(seconds).unwrap_or_default();
            assert_eq!(parse(&text), Some(seconds), "{text}");
        }
        for none in [f64::NAN, f64::INFINITY, 1e15] {
            assert_eq!(format(none), None);
        }
    }
}
