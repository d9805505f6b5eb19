//! Tokens that a trainer recorded with an episode: ids, the loss mask, any number of named streams, and the range of
//! each message.
//!
//! Readers build a record with [`TokenRecordBuilder`] and store it in the episode. Episodes of older versions have the
//! members of a slime sample in their raw record instead.
//!
//! - `alignment`: how the values of a stream belong to tokens. `divide`: the boundaries of messages from the mask.
//!   `streams`: the meaning of streams.
//!
//! Invariants: the parts are in order; nothing is decoded, so no tokenizer is needed; a stream that fits no alignment is
//! a misfit, and never shifted or cut.

mod alignment;
mod builder;
mod divide;
mod streams;

pub use alignment::Alignment;
use alignment::widen;
pub use builder::{LossMask, TokenRecordBuilder};
pub use streams::{DIFFERENCE, StreamKind};

use std::ops::Range;
use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_core::{TokenId, TokenStream, TokenStrip};

use crate::episode::Episode;

const TOKENS: &str = "tokens";
const MASK: &str = "loss_mask";
const LENGTH: &str = "response_length";
/// Set by rollouts that used another tokenizer than the model's.
const RECONSTRUCTED: &str = "is_reconstructed";

/// Token counts of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCounts {
    /// All tokens.
    pub tokens: usize,
    /// The number of trained ones; `None` if the mask is unknown.
    pub trained: Option<usize>,
}

/// The tokens of an episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenRecord {
    /// All tokens. Those of the prompt are not trained.
    pub strip: TokenStrip,
    /// The number of prompt tokens.
    pub prompt: usize,
    /// One part for each message that has tokens.
    pub parts: Vec<TokenPart>,
    /// Whether the response could be divided among its messages. Otherwise it is one part, at the last message.
    pub is_divided: bool,
    /// Whether the file says which tokens are trained. Otherwise no flag of the mask is set.
    pub is_mask_known: bool,
    /// Whether the tokens were computed from texts, and may differ from those that the model saw.
    pub is_reconstructed: bool,
    /// The streams that could not be aligned.
    pub misfits: Vec<StreamMisfit>,
}

/// The tokens of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenPart {
    /// The step; 0 is the start.
    pub step: usize,
    /// The index of the message in the step, where 0 is the action of a step after the start.
    pub message: usize,
    /// The range of its tokens.
    pub range: Range<usize>,
}

/// A stream whose length differs from what its format prescribes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` has {values} values for {expected} tokens")]
pub struct StreamMisfit {
    /// The name of the stream.
    pub name: Text,
    /// The number of its values.
    pub values: usize,
    /// The number of tokens that need a value.
    pub expected: usize,
}

/// Why recorded tokens cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenRecordError {
    /// A member is not a list of non-negative integers.
    #[error("`{0}` is not a list of token ids")]
    Ids(&'static str),
    /// The mask is not a list of numbers.
    #[error("`{0}` is not a list of 0 and 1")]
    Mask(&'static str),
    /// The response is longer than the list of tokens.
    #[error("The response has {response} tokens, but there are only {tokens}")]
    TooShort {
        /// The length of the response.
        response: usize,
        /// The number of tokens.
        tokens: usize,
    },
    /// A mask over all tokens has another length.
    #[error("The mask has {mask} values for {tokens} tokens")]
    MaskLength {
        /// The length of the mask.
        mask: usize,
        /// The number of tokens.
        tokens: usize,
    },
}

impl TokenRecord {
    /// The tokens of an episode; `None` if none were recorded.
    pub fn of(episode: &Episode) -> Option<Result<Arc<TokenRecord>, TokenRecordError>> {
        match &episode.tokens {
            Some(record) => Some(Ok(Arc::clone(record))),
            None => TokenRecord::of_members(episode, &episode.raw).map(|read| read.map(Arc::new)),
        }
    }

    /// Reads the members of a slime sample: `tokens`, `loss_mask` or `response_length`, and lists with a value for each
    /// token of the response. `None` if there are no tokens.
    pub(crate) fn of_members(
        episode: &Episode,
        members: &Object,
    ) -> Option<Result<TokenRecord, TokenRecordError>> {
        let (tokens, mask) = recorded(members)?;
        let read = || {
            let ids: Option<Vec<TokenId>> = tokens.iter().map(token_id).collect();
            let ids = ids.ok_or(TokenRecordError::Ids(TOKENS))?;
            let mut builder = TokenRecordBuilder::new(ids, mask.read()?)?;
            for (name, values) in streams(members, builder.response()) {
                builder.stream(name, &values, Alignment::Response);
            }
            builder.set_reconstructed(members.get(RECONSTRUCTED) == Some(&Json::Bool(true)));
            Ok(builder.divided(episode))
        };
        Some(read())
    }

    /// Adds a stream. One of another length than its alignment demands becomes a [`StreamMisfit`]; one without any value
    /// is left out.
    pub fn add_stream(
        &mut self,
        name: impl Into<Text>,
        values: &TokenStream,
        alignment: Alignment,
    ) {
        let name = name.into();
        let mask = self.strip.mask();
        match widen(values, alignment, mask, self.prompt, self.is_mask_known) {
            Ok(stream) if stream.is_blank() => {}
            // The stream has the right length.
            Ok(stream) => drop(self.strip.set_stream(name, stream)),
            Err(expected) => self.misfits.push(StreamMisfit {
                name,
                values: values.len(),
                expected,
            }),
        }
    }

    /// The non-empty part of a message.
    pub fn part(&self, step: usize, message: usize) -> Option<&TokenPart> {
        let parts = self.parts.iter();
        parts
            .filter(|part| !part.range.is_empty())
            .find(|part| (part.step, part.message) == (step, message))
    }

    /// The part that a token is in.
    pub fn part_of(&self, token: usize) -> Option<&TokenPart> {
        self.parts.iter().find(|part| part.range.contains(&token))
    }

    /// Whether a token is trained.
    pub fn is_trained(&self, token: usize) -> bool {
        self.strip.mask().get(token).copied().unwrap_or_default()
    }

    /// The counts of the record.
    pub fn counts(&self) -> TokenCounts {
        TokenCounts {
            tokens: self.strip.len(),
            trained: self.is_mask_known.then(|| self.strip.trained()),
        }
    }

    /// The approximate memory in bytes.
    pub fn size(&self) -> usize {
        const ID_AND_FLAG: usize = 5;
        const VALUE: usize = 8;
        self.strip.len() * (ID_AND_FLAG + VALUE * self.strip.streams().len())
    }
}

impl TokenCounts {
    /// The counts of an episode, without its parts; `None` if no tokens were recorded, or they cannot be used.
    pub fn of(episode: &Episode) -> Option<TokenCounts> {
        if let Some(record) = &episode.tokens {
            return Some(record.counts());
        }
        let (tokens, mask) = recorded(&episode.raw)?;
        if mask.len() > tokens.len() {
            return None;
        }
        let trained = match mask.read().ok()? {
            LossMask::Response(flags) => flags.into_iter().filter(|is_trained| *is_trained).count(),
            _ => mask.len(),
        };
        Some(TokenCounts {
            tokens: tokens.len(),
            trained: Some(trained),
        })
    }
}

/// The loss mask of the response. slime omits it if everything is trained.
#[derive(Clone, Copy)]
enum Mask<'a> {
    List(&'a [Json]),
    Whole(usize),
}

impl Mask<'_> {
    fn len(self) -> usize {
        match self {
            Mask::List(list) => list.len(),
            Mask::Whole(length) => length,
        }
    }

    fn read(self) -> Result<LossMask, TokenRecordError> {
        match self {
            Mask::Whole(length) => Ok(LossMask::Whole(length)),
            Mask::List(list) => {
                let flags: Option<Vec<bool>> = list.iter().map(flag).collect();
                let flags = flags.ok_or(TokenRecordError::Mask(MASK))?;
                Ok(LossMask::Response(flags))
            }
        }
    }
}

fn recorded(raw: &Object) -> Option<(&[Json], Mask<'_>)> {
    let tokens = raw.get(TOKENS)?.as_list().filter(|list| !list.is_empty())?;
    let mask = raw.get(MASK).and_then(Json::as_list).map(Mask::List);
    let length = || {
        let length = raw.get(LENGTH)?.as_i64()?;
        // A response longer than the tokens is an error, which only needs the length.
        let length = usize::try_from(length).ok()?.min(tokens.len() + 1);
        Some(Mask::Whole(length))
    };
    Some((tokens, mask.or_else(length)?))
}

fn token_id(value: &Json) -> Option<TokenId> {
    TokenId::try_from(value.as_i64()?).ok()
}

fn flag(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(flag) => Some(*flag),
        value => value.as_f64().map(|number| number != 0.0),
    }
}

/// All numeric lists with one value for each token of the response, which is the only alignment of slime.
fn streams(raw: &Object, length: usize) -> Vec<(Text, TokenStream)> {
    let lists = raw.iter().filter_map(|(key, value)| {
        let list = value.as_list().filter(|list| list.len() == length)?;
        let values = list.iter().map(|value| match value {
            Json::Null => Some(None),
            value => value.as_f64().map(Some),
        });
        let values: TokenStream = values.collect::<Option<Vec<_>>>()?.into();
        Some((Text::from(key.as_ref()), values))
    });
    let is_other = |(name, _): &(Text, _)| ![TOKENS, MASK].contains(&&**name);
    lists.filter(is_other).collect()
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, object};

    use super::*;
    use crate::episode::{Outcome, StepRecord};

    /// An episode with a prompt and turns, each with this many observations.
    fn episode(observations: &[usize], raw: Object) -> Episode {
        let message = |role| Message::new(role, Text::from("x")).into();
        let step = |count: &usize| {
            let outcome = Outcome::Observed {
                messages: vec![message(Role::User); *count],
                reward: 0.0,
                done: false,
                truncated: false,
            };
            StepRecord::new(message(Role::Assistant), outcome)
        };
        Episode {
            start: vec![message(Role::System), message(Role::User)],
            steps: observations.iter().map(step).collect(),
            raw,
            ..Episode::default()
        }
    }

    fn raw(tokens: &[i64], mask: &[i64]) -> Object {
        object!({ "tokens": (tokens.to_vec()), "loss_mask": (mask.to_vec()) })
    }

    fn parts(record: &TokenRecord) -> Vec<(usize, usize, Range<usize>)> {
        let parts = record.parts.iter();
        parts
            .map(|part| (part.step, part.message, part.range.clone()))
            .collect()
    }

    #[test]
    fn runs_of_the_mask_are_turns_and_headers_belong_to_theirs() {
        // 9 starts a turn, 1 and 2 are roles: the prompt ends with the header of the assistant.
        let tokens = [9, 1, 5, 9, 2, 6, 8, 9, 1, 7, 9, 2, 6, 8];
        let mask = [1, 1, 0, 0, 0, 0, 0, 1, 1];
        let raw = raw(&tokens, &mask);
        let record = TokenRecord::of(&episode(&[1, 0], raw)).unwrap().unwrap();
        assert!(record.is_divided);
        assert_eq!(
            parts(&record),
            [(0, 1, 0..5), (1, 0, 5..7), (1, 1, 7..10), (2, 0, 10..14)]
        );
        assert_eq!(record.prompt, 5);
        assert_eq!(record.strip.trained(), 4);
        assert_eq!(record.part(2, 0).map(|part| part.range.len()), Some(4));
        assert_eq!(record.part(0, 0), None);
    }

    #[test]
    fn without_a_header_what_is_between_belongs_to_the_observation() {
        let record = raw(&[4, 5, 6, 7, 8], &[1, 0, 0, 1]);
        let record = TokenRecord::of(&episode(&[2, 1], record)).unwrap().unwrap();
        assert_eq!(
            parts(&record),
            [
                (0, 1, 0..1),
                (1, 0, 1..2),
                (1, 2, 2..4),
                (2, 0, 4..5),
                (2, 1, 5..5)
            ]
        );
    }

    #[test]
    fn tokens_that_were_made_from_texts_are_marked() {
        let mut raw = raw(&[4, 5, 6], &[1, 0]);
        let record = TokenRecord::of(&episode(&[0], raw.clone()))
            .unwrap()
            .unwrap();
        assert!(!record.is_reconstructed);
        raw.insert("is_reconstructed", true);
        let record = TokenRecord::of(&episode(&[0], raw)).unwrap().unwrap();
        assert!(record.is_reconstructed);
    }

    #[test]
    fn a_mask_that_fits_no_turns_is_not_divided() {
        let record = raw(&[4, 5, 6, 7], &[1, 1, 1]);
        let record = TokenRecord::of(&episode(&[1, 1], record)).unwrap().unwrap();
        assert!(!record.is_divided);
        assert_eq!(parts(&record), [(0, 1, 0..1), (2, 1, 1..4)]);
    }

    #[test]
    fn headers_divide_turns_whatever_the_mask_is() {
        // 9 starts a turn, 1 and 2 are roles, 8 ends a turn.
        let tokens = [9, 1, 5, 8, 9, 2, 6, 7, 8, 9, 1, 7, 8, 9, 2, 6, 8];
        let expected = [(0, 1, 0..6), (1, 0, 6..9), (1, 1, 9..13), (2, 0, 13..17)];
        for mask in [
            // Trained are both turns, the second one, a part of the first one, everything, and nothing.
            [1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
            [1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1],
            [1; 11],
            [0; 11],
        ] {
            let raw = raw(&tokens, &mask);
            let record = TokenRecord::of(&episode(&[1, 0], raw)).unwrap().unwrap();
            assert!(record.is_divided, "{mask:?}");
            assert_eq!(parts(&record), expected, "{mask:?}");
        }
    }

    #[test]
    fn messages_that_follow_each_other_have_tokens_of_their_own() {
        // A token that begins the text, two messages of the prompt, a turn, two observations, and a turn.
        let tokens = [
            3, 9, 4, 5, 9, 1, 6, 9, 2, 7, 8, 10, 9, 1, 5, 9, 1, 6, 9, 2, 7, 8,
        ];
        let mask = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1];
        let record = raw(&tokens, &mask);
        let record = TokenRecord::of(&episode(&[2, 0], record)).unwrap().unwrap();
        assert_eq!(
            parts(&record),
            [
                (0, 0, 0..4),
                (0, 1, 4..9),
                (1, 0, 9..11),
                (1, 1, 11..15),
                (1, 2, 15..18),
                (2, 0, 18..22)
            ]
        );
    }

    #[test]
    fn a_token_that_begins_the_text_is_no_mark() {
        let tokens = [3, 9, 1, 5, 9, 2, 6, 8, 9, 1, 7, 9, 2, 6, 8];
        let mask = [0, 0, 0, 0, 0, 0, 0, 1, 1];
        let raw = raw(&tokens, &mask);
        let record = TokenRecord::of(&episode(&[1, 0], raw)).unwrap().unwrap();
        assert_eq!(
            parts(&record),
            [(0, 1, 0..6), (1, 0, 6..8), (1, 1, 8..11), (2, 0, 11..15)]
        );
    }

    #[test]
    fn streams_are_the_lists_as_long_as_the_response() {
        let mut raw = raw(&[4, 5, 6], &[1, 0]);
        raw.insert("rollout_log_probs", vec![-0.5, 0.0]);
        raw.insert("other", vec![1.0]);
        let record = TokenRecord::of(&episode(&[0], raw)).unwrap().unwrap();
        let streams: Vec<&str> = record.strip.streams().keys().map(AsRef::as_ref).collect();
        assert_eq!(streams, ["rollout_log_probs"]);
        assert_eq!(
            record.strip.streams()["rollout_log_probs"],
            TokenStream::from(vec![None, Some(-0.5), None])
        );
    }

    #[test]
    fn without_a_mask_the_response_is_trained() {
        let raw = object!({ "tokens": (vec![1, 2, 3]), "response_length": 2 });
        let episode = episode(&[0], raw);
        let counts = TokenCounts::of(&episode).unwrap();
        assert_eq!((counts.tokens, counts.trained), (3, Some(2)));
        let record = TokenRecord::of(&episode).unwrap().unwrap();
        assert_eq!(parts(&record), [(0, 1, 0..1), (1, 0, 1..3)]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let read = |raw: Object| TokenRecord::of(&episode(&[0], raw)).map(Result::unwrap_err);
        let short = TokenRecordError::TooShort {
            response: 2,
            tokens: 1,
        };
        assert_eq!(read(raw(&[1], &[1, 0])), Some(short));
        assert_eq!(
            read(raw(&[-1, 1], &[1])),
            Some(TokenRecordError::Ids(TOKENS))
        );
        let huge = object!({ "tokens": (vec![1]), "response_length": (i64::MAX) });
        assert!(matches!(
            read(huge),
            Some(TokenRecordError::TooShort { .. })
        ));
        let texts = object!({ "tokens": (vec![1, 2]), "loss_mask": (vec!["a"]) });
        assert_eq!(read(texts), Some(TokenRecordError::Mask(MASK)));
        assert_eq!(TokenRecord::of(&Episode::default()), None);
        assert_eq!(TokenCounts::of(&Episode::default()), None);
    }
}
