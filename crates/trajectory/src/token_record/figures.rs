//! A summary of the recorded tokens of an episode, computed once and stored with its row.

use volary_core::TokenStream;

use super::{StreamKind, TokenRecord};

/// Figures over the trained tokens, or over the whole response if the mask is unknown. Means are over finite values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenFigures {
    /// The number of prompt tokens.
    pub prompt: u64,
    /// The mean entropy.
    pub entropy: Option<f64>,
    /// The mean estimate of the divergence.
    pub divergence: Option<f64>,
    /// The mean absolute difference of the log-probabilities of trainer and sampler.
    pub mismatch: Option<f64>,
    /// The lowest and the highest advantage. They are equal if the sample has one for all of its tokens.
    pub advantage: Option<(f64, f64)>,
    /// The number of NaN and infinite values in the streams of these figures.
    pub not_finite: u64,
}

impl TokenFigures {
    /// Summarises a record.
    pub fn of(record: &TokenRecord) -> TokenFigures {
        let counts = |token: usize| match record.is_mask_known {
            true => record.is_trained(token),
            false => token >= record.prompt,
        };
        let mut not_finite = 0;
        let mut figures = |stream: Option<&TokenStream>| {
            let figures = stream?.figures(counts);
            not_finite += figures.not_finite as u64;
            Some(figures)
        };
        let stream = |kind| record.stream_of(kind).map(|(_, stream)| stream);
        let entropy = figures(stream(StreamKind::Entropy)).and_then(|found| found.mean);
        let divergence = figures(stream(StreamKind::Divergence)).and_then(|found| found.mean);
        let advantage = figures(stream(StreamKind::Advantage)).and_then(|found| found.range);
        let differences: Option<TokenStream> = record.differences().map(|stream| {
            let sizes = stream.iter().map(|value| value.map(f64::abs));
            sizes.collect()
        });
        let mismatch = figures(differences.as_ref()).and_then(|found| found.mean);
        TokenFigures {
            prompt: record.prompt as u64,
            entropy,
            divergence,
            mismatch,
            advantage,
            not_finite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alignment, LossMask, TokenRecordBuilder};
    use super::*;
    use crate::episode::Episode;

    fn record(mask: LossMask, streams: &[(&str, &[f64])]) -> TokenRecord {
        let mut builder = TokenRecordBuilder::new(vec![1, 2, 3, 4], mask).unwrap();
        for (name, values) in streams {
            let values: TokenStream = values.iter().copied().collect();
            builder.stream(*name, &values, Alignment::Response);
        }
        builder.divided(&Episode::default())
    }

    #[test]
    fn means_are_over_trained_and_finite_values() {
        let mask = LossMask::Response(vec![true, false, true]);
        let figures = TokenFigures::of(&record(
            mask,
            &[
                ("entropy", &[1.0, 9.0, f64::NAN]),
                ("rollout_log_probs", &[-1.0, 0.0, -2.0]),
                ("log_probs", &[-1.5, 0.0, -1.0]),
                ("advantages", &[0.5, 0.0, 0.5]),
            ],
        ));
        assert_eq!(figures.prompt, 1);
        assert_eq!(figures.entropy, Some(1.0));
        assert_eq!(figures.mismatch, Some(0.75));
        assert_eq!(figures.advantage, Some((0.5, 0.5)));
        assert_eq!(figures.divergence, None);
        assert_eq!(figures.not_finite, 1);
    }

    #[test]
    fn without_a_mask_the_whole_response_counts() {
        let figures = TokenFigures::of(&record(
            LossMask::Unknown(3),
            &[("entropy", &[1.0, 2.0, 3.0])],
        ));
        assert_eq!(figures.entropy, Some(2.0));
    }
}
