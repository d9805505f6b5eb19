//! The shades of tokens by the values of a stream.
//!
//! Invariants: a gap has no shade, so it differs from 0; NaN has a mark of its own; the scale covers the trained tokens
//! that have a value, without the outermost hundredth on both sides, so that one outlier does not make all others equal.

use volary_core::TokenStream;
use volary_episode::token_record::{DIFFERENCE, TokenRecord};

/// The number of shades on each side of a scale.
pub const SHADES: u8 = 6;

/// The scale of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// The name of the stream.
    pub name: String,
    /// The value of the lightest shade…
    pub low: f64,
    /// …and of the darkest one.
    pub high: f64,
    /// Whether 0 is in the middle: values below it have shades of their own.
    pub has_two_sides: bool,
    /// Whether low values are dark: improbable tokens are the conspicuous ones.
    is_reversed: bool,
    /// The figures below the scale.
    pub words: String,
}

/// The shade of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// The token has no value.
    Gap,
    /// The value is NaN or infinite.
    NotFinite,
    /// A shade above the middle, or of a scale with one side: 0 to [`SHADES`].
    Above(u8),
    /// A shade below the middle.
    Below(u8),
}

impl Scale {
    /// The scale of a stream over the tokens of an episode; `None` if it has no finite value.
    pub fn of(record: &TokenRecord, name: &str, stream: &TokenStream) -> Option<Scale> {
        let is_counted = |token: usize| !record.is_mask_known || record.is_trained(token);
        let values = stream.iter().enumerate();
        let values = values.filter(|(token, _)| is_counted(*token));
        let finite = |(_, value): (usize, Option<f64>)| value.filter(|value| value.is_finite());
        let mut values: Vec<f64> = values.filter_map(finite).collect();
        if values.is_empty() {
            // Nothing is trained, yet there are values.
            values = stream
                .iter()
                .flatten()
                .filter(|value| value.is_finite())
                .collect();
        }
        let last = values.len().checked_sub(1)?;
        let edge = last / 100;
        // Sorting all values would take most of the time of a long episode.
        let mut nth = |place| *values.select_nth_unstable_by(place, f64::total_cmp).1;
        let (low, high) = (nth(edge), nth(last - edge));
        let reach = low.abs().max(high.abs());
        let has_two_sides = reach > 0.0 && is_signed(name) || low < 0.0 && high > 0.0;
        let figures = stream.figures(is_counted);
        let mean = figures.mean.map(|mean| format!("mean {}", short(mean)));
        // The outermost values, and so the mean, may be outside of the scale.
        let is_cut = figures
            .range
            .is_some_and(|(least, most)| least < low || most > high);
        let range = figures.range.filter(|_| is_cut);
        let range =
            range.map(|(least, most)| format!("values {} to {}", short(least), short(most)));
        let missing = (figures.missing > 0).then(|| format!("{} without a value", figures.missing));
        let not_finite =
            (figures.not_finite > 0).then(|| format!("{} NaN or infinite", figures.not_finite));
        let words: Vec<String> = [range, mean, missing, not_finite]
            .into_iter()
            .flatten()
            .collect();
        let scale = Scale {
            name: name.to_owned(),
            low,
            high,
            has_two_sides,
            is_reversed: false,
            words: words.join(" · "),
        };
        Some(if has_two_sides {
            scale.with_range(-reach, reach)
        } else {
            scale.with_range(low, high)
        })
    }

    /// The same stream with another range, such as that of another episode.
    pub fn with_range(self, low: f64, high: f64) -> Scale {
        let has_two_sides = low < 0.0 && high > 0.0;
        Scale {
            low,
            high,
            has_two_sides,
            is_reversed: !has_two_sides && high <= 0.0 && low < 0.0,
            ..self
        }
    }

    /// The shade of a value.
    pub fn shade(&self, value: Option<f64>) -> Shade {
        let Some(value) = value else {
            return Shade::Gap;
        };
        if !value.is_finite() {
            return Shade::NotFinite;
        }
        if self.has_two_sides {
            let reach = self.high.max(-self.low);
            let step = step(value.abs() / reach);
            return if value < 0.0 {
                Shade::Below(step)
            } else {
                Shade::Above(step)
            };
        }
        let width = self.high - self.low;
        let share = if width > 0.0 {
            (value - self.low) / width
        } else if value == 0.0 {
            0.0
        } else {
            // All values are equal: one that is not 0 is visible.
            0.5
        };
        Shade::Above(step(if self.is_reversed { 1.0 - share } else { share }))
    }

    /// The shades in the order of the legend, and its labels at both ends.
    pub fn legend(&self) -> (Vec<Shade>, String, String) {
        let above = (0..=SHADES).map(Shade::Above);
        let shades: Vec<Shade> = match (self.has_two_sides, self.is_reversed) {
            (true, _) => (1..=SHADES).rev().map(Shade::Below).chain(above).collect(),
            (false, true) => above.rev().collect(),
            (false, false) => above.collect(),
        };
        (shades, short(self.low), short(self.high))
    }
}

impl Shade {
    /// The class in the style sheet.
    pub fn class(self) -> String {
        match self {
            Shade::Gap => "shade-gap".to_owned(),
            Shade::NotFinite => "shade-nan".to_owned(),
            Shade::Above(step) => format!("shade-{step}"),
            Shade::Below(step) => format!("shade-below-{step}"),
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is between 0 and the number of shades"
)]
fn step(share: f64) -> u8 {
    (share.clamp(0.0, 1.0) * f64::from(SHADES)).round() as u8
}

/// Whether 0 divides the values of a stream, even if those of an episode have one sign: all tokens of a sample may have
/// the same advantage.
fn is_signed(name: &str) -> bool {
    name == DIFFERENCE
        || ["advantage", "return"]
            .iter()
            .any(|word| name.contains(word))
}

/// A number with about four digits.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&size) {
        with_minus(&format!("{value:.2e}"))
    } else {
        let digits = if size >= 100.0 { 1 } else { 3 };
        let text = format!("{value:.digits$}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        with_minus(text)
    }
}

/// Writes the sign of a number as a minus sign. Exponents keep their hyphen.
pub fn with_minus(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(size) => format!("−{size}"),
        None => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use volary_episode::Episode;
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

    fn scale(values: &[Option<f64>]) -> Option<Scale> {
        let ids = vec![1; values.len() + 1];
        let mut builder = TokenRecordBuilder::new(ids, LossMask::Whole(values.len())).unwrap();
        let stream: TokenStream = values.iter().copied().collect();
        builder.stream("x", &stream, Alignment::Response);
        let record = builder.divided(&Episode::default());
        Scale::of(&record, "x", record.stream("x")?.as_ref())
    }

    #[test]
    fn improbable_tokens_are_dark() {
        let scale = scale(&[Some(-4.0), Some(0.0), Some(-2.0), None]).unwrap();
        assert_eq!(scale.shade(Some(-4.0)), Shade::Above(SHADES));
        assert_eq!(scale.shade(Some(0.0)), Shade::Above(0));
        assert_eq!(scale.shade(None), Shade::Gap);
        assert_eq!(scale.shade(Some(f64::NAN)), Shade::NotFinite);
        let (shades, low, high) = scale.legend();
        assert_eq!(shades.first(), Some(&Shade::Above(SHADES)));
        assert_eq!((&*low, &*high), ("−4", "0"));
        assert_eq!(scale.words, "mean −2 · 1 without a value");
    }

    #[test]
    fn advantages_have_two_sides() {
        let scale = scale(&[Some(-0.5), Some(1.0)]).unwrap();
        assert_eq!((scale.low, scale.high), (-1.0, 1.0));
        assert_eq!(scale.shade(Some(-0.5)), Shade::Below(3));
        assert_eq!(scale.shade(Some(9.0)), Shade::Above(SHADES));
        assert_eq!(scale.shade(Some(0.0)), Shade::Above(0));
        assert_eq!(scale.legend().0.len(), usize::from(SHADES) * 2 + 1);
    }

    #[test]
    fn the_sign_of_a_constant_advantage_is_visible() {
        let ids = vec![1; 3];
        let shade = |value: f64| {
            let mut builder = TokenRecordBuilder::new(ids.clone(), LossMask::Whole(2)).unwrap();
            let stream: TokenStream = [Some(value); 2].into_iter().collect();
            builder.stream("advantages", &stream, Alignment::Response);
            let record = builder.divided(&Episode::default());
            let stream = record.stream("advantages").unwrap();
            let scale = Scale::of(&record, "advantages", stream.as_ref()).unwrap();
            scale.shade(Some(value))
        };
        assert_eq!(shade(0.7), Shade::Above(SHADES));
        assert_eq!(shade(-0.7), Shade::Below(SHADES));
        assert_eq!(shade(0.0), Shade::Above(0));
    }

    #[test]
    fn a_constant_is_visible_unless_it_is_zero() {
        let constant = scale(&[Some(2.0), Some(2.0)]).unwrap();
        assert_eq!(constant.shade(Some(2.0)), Shade::Above(SHADES / 2));
        let zero = scale(&[Some(0.0), Some(0.0)]).unwrap();
        assert_eq!(zero.shade(Some(0.0)), Shade::Above(0));
        assert_eq!(scale(&[Some(f64::NAN)]), None);
    }

    #[test]
    fn one_outlier_does_not_hide_the_others() {
        let mut values: Vec<Option<f64>> = (0..300)
            .map(|place| Some(f64::from(place) / 300.0))
            .collect();
        values.push(Some(1e6));
        let scale = scale(&values).unwrap();
        assert!(scale.high < 1.0);
        assert_eq!(scale.words, "values 0 to 1.00e6 · mean 3322.8");
        assert_eq!(short(0.000_12), "1.20e-4");
        assert_eq!(
            (&*short(-0.000_534), &*short(-1.105)),
            ("−5.34e-4", "−1.105")
        );
    }
}
