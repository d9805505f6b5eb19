//! Floats to digits: the fewest that read back; of several texts of so few digits the nearest; of two
//! equally near the one with the even last digit, as Python has it.
//!
//! The standard library finds the same (but of two equally near ones the upper), which the tests hold this
//! against. Its ways of writing floats, though, are a fiftieth of what a first visit to the page loads.

use super::whole::Whole;

/// What a positive float is written with: `120.0` has the digits `12`, and 2 as the exponent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Digits {
    /// In ASCII. Neither the first nor the last is a zero.
    pub(super) text: String,
    /// The power of ten of the first.
    pub(super) exponent: i32,
}

impl Digits {
    /// The shortest ones of a float, which must be finite and greater than zero.
    pub(super) fn of(value: f64) -> Digits {
        few(value).unwrap_or_else(|| any(value))
    }

    fn trimmed(digits: &str, exponent: i32) -> Digits {
        Digits {
            text: digits.trim_end_matches('0').to_owned(),
            exponent,
        }
    }
}

/// The fast way for floats that 15 digits tell: no two texts of so few digits are the same float, so the one
/// that reads back is the one.
fn few(value: f64) -> Option<Digits> {
    const BEYOND: f64 = 1e15;
    /// Powers of ten up to this one are floats themselves.
    const EXACT_POWER: i32 = 22;
    let mut power = 1.0;
    for decimals in 0..=EXACT_POWER {
        // Machines round down faster than to the nearest, and what is not the right one is found out below.
        let scaled = (value * power + 0.5).floor();
        if scaled >= BEYOND {
            return None;
        }
        // Of two whole floats the quotient is the one that a reader takes for the nearest.
        if scaled / power == value {
            let text = (scaled as u64).to_string();
            let exponent = text.len() as i32 - 1 - decimals;
            return Some(Digits::trimmed(&text, exponent));
        }
        power *= 10.0;
    }
    None
}

/// Digit by digit, until no other float is as near: by G. L. Steele and J. L. White, "How to print floating-point
/// numbers accurately" (1990).
fn any(value: f64) -> Digits {
    let bits = value.to_bits();
    let (fraction, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i64);
    let (mantissa, power) = match biased {
        0 => (fraction, -1074),
        _ => (fraction | (1 << 52), biased - 1075),
    };
    // A reader takes what lies half-way between two floats for the one with the even mantissa.
    let even = mantissa % 2 == 0;
    let reaches = |one: &Whole, other: &Whole| match even {
        true => one.at_least(other),
        false => !other.at_least(one),
    };
    // The value is rest / unit. Half-way to its neighbours are above / unit and below / unit; the one below a
    // power of two is only half as far as the one above.
    let narrow = i64::from(fraction == 0 && biased > 1);
    let doubled = |value: u64, times: i64| {
        let mut whole = Whole::from(value);
        whole.double(times);
        whole
    };
    let mut rest = doubled(mantissa, power.max(0) + 2);
    let mut unit = doubled(1, (-power).max(0) + 2);
    let mut above = doubled(1, power.max(0) + 1);
    let mut below = doubled(1, power.max(0) + 1 - narrow);

    // Rather too low, then set right.
    let twos = rest.bits() - unit.bits() - 1;
    let mut exponent = (twos as f64 * std::f64::consts::LOG10_2).floor() as i32 - 1;
    for _ in 0..exponent.max(0) {
        unit.times(10, 0);
    }
    for _ in exponent.min(0)..0 {
        for part in [&mut rest, &mut above, &mut below] {
            part.times(10, 0);
        }
    }
    loop {
        let mut ten = unit.clone();
        ten.times(10, 0);
        if !reaches(&sum(&rest, &above), &ten) {
            break;
        }
        unit = ten;
        exponent += 1;
    }

    let mut digits = String::new();
    loop {
        let mut digit = b'0';
        while rest.at_least(&unit) {
            rest.minus(&unit);
            digit += 1;
        }
        let stays = reaches(&below, &rest);
        let rises = reaches(&sum(&rest, &above), &unit);
        let up = match (stays, rises) {
            (true, true) => {
                let twice = sum(&rest, &rest);
                let half = twice.at_least(&unit) && unit.at_least(&twice);
                if half {
                    digit % 2 == 1
                } else {
                    twice.at_least(&unit)
                }
            }
            (_, rises) => rises,
        };
        digits.push(char::from(digit + u8::from(up)));
        if stays || rises {
            return Digits::trimmed(&digits, exponent);
        }
        for part in [&mut rest, &mut above, &mut below] {
            part.times(10, 0);
        }
    }
}

fn sum(one: &Whole, other: &Whole) -> Whole {
    let mut sum = one.clone();
    sum.plus(other);
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the standard library; of two equally near ones the one with the even last digit.
    fn expected(value: f64) -> Digits {
        let mut text = format!("{value:e}");
        let digits = text.bytes().take_while(|byte| *byte != b'e');
        let digits = digits.filter(u8::is_ascii_digit).count();
        let even = format!("{value:.*e}", digits - 1);
        if even.parse() == Ok(value) {
            text = even;
        }
        let (digits, exponent) = text.split_once('e').unwrap_or_default();
        Digits {
            text: digits.replace('.', ""),
            exponent: exponent.parse().unwrap_or(i32::MAX),
        }
    }

    #[test]
    fn edges() {
        for value in [
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE * 1.5,
            5e-324,
            1e-323,
            f64::MAX,
            1e15,
            1e16,
            1e22,
            1e23,
            9.5e-3,
            0.1 + 0.2,
            9_007_199_254_740_993.0,
            2f64.powi(-44),
            // Exactly between .2 and .3.
            964_011_321_383_674.0 + 0.25,
        ] {
            assert_eq!(Digits::of(value), expected(value), "{value:e}");
        }
        for power in -1022..1024 {
            let value = 2f64.powi(power);
            assert_eq!(Digits::of(value), expected(value), "{value:e}");
        }
    }

    proptest! {
        #[test]
        fn any_float(bits in 1u64..0x7ff0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            prop_assert_eq!(Digits::of(value), expected(value));
        }

        #[test]
        fn floats_that_people_write(whole in 1u64..1_000_000_000_000_000_000, decimals in 0i32..25) {
            let value = whole as f64 / 10f64.powi(decimals);
            prop_assert_eq!(Digits::of(value), expected(value));
        }
    }
}
