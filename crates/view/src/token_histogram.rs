//! The values of a stream over the trained tokens as a histogram.
//!
//! Invariant: the bins cover the scale, and the outermost ones also count what is beyond it, so each finite value is in
//! one bin. Gaps and NaN are in none.

use volary_core::TokenStream;
use volary_episode::token_record::TokenRecord;

use super::token_shades::{Scale, Shade, short};

/// The number of bins, unless all values are equal.
const BINS: usize = 24;

/// The number of trained tokens in each part of a scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub bins: Vec<Bin>,
    /// The number of tokens in the fullest bin.
    pub highest: usize,
    low: f64,
    width: f64,
}

/// Some tokens with similar values.
#[derive(Clone, Debug, PartialEq)]
pub struct Bin {
    pub count: usize,
    /// The range of values in words.
    pub words: String,
    /// The shade of the middle of the bin.
    pub shade: Shade,
}

impl Histogram {
    /// The histogram of a stream with its scale.
    pub fn of(record: &TokenRecord, stream: &TokenStream, scale: &Scale) -> Histogram {
        let extent = scale.high - scale.low;
        let count = if extent > 0.0 { BINS } else { 1 };
        #[allow(clippy::cast_precision_loss, reason = "a small constant")]
        let width = extent / count as f64;
        #[allow(clippy::cast_precision_loss, reason = "below the number of bins")]
        let edge = |bin: usize| scale.low + width * bin as f64;
        let bins = (0..count).map(|bin| {
            let (low, high) = (edge(bin), edge(bin + 1));
            let words = match bin {
                _ if count == 1 => short(low),
                0 => format!("below {}", short(high)),
                bin if bin + 1 == count => format!("from {}", short(low)),
                _ => format!("{} to {}", short(low), short(high)),
            };
            Bin {
                count: 0,
                words,
                shade: scale.shade(Some(f64::midpoint(low, high))),
            }
        });
        let mut histogram = Histogram {
            bins: bins.collect(),
            highest: 0,
            low: scale.low,
            width,
        };
        for (token, value) in stream.iter().enumerate() {
            if let Some(bin) = histogram.bin_at(record, token, value) {
                histogram.bins[bin].count += 1;
            }
        }
        let highest = histogram.bins.iter().map(|bin| bin.count).max();
        histogram.highest = highest.unwrap_or_default();
        histogram
    }

    /// The next token of a bin after another token; the first one after the last one.
    pub fn next(
        &self,
        record: &TokenRecord,
        stream: &TokenStream,
        bin: usize,
        after: Option<usize>,
    ) -> Option<usize> {
        let tokens = || {
            let values = stream.iter().enumerate();
            values.filter(|(token, value)| self.bin_at(record, *token, *value) == Some(bin))
        };
        let tokens_after = tokens().find(|(token, _)| after.is_none_or(|after| *token > after));
        tokens_after
            .or_else(|| tokens().next())
            .map(|(token, _)| token)
    }

    /// Whether a token is in a bin.
    pub fn holds(
        &self,
        record: &TokenRecord,
        stream: &TokenStream,
        bin: usize,
        token: usize,
    ) -> bool {
        self.bin_at(record, token, stream.get(token)) == Some(bin)
    }

    fn bin_at(&self, record: &TokenRecord, token: usize, value: Option<f64>) -> Option<usize> {
        let value = value.filter(|value| value.is_finite())?;
        (!record.is_mask_known || record.is_trained(token)).then(|| self.bin_of(value))
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and the result is clamped"
    )]
    fn bin_of(&self, value: f64) -> usize {
        let last = self.bins.len().saturating_sub(1);
        if self.width > 0.0 {
            ((value - self.low) / self.width).max(0.0) as usize
        } else {
            0
        }
        .min(last)
    }
}

#[cfg(test)]
mod tests {
    use volary_episode::Episode;
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

    fn record(values: &[f64]) -> TokenRecord {
        let mut mask = vec![true; values.len()];
        mask[0] = false;
        let ids = vec![1; values.len()];
        let mut builder = TokenRecordBuilder::new(ids, LossMask::Full(mask)).unwrap();
        let stream: TokenStream = values.iter().copied().collect();
        builder.stream("x", &stream, Alignment::Full);
        builder.divided(&Episode::default())
    }

    fn of(record: &TokenRecord) -> Histogram {
        let stream = record.stream("x").unwrap();
        Histogram::of(record, &stream, &Scale::of(record, "x", &stream).unwrap())
    }

    #[test]
    fn each_trained_value_is_in_one_bin() {
        let record = record(&[5.0, 0.0, 24.0, 1.5, 1.2, f64::NAN]);
        let histogram = of(&record);
        assert_eq!(histogram.bins.len(), BINS);
        let counts: usize = histogram.bins.iter().map(|bin| bin.count).sum();
        assert_eq!((counts, histogram.highest), (4, 2));
        assert_eq!(histogram.bins[1].words, "1 to 2");
        assert_eq!(histogram.bins[0].words, "below 1");
        assert_eq!(histogram.bins[BINS - 1].words, "from 23");
    }

    #[test]
    fn a_bin_leads_from_token_to_token_and_around() {
        let record = record(&[5.0, 0.0, 24.0, 1.5, 1.2, f64::NAN]);
        let histogram = of(&record);
        let stream = record.stream("x").unwrap();
        assert!(
            histogram.holds(&record, &stream, 1, 3) && !histogram.holds(&record, &stream, 1, 0)
        );
        let next = |after| histogram.next(&record, &stream, 1, after);
        assert_eq!(next(None), Some(3));
        assert_eq!(next(Some(3)), Some(4));
        assert_eq!(next(Some(4)), Some(3));
        assert_eq!(histogram.next(&record, &stream, 7, None), None);
    }

    #[test]
    fn a_pinned_scale_keeps_what_is_beyond_it() {
        let record = record(&[5.0, 0.0, 24.0, 1.5, 1.2, -3.0]);
        let stream = record.stream("x").unwrap();
        let scale = Scale::of(&record, "x", &stream)
            .unwrap()
            .with_range(0.0, 2.0);
        let histogram = Histogram::of(&record, &stream, &scale);
        assert_eq!(histogram.bins[0].count, 2);
        assert_eq!(histogram.bins[BINS - 1].count, 1);
    }

    #[test]
    fn equal_values_are_one_bin() {
        let histogram = of(&record(&[5.0, 2.0, 2.0]));
        assert_eq!(histogram.bins.len(), 1);
        assert_eq!(
            (histogram.bins[0].count, &*histogram.bins[0].words),
            (2, "2")
        );
    }
}
