//! Tokens of a message with per-token data.

use std::collections::BTreeMap;

use crate::json::Text;
use crate::token_stream::TokenStream;

pub type TokenId = u32;

/// The tokens that a message adds to an episode. The mask and each stream have the length of the ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenStrip {
    ids: Vec<TokenId>,
    mask: Vec<bool>,
    streams: BTreeMap<Text, TokenStream>,
}

/// The error for a stream or mask whose length differs from the number of tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} has {length} values for {tokens} tokens")]
pub struct LengthError {
    /// The name of the stream or mask.
    pub name: Text,
    pub length: usize,
    /// The number of tokens.
    pub tokens: usize,
}

impl TokenStrip {
    /// Tokens with a loss mask.
    pub fn new(ids: Vec<TokenId>, mask: Vec<bool>) -> Result<Self, LengthError> {
        check("loss_mask", mask.len(), ids.len())?;
        Ok(TokenStrip {
            ids,
            mask,
            streams: BTreeMap::new(),
        })
    }

    /// Tokens with a uniform loss mask.
    pub fn uniform(ids: Vec<TokenId>, is_trained: bool) -> Self {
        TokenStrip {
            mask: vec![is_trained; ids.len()],
            ids,
            streams: BTreeMap::new(),
        }
    }

    /// Tokens with a header that is not trained; all others are.
    pub fn with_header(ids: Vec<TokenId>, header: usize) -> Self {
        TokenStrip {
            mask: (0..ids.len()).map(|index| index >= header).collect(),
            ids,
            streams: BTreeMap::new(),
        }
    }

    pub fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// The loss mask: whether each token is trained.
    pub fn mask(&self) -> &[bool] {
        &self.mask
    }

    /// Named streams of one number per token, such as log probabilities, advantages or entropies.
    pub fn streams(&self) -> &BTreeMap<Text, TokenStream> {
        &self.streams
    }

    /// Adds a stream, or replaces the one with this name.
    pub fn set_stream(
        &mut self,
        name: impl Into<Text>,
        values: impl Into<TokenStream>,
    ) -> Result<(), LengthError> {
        let (name, values) = (name.into(), values.into());
        check(&name, values.len(), self.ids.len())?;
        self.streams.insert(name, values);
        Ok(())
    }

    /// Appends tokens. A stream that only one of the two has is padded with gaps for the other.
    pub fn extend(&mut self, other: &TokenStrip) {
        let before = self.ids.len();
        self.ids.extend_from_slice(&other.ids);
        self.mask.extend_from_slice(&other.mask);
        for name in other.streams.keys() {
            let stream = self.streams.entry(name.clone());
            stream.or_insert_with(|| TokenStream::gaps(before));
        }
        for (name, stream) in &mut self.streams {
            match other.streams.get(name) {
                Some(values) => stream.extend(values.iter()),
                None => stream.resize(self.ids.len()),
            }
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The number of trained tokens.
    pub fn trained(&self) -> usize {
        self.mask.iter().filter(|is_trained| **is_trained).count()
    }
}

fn check(name: &str, length: usize, tokens: usize) -> Result<(), LengthError> {
    if length == tokens {
        Ok(())
    } else {
        Err(LengthError {
            name: name.into(),
            length,
            tokens,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_stay_as_long_as_the_tokens() {
        let mut whole = TokenStrip::uniform(vec![1, 2], false);
        let mut sampled = TokenStrip::with_header(vec![3, 4], 1);
        assert!(sampled.set_stream("logprob", vec![Some(-0.5)]).is_err());
        assert!(
            sampled
                .set_stream("logprob", vec![None, Some(-0.5)])
                .is_ok()
        );
        whole.extend(&sampled);
        whole.extend(&TokenStrip::uniform(vec![5], true));
        assert_eq!(whole.mask(), [false, false, false, true, true]);
        assert_eq!(
            whole.streams()["logprob"],
            TokenStream::from(vec![None, None, None, Some(-0.5), None])
        );
        assert!(TokenStrip::new(vec![1], vec![]).is_err());
    }
}
