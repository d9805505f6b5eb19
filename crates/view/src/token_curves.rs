//! Streams as curves over the position of the token, with a band that shows which tokens are trained.
//!
//! Many tokens share a column, which keeps the lowest and the highest of their values, so that no peak is lost. The work
//! is one pass over the tokens, and the paths have a bounded length.

use std::ops::Range;

use volary_core::TokenStream;
use volary_episode::token_record::TokenRecord;

use super::shapes::rectangle;
use super::token_shades::Scale;

/// The width of the box.
pub const WIDTH: f64 = 600.0;
/// The height of the box of a curve.
pub const HEIGHT: f64 = 36.0;
/// The height of the band of trained tokens.
pub const BAND: f64 = 6.0;
/// The maximum number of columns.
const COLUMNS: usize = 300;

/// The columns that tokens are drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    tokens: usize,
    count: usize,
}

#[allow(
    clippy::cast_precision_loss,
    reason = "numbers of tokens are far below 2^53"
)]
impl Columns {
    fn of(tokens: usize) -> Columns {
        Columns {
            tokens,
            count: tokens.min(COLUMNS),
        }
    }

    fn range(self, column: usize) -> Range<usize> {
        let edge = |column: usize| column * self.tokens / self.count.max(1);
        edge(column)..edge(column + 1)
    }

    /// The horizontal middle of a column.
    fn x(self, column: usize) -> f64 {
        (column as f64 + 0.5) * WIDTH / self.count.max(1) as f64
    }
}

/// The horizontal position of a token.
#[allow(
    clippy::cast_precision_loss,
    reason = "numbers of tokens are far below 2^53"
)]
pub fn x_of(token: usize, tokens: usize) -> f64 {
    (token as f64 + 0.5) * WIDTH / tokens.max(1) as f64
}

/// The token at a place from 0 (left) to 1 (right); `None` without tokens.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the result is clamped"
)]
pub fn token_at(place: f64, tokens: usize) -> Option<usize> {
    let last = tokens.checked_sub(1)?;
    Some(((place.max(0.0) * tokens as f64) as usize).min(last))
}

/// The curve of a stream as the `d` of an SVG path, within its scale. Columns without a value are gaps.
pub fn curve(stream: &TokenStream, scale: &Scale) -> String {
    let columns = Columns::of(stream.len());
    let extent = scale.high - scale.low;
    let y = |value: f64| {
        let share = if extent > 0.0 {
            ((value - scale.low) / extent).clamp(0.0, 1.0)
        } else {
            0.5
        };
        1.0 + (1.0 - share) * (HEIGHT - 2.0)
    };
    let mut path = String::new();
    let mut is_connected = false;
    for column in 0..columns.count {
        let values = columns.range(column).filter_map(|token| stream.get(token));
        let values = values.filter(|value| value.is_finite());
        let span = values.fold(None, |span: Option<(f64, f64)>, value| {
            let (low, high) = span.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let Some((low, high)) = span else {
            is_connected = false;
            continue;
        };
        let command = if is_connected { 'L' } else { 'M' };
        let (x, low, high) = (columns.x(column), y(low), y(high));
        // A line of some length, so that a single value is visible.
        let low = if is_connected || low > high {
            low
        } else {
            high + 0.5
        };
        path.push_str(&format!("{command}{x:.1} {high:.1}V{low:.1}"));
        is_connected = true;
    }
    path
}

/// The columns with trained tokens as the `d` of an SVG path; empty if the mask is unknown.
pub fn trained_band(record: &TokenRecord) -> String {
    let columns = Columns::of(record.strip.len());
    let is_trained = |column: &usize| columns.range(*column).any(|token| record.is_trained(token));
    let mut path = String::new();
    let mut column = 0;
    while column < columns.count {
        let end = (column..columns.count).find(|column| !is_trained(column));
        let end = end.unwrap_or(columns.count);
        if end > column {
            let width = columns.x(end) - columns.x(column);
            let half = columns.x(0);
            path.push_str(&rectangle(columns.x(column) - half, 0.0, width, BAND));
        }
        column = end.max(column + 1);
    }
    path
}

#[cfg(test)]
mod tests {
    use volary_episode::Episode;
    use volary_episode::token_record::{LossMask, TokenRecordBuilder};

    use super::*;

    fn record(mask: Vec<bool>) -> TokenRecord {
        let builder = TokenRecordBuilder::new(vec![1; mask.len()], LossMask::Full(mask));
        builder.unwrap().divided(&Episode::default())
    }

    fn scale(record: &TokenRecord, stream: &TokenStream) -> Scale {
        Scale::of(record, "x", stream).unwrap()
    }

    #[test]
    fn gaps_interrupt_a_curve() {
        let record = record(vec![true; 4]);
        let stream = TokenStream::from(vec![Some(0.0), Some(1.0), None, Some(1.0)]);
        let path = curve(&stream, &scale(&record, &stream));
        assert_eq!(path, "M75.0 35.0V35.5L225.0 1.0V1.0M525.0 1.0V1.5");
    }

    #[test]
    fn long_streams_keep_their_peaks_in_bounded_paths() {
        let record = record(vec![true; 128_000]);
        let mut stream: TokenStream = (0..128_000).map(|_| Some(0.0)).collect();
        stream.set(64_000, Some(9.0));
        let full = scale(&record, &stream).with_range(0.0, 9.0);
        let path = curve(&stream, &full);
        assert_eq!(path.matches(" 1.0V").count(), 1);
        assert!(path.len() < 8_000);
        assert!(trained_band(&record).len() < 100);
    }

    #[test]
    fn the_band_covers_trained_columns() {
        assert_eq!(
            trained_band(&record(vec![false, true, true, false])),
            "M150 0h300v6h-300z"
        );
        assert_eq!(trained_band(&record(vec![])), "");
    }

    #[test]
    fn places_are_tokens() {
        assert_eq!(token_at(0.0, 4), Some(0));
        assert_eq!(token_at(0.99, 4), Some(3));
        assert_eq!(token_at(7.0, 4), Some(3));
        assert_eq!(token_at(-1.0, 4), Some(0));
        assert_eq!(token_at(0.5, 0), None);
        assert!((x_of(1, 4) - 225.0).abs() < 1e-9);
    }
}
