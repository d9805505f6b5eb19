//! Texts to floats: the nearest one, of two equally near the even one, as IEEE 754 and Python have it.
//!
//! The standard library's `parse` gives the same, which the tests hold this against. It has tables
//! for speed, though, which alone would be a twentieth of what a first visit to the page loads.

use super::whole::Whole;

/// Most texts have so few digits: the fast way is exact for them.
const EXACT_DIGITS: usize = 15;
/// Powers of ten up to this one are floats themselves.
const EXACT_POWER: i32 = 22;
/// Further digits never tell two floats apart, but for whether there are any.
const MOST_DIGITS: usize = 800;
/// Beyond these powers of ten all is infinite, or zero.
const POWERS: std::ops::Range<i64> = -400..400;
/// The least float is two to the power of minus this.
const LEAST: i64 = 1074;

/// The float that a text stands for: sign, decimal digits with a point, exponent; or `inf`,
/// `infinity`, `nan` in any case.
pub(super) fn parse(text: &str) -> Option<f64> {
    let (negative, rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let is = |word: &str| rest.eq_ignore_ascii_case(word.as_bytes());
    let value = if is("inf") || is("infinity") {
        f64::INFINITY
    } else if is("nan") {
        f64::NAN
    } else {
        Decimal::read(rest)?.nearest()
    };
    Some(if negative { -value } else { value })
}

/// Digits, the first of which is not zero, as a whole number times a power of ten.
struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn read(text: &[u8]) -> Option<Decimal> {
        let end = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, exponent) = match end {
            Some(end) => (&text[..end], power(&text[end + 1..])?),
            None => (text, 0),
        };
        let mut decimal = Decimal {
            digits: Vec::with_capacity(mantissa.len().min(MOST_DIGITS + 1)),
            exponent,
        };
        let (mut any, mut point) = (false, false);
        for byte in mantissa {
            match byte {
                b'0'..=b'9' => {
                    any = true;
                    decimal.push(byte - b'0', point);
                }
                b'.' if !point => point = true,
                _ => return None,
            }
        }
        any.then_some(decimal)
    }

    fn push(&mut self, digit: u8, after_point: bool) {
        let full = self.digits.len() >= MOST_DIGITS;
        if !full && (digit > 0 || !self.digits.is_empty()) {
            self.digits.push(digit);
        } else if full && digit > 0 && self.digits.len() == MOST_DIGITS {
            // All that matters of the rest is that it is there.
            self.digits.push(1);
            self.exponent -= 1;
        }
        self.exponent += i64::from(full) - i64::from(after_point);
    }

    fn nearest(&self) -> f64 {
        let Some(first) = self.digits.first() else {
            return 0.0;
        };
        debug_assert!(*first > 0, "leading zeros are dropped");
        let magnitude = self.exponent.saturating_add(self.digits.len() as i64);
        if magnitude < POWERS.start {
            return 0.0;
        }
        if magnitude > POWERS.end {
            return f64::INFINITY;
        }
        let exponent = self.exponent as i32;
        if self.digits.len() <= EXACT_DIGITS && exponent.abs() <= EXACT_POWER {
            let whole = self.digits.iter();
            let whole = whole.fold(0u64, |sum, digit| sum * 10 + u64::from(*digit)) as f64;
            let power = (0..exponent.abs()).fold(1.0, |power, _| power * 10.0);
            return if exponent < 0 {
                whole / power
            } else {
                whole * power
            };
        }
        self.nearest_of_any()
    }

    /// By long division of whole numbers.
    fn nearest_of_any(&self) -> f64 {
        let mut above = Whole::default();
        for digit in &self.digits {
            above.times(10, u32::from(*digit));
        }
        let mut below = Whole::from(1);
        for _ in 0..self.exponent.unsigned_abs() {
            let grows = if self.exponent < 0 {
                &mut below
            } else {
                &mut above
            };
            grows.times(10, 0);
        }
        // So that the quotient has one or two bits more than a float, but none below the least one.
        let shift = (54 + below.bits() - above.bits()).min(LEAST + 1);
        above.double(shift.max(0));
        below.double((-shift).max(0));
        let (quotient, rest) = above.divide(below);
        let surplus = (i64::from(u64::BITS - quotient.leading_zeros()) - 53).max(1);
        let half = 1u64 << (surplus - 1);
        let (mut mantissa, cut) = (quotient >> surplus, quotient & (2 * half - 1));
        if cut > half || (cut == half && (rest || mantissa % 2 == 1)) {
            mantissa += 1;
        }
        // Exact: the product is a float, or too big for one.
        mantissa as f64 * power_of_two(surplus - shift)
    }
}

/// The digits after an `e`; those of no float at all are cut.
fn power(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
            .min(i64::MAX / 4)
    });
    Some(if negative { -value } else { value })
}

fn power_of_two(exponent: i64) -> f64 {
    if exponent > 1023 {
        f64::INFINITY
    } else if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (exponent + LEAST).max(0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::parse;

    fn same(text: &str) {
        let (ours, theirs) = (parse(text), text.parse::<f64>().ok());
        assert_eq!(ours.map(f64::to_bits), theirs.map(f64::to_bits), "{text}");
    }

    #[test]
    fn edges() {
        let long = "1".repeat(1000);
        let halfway = "9007199254740993";
        let texts = [
            "0",
            "-0",
            "0.0",
            "1",
            "+1",
            ".5",
            "5.",
            "1e5",
            "1E+5",
            "1e-5",
            "00012.5e-3",
            "inf",
            "-Infinity",
            "",
            ".",
            "e5",
            "1e",
            "1e+",
            "1_0",
            "--1",
            "+-1",
            "1.2.3",
            "0x1",
            " 1",
            "4.9e-324",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2e-324",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e309",
            "-1e400",
            "1e-400",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "0e99999999999999999999",
            "123456789012345678901234567890",
            "9007199254740992.5",
            "0.1",
            "0.3",
            "1e23",
            "8.5e22",
            "9007199254740993.00000000000000000000000000000000000000000000000000000000001",
            halfway,
            &long,
            &format!("0.{long}"),
            &format!("{long}e-1300"),
            &format!("1.{long}e-310"),
            &format!("{halfway}.{}", "0".repeat(900)),
            &format!("{halfway}.{}1", "0".repeat(900)),
            &format!("{}{halfway}", "0".repeat(900)),
            &format!("0.{}1", "0".repeat(900)),
            &format!("{}e-1020", "0".repeat(3) + &long),
            &format!("1{}e-900", "0".repeat(900)),
        ];
        texts.into_iter().for_each(same);
        assert!(parse("nan").is_some_and(f64::is_nan));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn any_float_comes_back(bits in any::<u64>(), digits in 1usize..25) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            same(&format!("{value}"));
            same(&format!("{value:e}"));
            same(&format!("{value:.digits$e}"));
        }

        #[test]
        fn halves_go_to_even(bits in 0u64..0x7fe0_0000_0000_0000) {
            // Exactly between two floats, written out in full.
            let (low, high) = (f64::from_bits(bits), f64::from_bits(bits + 1));
            let exact = |value: f64| format!("{value:.1080}");
            let (low, high) = (exact(low), exact(high));
            same(&low);
            same(&middle(&low, &high));
        }

        #[test]
        fn decimals(text in "[+-]?[0-9]{0,30}\\.?[0-9]{0,30}([eE][+-]?[0-9]{1,4})?") {
            same(&text);
        }
    }

    /// The mean of two decimal texts with equally many places.
    fn middle(low: &str, high: &str) -> String {
        let digits = |text: &str| {
            text.bytes()
                .filter(u8::is_ascii_digit)
                .map(|byte| byte - b'0')
                .collect::<Vec<_>>()
        };
        let (mut low_digits, mut high_digits) = (digits(low), digits(high));
        while low_digits.len() < high_digits.len() {
            low_digits.insert(0, 0);
        }
        while high_digits.len() < low_digits.len() {
            high_digits.insert(0, 0);
        }
        let mut sum = Vec::new();
        let mut carry = 0;
        for (one, other) in low_digits.iter().zip(&high_digits).rev() {
            let digit = one + other + carry;
            sum.push(digit % 10);
            carry = digit / 10;
        }
        sum.push(carry);
        let (mut text, mut rest) = (String::new(), 0);
        for digit in sum.iter().rev() {
            let value = rest * 10 + digit;
            text.push(char::from(b'0' + value / 2));
            rest = value % 2;
        }
        text.push(if rest == 1 { '5' } else { '0' });
        let point = text.len() - 1081;
        text.insert(point, '.');
        text
    }
}
