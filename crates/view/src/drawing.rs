//! Gauges and drawings of frames as lengths and texts. Environments may say anything, so every number is bounded.

use super::summary::reward_text;

/// The length of a gauge's scale in user units.
pub const GAUGE_LENGTH: f64 = 100.0;
/// The least length of its filled part, so that an empty gauge is visible as one.
const LEAST_FILL: f64 = 0.75;

/// What a gauge shows.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeShape {
    /// The length of the filled part.
    pub fill: f64,
    /// The start of the mark of the target, which is one unit long.
    pub target: Option<f64>,
    pub value: String,
    pub target_text: Option<String>,
    /// The value and the target in words, for screen readers.
    pub text: String,
}

impl GaugeShape {
    pub fn of(value: f64, (low, high): (f64, f64), target: Option<f64>) -> GaugeShape {
        let place = |value: f64| {
            let share = if high > low {
                (value - low) / (high - low)
            } else {
                0.0
            };
            if share.is_nan() {
                0.0
            } else {
                share.clamp(0.0, 1.0) * GAUGE_LENGTH
            }
        };
        let target_text = target.map(plain);
        GaugeShape {
            fill: place(value).max(LEAST_FILL),
            target: target.map(|target| (place(target) - 0.5).clamp(0.0, GAUGE_LENGTH - 1.0)),
            value: plain(value),
            text: match &target_text {
                Some(target) => format!("{}, target {target}", plain(value)),
                None => plain(value),
            },
            target_text,
        }
    }
}

/// A number of a gauge; whole ones have no `.0`.
pub fn plain(value: f64) -> String {
    let text = reward_text(value);
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// The value of an attribute that has to be a number, such as `aria-valuenow`. The text next to it says what is none.
pub fn number_attribute(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        "0".to_owned()
    }
}

/// The size of a drawing in its own units, bounded so that none breaks the layout of the page.
pub fn drawing_size((width, height): (f64, f64)) -> (f64, f64) {
    const LONGEST: f64 = 1e6;
    let bounded = |length: f64| {
        if length.is_finite() {
            length.clamp(1.0, LONGEST)
        } else {
            1.0
        }
    };
    (bounded(width), bounded(height))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_gauge_is_filled_up_to_its_value() {
        let shape = GaugeShape::of(18.0, (10.0, 30.0), Some(20.0));
        assert_eq!((shape.fill, shape.target), (40.0, Some(49.5)));
        assert_eq!(
            (&*shape.value, shape.target_text.as_deref()),
            ("18", Some("20"))
        );
        assert_eq!(shape.text, "18, target 20");
        assert_eq!(GaugeShape::of(18.5, (10.0, 30.0), None).text, "18.5");
    }

    #[test]
    fn values_beyond_the_scale_stay_on_it() {
        let fill = |value| GaugeShape::of(value, (0.0, 10.0), None).fill;
        assert_eq!(fill(-5.0), LEAST_FILL);
        assert_eq!(fill(50.0), GAUGE_LENGTH);
        let target = |target| GaugeShape::of(0.0, (0.0, 10.0), Some(target)).target;
        assert_eq!(target(0.0), Some(0.0));
        assert_eq!(target(10.0), Some(99.0), "the mark is not cut off");
    }

    #[test]
    fn attributes_have_numbers() {
        assert_eq!(number_attribute(2.5), "2.5");
        assert_eq!(number_attribute(f64::NAN), "0");
        assert_eq!(number_attribute(f64::INFINITY), "0");
        assert_eq!(GaugeShape::of(f64::NAN, (0.0, 1.0), None).text, "nan");
    }

    proptest! {
        /// SVG refuses a path with NaN or an infinite length as a whole.
        #[test]
        fn lengths_are_finite_whatever_an_environment_says(
            value in any::<f64>(), low in any::<f64>(), high in any::<f64>(), target in any::<f64>(),
        ) {
            let shape = GaugeShape::of(value, (low, high), Some(target));
            prop_assert!((0.0..=GAUGE_LENGTH).contains(&shape.fill));
            prop_assert!((0.0..=GAUGE_LENGTH).contains(&shape.target.unwrap_or(-1.0)));
            let (width, height) = drawing_size((low, high));
            prop_assert!((1.0..=1e6).contains(&width) && (1.0..=1e6).contains(&height));
        }
    }
}
