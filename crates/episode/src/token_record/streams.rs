//! What well-known streams mean, and streams that follow from others. Unknown streams need no entry here.

use std::borrow::Cow;

use volary_core::TokenStream;
use volary_core::json::Text;

use super::TokenRecord;

/// The meaning of a stream that several trainers write, each under a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Log-probabilities of the sampler.
    Sampler,
    /// Log-probabilities of the trainer, before the update.
    Trainer,
    /// Log-probabilities of the reference model.
    Reference,
    Advantage,
    /// Entropies of the distribution that the token was sampled from.
    Entropy,
    /// Estimates of the divergence from the reference model, or from the sampler.
    Divergence,
}

/// The name of the stream of differences: log-probability of the trainer minus that of the sampler.
pub const DIFFERENCE: &str = "trainer − sampler";

const NAMES: [(StreamKind, &[&str]); 6] = [
    (
        StreamKind::Sampler,
        &[
            "rollout_log_probs",
            "generation_logprobs",
            "inference_logprobs",
            "logprobs",
        ],
    ),
    (
        StreamKind::Trainer,
        &[
            "log_probs",
            "prev_logprobs",
            "trainer_logprobs",
            "old_log_probs",
        ],
    ),
    (
        StreamKind::Reference,
        &["ref_log_probs", "reference_logprobs", "ref_logprobs"],
    ),
    (StreamKind::Advantage, &["advantages", "advantage"]),
    (StreamKind::Entropy, &["entropy", "entropies"]),
    (
        StreamKind::Divergence,
        &["kl", "mismatch_kl", "opd_reverse_kl"],
    ),
];

impl StreamKind {
    /// The names under which trainers write it, the usual one first.
    pub fn names(self) -> &'static [&'static str] {
        let known = NAMES.iter().find(|(kind, _)| *kind == self);
        known.map_or(&[], |(_, names)| names)
    }
}

impl TokenRecord {
    /// The stream with a meaning, if the record has one, with its name.
    pub fn stream_of(&self, kind: StreamKind) -> Option<(&'static str, &TokenStream)> {
        let streams = self.strip.streams();
        kind.names()
            .iter()
            .find_map(|name| Some((*name, streams.get(*name)?)))
    }

    /// The names of all streams, those that follow from others last.
    pub fn stream_names(&self) -> Vec<Text> {
        let has_both = [StreamKind::Trainer, StreamKind::Sampler]
            .iter()
            .all(|kind| self.stream_of(*kind).is_some());
        let names = self.strip.streams().keys().cloned();
        names.chain(has_both.then(|| DIFFERENCE.into())).collect()
    }

    /// The stream with this name, recorded or derived.
    pub fn stream(&self, name: &str) -> Option<Cow<'_, TokenStream>> {
        match self.strip.streams().get(name) {
            Some(stream) => Some(Cow::Borrowed(stream)),
            None if name == DIFFERENCE => self.differences().map(Cow::Owned),
            None => None,
        }
    }

    /// The value of a stream, recorded or derived, at a token.
    pub fn value(&self, name: &str, token: usize) -> Option<f64> {
        if let Some(stream) = self.strip.streams().get(name) {
            return stream.get(token);
        }
        if name != DIFFERENCE {
            return None;
        }
        let (_, trainer) = self.stream_of(StreamKind::Trainer)?;
        let (_, sampler) = self.stream_of(StreamKind::Sampler)?;
        Some(trainer.get(token)? - sampler.get(token)?)
    }

    /// Log-probabilities of the trainer minus those of the sampler; `None` without both.
    pub fn differences(&self) -> Option<TokenStream> {
        let (_, trainer) = self.stream_of(StreamKind::Trainer)?;
        let (_, sampler) = self.stream_of(StreamKind::Sampler)?;
        let pairs = trainer.iter().zip(sampler.iter());
        Some(
            pairs
                .map(|(trainer, sampler)| Some(trainer? - sampler?))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alignment, LossMask, TokenRecordBuilder};
    use super::*;
    use crate::episode::Episode;

    #[test]
    fn differences_need_both_sides_of_a_token() {
        let mut builder = TokenRecordBuilder::new(vec![1, 2, 3], LossMask::Whole(2)).unwrap();
        let stream = |values: [Option<f64>; 2]| values.into_iter().collect::<TokenStream>();
        builder.stream("logprobs", &stream([Some(-1.0), None]), Alignment::Response);
        let before = builder.clone().divided(&Episode::default());
        assert_eq!(before.differences(), None);
        builder.stream(
            "prev_logprobs",
            &stream([Some(-0.5), Some(-2.0)]),
            Alignment::Response,
        );
        let record = builder.divided(&Episode::default());
        let difference = record.stream(DIFFERENCE).unwrap();
        let values: Vec<Option<f64>> = difference.iter().collect();
        assert_eq!(values, [None, Some(0.5), None]);
        let names: Vec<Text> = record.stream_names();
        assert_eq!(
            names,
            ["logprobs", "prev_logprobs", DIFFERENCE].map(Text::from)
        );
    }
}
