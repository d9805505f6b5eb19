//! A date and time of day, and Python's `strftime`.

/// A date and time of day in the user's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilTime {
    pub year: i32,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
    /// The hour, 0 to 23.
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
}

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS_BEFORE: [u16; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

impl CivilTime {
    /// The day of the year, from 1.
    fn day_of_year(&self) -> u16 {
        let month = usize::from(self.month.clamp(1, 12));
        let is_leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        DAYS_BEFORE[month - 1] + u16::from(self.day) + u16::from(is_leap && month > 2)
    }

    /// The day of the week; Sunday is 0.
    fn weekday(&self) -> usize {
        let before = i64::from(self.year) - 1;
        let leap_days = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
        let days = before * 365 + leap_days + i64::from(self.day_of_year());
        usize::try_from(days.rem_euclid(7)).unwrap_or_default()
    }

    fn hour_of_twelve(&self) -> u8 {
        match self.hour % 12 {
            0 => 12,
            hour => hour,
        }
    }
}

/// Formats a time with English names; unknown directives are kept verbatim. Without a time, a format
/// without directives still succeeds.
pub(super) fn strftime(time: Option<&CivilTime>, format: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut signs = format.chars();
    while let Some(sign) = signs.next() {
        if sign != '%' {
            out.push(sign);
            continue;
        }
        let mut sign = signs.next();
        // glibc's flag for a number without leading zeros.
        let is_bare = sign == Some('-');
        if is_bare {
            sign = signs.next();
        }
        match sign {
            None => out.push('%'),
            Some('%') => out.push('%'),
            Some(sign) => {
                let time = time.ok_or("the template asks for the time, and it is not known")?;
                directive(&mut out, time, sign, is_bare)?;
            }
        }
    }
    Ok(out)
}

fn directive(out: &mut String, time: &CivilTime, sign: char, is_bare: bool) -> Result<(), String> {
    let mut number = |value: u32, width: usize| {
        let width = if is_bare { 0 } else { width };
        out.push_str(&format!("{value:0width$}"));
    };
    let year = time.year;
    let month = usize::from(time.month.clamp(1, 12)) - 1;
    match sign {
        'd' => number(time.day.into(), 2),
        'm' => number(time.month.into(), 2),
        'H' => number(time.hour.into(), 2),
        'I' => number(time.hour_of_twelve().into(), 2),
        'M' => number(time.minute.into(), 2),
        'S' => number(time.second.into(), 2),
        'j' => number(time.day_of_year().into(), 3),
        'y' => number(year.rem_euclid(100).unsigned_abs(), 2),
        'w' => number(u32::try_from(time.weekday()).unwrap_or_default(), 1),
        'u' => number(
            u32::try_from((time.weekday() + 6) % 7 + 1).unwrap_or_default(),
            1,
        ),
        'e' => out.push_str(&format!("{:2}", time.day)),
        'Y' => out.push_str(&year.to_string()),
        'f' => out.push_str("000000"),
        'p' => out.push_str(if time.hour < 12 { "AM" } else { "PM" }),
        'A' => out.push_str(DAYS[time.weekday()]),
        'a' => out.push_str(&DAYS[time.weekday()][..3]),
        'B' => out.push_str(MONTHS[month]),
        'b' | 'h' => out.push_str(&MONTHS[month][..3]),
        'n' => out.push('\n'),
        't' => out.push('\t'),
        // A time without a zone prints none.
        'z' | 'Z' => (),
        'D' | 'x' => out.push_str(&strftime(Some(time), "%m/%d/%y")?),
        'F' => out.push_str(&strftime(Some(time), "%Y-%m-%d")?),
        'T' | 'X' => out.push_str(&strftime(Some(time), "%H:%M:%S")?),
        'R' => out.push_str(&strftime(Some(time), "%H:%M")?),
        'c' => out.push_str(&strftime(Some(time), "%a %b %e %H:%M:%S %Y")?),
        unknown => {
            out.push('%');
            out.push(unknown);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let time = CivilTime {
            year: 2024,
            month: 7,
            day: 6,
            hour: 0,
            minute: 5,
            second: 9,
        };
        let written = |format: &str| strftime(Some(&time), format).unwrap_or_default();
        assert_eq!(written("%d %b %Y"), "06 Jul 2024");
        assert_eq!(
            written("%-d. %B, %A %a %j %w %u"),
            "6. July, Saturday Sat 188 6 6"
        );
        assert_eq!(written("%F %T %I%p %y%%"), "2024-07-06 00:05:09 12AM 24%");
        assert_eq!(written("%c|%e|%Q%"), "Sat Jul  6 00:05:09 2024| 6|%Q%");
        assert!(strftime(None, "%Y").is_err());
        assert_eq!(strftime(None, "100%%").as_deref(), Ok("100%"));
    }
}
