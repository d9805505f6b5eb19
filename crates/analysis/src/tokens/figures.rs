//! A summary of the recorded tokens of an episode, computed once and stored with its row.

use std::collections::BTreeMap;

use volary_core::json::Text;
use volary_core::{StreamFigures, TokenStream};
use volary_episode::token_record::{DIFFERENCE, StreamKind, TokenRecord};

/// Figures over the trained tokens, or over the whole response if the mask is unknown. Means are over finite values.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The number of NaN and infinite values in all streams.
    pub not_finite: u64,
    /// The mean of each stream with finite values, by its name, and of the differences of trainer and sampler. Empty in rows
    /// of older versions.
    pub means: Vec<(Text, f64)>,
}

impl TokenFigures {
    /// Summarises a record.
    pub fn of(record: &TokenRecord) -> TokenFigures {
        let counts = |token: usize| {
            if record.is_mask_known {
                record.is_trained(token)
            } else {
                token >= record.prompt
            }
        };
        let streams = record.strip.streams().iter();
        let known: BTreeMap<&str, StreamFigures> = streams
            .map(|(name, stream)| (&**name, stream.figures(counts)))
            .collect();
        let of = |kind| known.get(record.stream_of(kind)?.0);
        let differences = record.differences();
        let sizes = differences.as_ref().map(|stream| -> TokenStream {
            let sizes = stream.iter().map(|value| value.map(f64::abs));
            sizes.collect()
        });
        let mean = |stream: Option<&TokenStream>| stream?.figures(counts).mean;
        let means = record.strip.streams().keys().filter_map(|name| {
            let mean = known.get(&**name)?.mean?;
            Some((name.clone(), mean))
        });
        let difference = mean(differences.as_ref()).map(|mean| (DIFFERENCE.into(), mean));
        TokenFigures {
            prompt: record.prompt as u64,
            entropy: of(StreamKind::Entropy).and_then(|found| found.mean),
            divergence: of(StreamKind::Divergence).and_then(|found| found.mean),
            mismatch: mean(sizes.as_ref()),
            advantage: of(StreamKind::Advantage).and_then(|found| found.range),
            not_finite: known.values().map(|found| found.not_finite as u64).sum(),
            means: means.chain(difference).collect(),
        }
    }

    /// The mean of the stream with this name.
    pub fn mean(&self, name: &str) -> Option<f64> {
        let mut means = self.means.iter();
        means.find_map(|(known, mean)| (**known == *name).then_some(*mean))
    }

    /// The mean of the stream with a meaning.
    pub fn mean_of(&self, kind: StreamKind) -> Option<f64> {
        self.source(kind).map(|(_, mean)| mean)
    }

    /// The stream with a meaning, with its mean.
    pub(crate) fn source(&self, kind: StreamKind) -> Option<(&Text, f64)> {
        kind.names().iter().find_map(|name| {
            let mut means = self.means.iter();
            let (known, mean) = means.find(|(known, _)| **known == **name)?;
            Some((known, *mean))
        })
    }
}

#[cfg(test)]
mod tests {
    use volary_episode::episode::Episode;
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

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
        let means = [
            ("advantages", 0.5),
            ("entropy", 1.0),
            ("log_probs", -1.25),
            ("rollout_log_probs", -1.5),
            (DIFFERENCE, 0.25),
        ];
        assert_eq!(figures.means, means.map(|(name, mean)| (name.into(), mean)));
        assert_eq!(figures.mean_of(StreamKind::Trainer), Some(-1.25));
        assert_eq!(figures.mean("values"), None);
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
