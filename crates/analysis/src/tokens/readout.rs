//! A token in figures: the log-probabilities of sampler and trainer, their ratio, and whether the loss clips it.

use volary_episode::token_record::{StreamKind, TokenRecord};

/// What the log-probabilities of a token say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Readout {
    pub sampler: f64,
    pub trainer: f64,
    /// Probability of the trainer divided by that of the sampler.
    pub ratio: f64,
    pub clip: Clip,
}

/// Whether PPO's loss clips a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clip {
    /// The ratio is within 1 ± ε.
    Within,
    /// The ratio is outside, on the side to which the advantage pushes: the token has no gradient.
    Clipped,
    /// The ratio is outside, on the other side: the token keeps its gradient.
    Kept,
    /// The ratio is outside, and the advantage is unknown, so it may be clipped.
    Outside,
}

impl Readout {
    /// The figures of a token at a clipping range ε; `None` without both log-probabilities.
    pub fn of(record: &TokenRecord, token: usize, epsilon: f64) -> Option<Readout> {
        let value = |kind| record.stream_of(kind)?.1.get(token);
        let sampler = value(StreamKind::Sampler)?;
        let trainer = value(StreamKind::Trainer)?;
        let ratio = (trainer - sampler).exp();
        let clip = match value(StreamKind::Advantage) {
            _ if (1.0 - epsilon..=1.0 + epsilon).contains(&ratio) => Clip::Within,
            Some(advantage) if advantage > 0.0 && ratio > 1.0 => Clip::Clipped,
            Some(advantage) if advantage < 0.0 && ratio < 1.0 => Clip::Clipped,
            Some(advantage) if !advantage.is_nan() => Clip::Kept,
            _ => Clip::Outside,
        };
        Some(Readout {
            sampler,
            trainer,
            ratio,
            clip,
        })
    }
}

impl Clip {
    /// What it means, as a label.
    pub fn label(self) -> &'static str {
        match self {
            Clip::Within => "not clipped",
            Clip::Clipped => "clipped: no gradient",
            Clip::Kept => "outside of the range, but not clipped: the advantage pushes it back",
            Clip::Outside => "outside of the range; whether it is clipped depends on the advantage",
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::TokenStream;
    use volary_episode::episode::Episode;
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

    #[test]
    fn the_side_of_the_advantage_clips() {
        let mut builder = TokenRecordBuilder::new(vec![1; 5], LossMask::Whole(5)).unwrap();
        let mut add = |name: &str, values: [f64; 5]| {
            let values: TokenStream = values.iter().copied().collect();
            builder.stream(name, &values, Alignment::Full);
        };
        add("logprobs", [-1.0; 5]);
        add("log_probs", [-0.9, -0.5, -0.5, -2.0, -2.0]);
        add("advantages", [1.0, 1.0, -1.0, -1.0, f64::NAN]);
        let record = builder.divided(&Episode::default());
        let clip = |token| Readout::of(&record, token, 0.2).unwrap().clip;
        assert_eq!(clip(0), Clip::Within);
        assert_eq!(clip(1), Clip::Clipped);
        assert_eq!(clip(2), Clip::Kept);
        assert_eq!(clip(3), Clip::Clipped);
        assert_eq!(clip(4), Clip::Outside);
        let readout = Readout::of(&record, 1, 0.2).unwrap();
        assert!((readout.ratio - 0.5_f64.exp()).abs() < 1e-12);
        assert_eq!(Readout::of(&record, 9, 0.2), None);
    }
}
