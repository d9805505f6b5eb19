//! A stream: one number per token, such as log-probabilities or advantages, with gaps.
//!
//! Invariant: a gap (no value), 0 and NaN are three different things. A number takes eight bytes.

use std::fmt;

/// The bits of a gap: a NaN that no calculation yields. NaN values are stored with the usual bits.
const GAP: u64 = 0x7ff8_dead_dead_dead;

/// One number per token; a gap where there is none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TokenStream {
    /// The bits of 64-bit floats, so that no register changes those of a gap.
    bits: Vec<u64>,
}

/// Figures of a stream over some of its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamFigures {
    /// The number of finite values.
    pub count: usize,
    /// The number of tokens without a value.
    pub missing: usize,
    /// The number of NaN and infinite values. They are in no other figure.
    pub not_finite: usize,
    /// The mean of the finite values; `None` without any.
    pub mean: Option<f64>,
    /// The smallest and the largest finite value.
    pub range: Option<(f64, f64)>,
}

impl TokenStream {
    /// A stream of gaps.
    pub fn gaps(length: usize) -> Self {
        TokenStream {
            bits: vec![GAP; length],
        }
    }

    /// The value of a token; `None` for a gap.
    pub fn get(&self, token: usize) -> Option<f64> {
        self.bits.get(token).and_then(|bits| value(*bits))
    }

    /// Appends a value or a gap.
    pub fn push(&mut self, value: Option<f64>) {
        self.bits.push(bits(value));
    }

    /// Replaces the value of a token, if the stream is long enough.
    pub fn set(&mut self, token: usize, value: Option<f64>) {
        if let Some(slot) = self.bits.get_mut(token) {
            *slot = bits(value);
        }
    }

    /// Adds gaps at the end, or removes values there.
    pub fn resize(&mut self, length: usize) {
        self.bits.resize(length, GAP);
    }

    /// The values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<f64>> + '_ {
        self.bits.iter().map(|bits| value(*bits))
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// Whether no token has a value.
    pub fn is_blank(&self) -> bool {
        self.bits.iter().all(|bits| *bits == GAP)
    }

    /// The figures over the tokens for which `counts` is true.
    pub fn figures(&self, counts: impl Fn(usize) -> bool) -> StreamFigures {
        let mut figures = StreamFigures::default();
        let mut sum = 0.0;
        let values = self.iter().enumerate();
        for (_, value) in values.filter(|(token, _)| counts(*token)) {
            match value {
                None => figures.missing += 1,
                Some(value) if value.is_finite() => {
                    figures.count += 1;
                    sum += value;
                    let (low, high) = figures.range.unwrap_or((value, value));
                    figures.range = Some((low.min(value), high.max(value)));
                }
                Some(_) => figures.not_finite += 1,
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let mean = (figures.count > 0).then(|| sum / figures.count as f64);
        figures.mean = mean;
        figures
    }
}

fn bits(value: Option<f64>) -> u64 {
    match value {
        None => GAP,
        Some(value) if value.is_nan() => f64::NAN.to_bits(),
        Some(value) => value.to_bits(),
    }
}

fn value(bits: u64) -> Option<f64> {
    (bits != GAP).then(|| f64::from_bits(bits))
}

impl FromIterator<Option<f64>> for TokenStream {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(values: I) -> Self {
        TokenStream {
            bits: values.into_iter().map(bits).collect(),
        }
    }
}

impl FromIterator<f64> for TokenStream {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        values.into_iter().map(Some).collect()
    }
}

impl From<Vec<Option<f64>>> for TokenStream {
    fn from(values: Vec<Option<f64>>) -> Self {
        values.into_iter().collect()
    }
}

impl Extend<Option<f64>> for TokenStream {
    fn extend<I: IntoIterator<Item = Option<f64>>>(&mut self, values: I) {
        self.bits.extend(values.into_iter().map(bits));
    }
}

impl fmt::Debug for TokenStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_differs_from_zero_and_from_nan() {
        let stream: TokenStream = [None, Some(0.0), Some(f64::NAN), Some(-2.0), Some(4.0)]
            .into_iter()
            .collect();
        assert_eq!(stream.get(0), None);
        assert_eq!(stream.get(1), Some(0.0));
        assert!(stream.get(2).is_some_and(f64::is_nan));
        assert_eq!(stream.get(9), None);
        let figures = stream.figures(|_| true);
        let expected = StreamFigures {
            count: 3,
            missing: 1,
            not_finite: 1,
            mean: Some(2.0 / 3.0),
            range: Some((-2.0, 4.0)),
        };
        assert_eq!(figures, expected);
        assert_eq!(stream.figures(|token| token == 0).mean, None);
        assert!(TokenStream::gaps(2).is_blank());
    }
}
