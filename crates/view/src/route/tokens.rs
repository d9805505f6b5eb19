//! Places among the tokens of an episode in Review.

use super::query::{decode, encode, parameters, push_parameter};

/// What is shown of the tokens of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenPlace {
    /// The index of the selected token; counted from 1 in addresses.
    pub token: Option<usize>,
    /// The stream that colours the tokens; empty for the loss mask.
    pub stream: Option<String>,
    /// The pinned scale of that stream.
    pub scale: Option<(f64, f64)>,
    /// The clipping range ε, if it is not the usual one.
    pub clip: Option<f64>,
    /// The largest difference of log-probabilities that is no mismatch, if it is not the usual one.
    pub tolerance: Option<f64>,
}

impl TokenPlace {
    /// Parses [`ReviewPlace::tokens`](super::ReviewPlace::tokens). A scale that is not a range is none, nor is a limit that
    /// is not positive.
    pub fn read(query: &str) -> TokenPlace {
        let mut place = TokenPlace::default();
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        let positive = |text: &str| number(text).filter(|number| *number > 0.0);
        for (key, value) in parameters(query) {
            match key {
                "token" => {
                    place.token = value.parse::<usize>().ok().and_then(|at| at.checked_sub(1))
                }
                "stream" => place.stream = Some(decode(value)),
                "scale" => {
                    let ends = value.split_once('~');
                    let range = ends.and_then(|(low, high)| number(low).zip(number(high)));
                    place.scale = range.filter(|(low, high)| low <= high);
                }
                "clip" => place.clip = positive(value),
                "tolerance" => place.tolerance = positive(value),
                _ => {}
            }
        }
        place
    }

    /// The text for [`ReviewPlace::tokens`](super::ReviewPlace::tokens).
    pub fn to_query(&self) -> String {
        let mut query = String::new();
        let pairs = [
            ("token", self.token.map(|token| (token + 1).to_string())),
            ("stream", self.stream.as_deref().map(encode)),
            (
                "scale",
                self.scale.map(|(low, high)| format!("{low}~{high}")),
            ),
            ("clip", self.clip.map(|clip| clip.to_string())),
            (
                "tolerance",
                self.tolerance.map(|tolerance| tolerance.to_string()),
            ),
        ];
        for (key, value) in pairs {
            if let Some(value) = value {
                push_parameter(&mut query, key, &value);
            }
        }
        query
    }
}
