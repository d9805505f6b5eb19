//! Numbers for people and drawings, without the machinery that `format!` takes for any float of any length, and
//! `clamp` for saying what is wrong with its bounds: that is a fiftieth of what a first visit loads.

/// A number with so many decimals (up to nine), rounded (halves to even); cut to what 64 bits hold. `0` for none.
pub fn decimals(value: f64, places: u32) -> String {
    let one = 10_u64.pow(places.min(9));
    let size = value.abs();
    // Apart from what stands before the point, the rest is as exact as the number itself.
    let whole = size.trunc();
    let rest = ((size - whole) * one as f64).round_ties_even() as u64;
    let scaled = (whole as u64).saturating_mul(one).saturating_add(rest);
    let sign = if value < 0.0 && scaled > 0 { "-" } else { "" };
    let (whole, rest) = (scaled / one, scaled % one);
    match places {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{rest:0width$}", width = places as usize),
    }
}

/// The number, or the bound that it lies beyond. The lower bound for what is no number.
pub fn bounded(value: f64, low: f64, high: f64) -> f64 {
    value.max(low).min(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_rounded() {
        for (value, places, text) in [
            (0.0, 0, "0"),
            (1.25, 2, "1.25"),
            (1.06, 1, "1.1"),
            (0.99, 1, "1.0"),
            (1.25, 1, "1.2"),
            (12.345, 2, "12.35"),
            (12.004, 2, "12.00"),
            (-0.26, 1, "-0.3"),
            (-0.01, 1, "0.0"),
            (f64::NAN, 1, "0.0"),
        ] {
            assert_eq!(decimals(value, places), text, "{value}");
        }
    }
}
