//! The lists of a sample with a value for each token: ids, the loss mask, and streams of numbers.
//!
//! The only alignment of slime is the response: a list has as many values as tokens after the prompt. Lists of another
//! length under the name of a known stream are reported; other lists are no streams.

use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_core::{TokenId, TokenStream};
use volary_episode::episode::Episode;
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder, TokenRecordError};

use crate::import::reader::Sink;

const TOKENS: &str = "tokens";
const MASK: [&str; 2] = ["loss_mask", "loss_masks"];
const LENGTH: [&str; 2] = ["response_length", "response_lengths"];
/// Offsets of the ids that sampling with top-p kept: one more than tokens of the response.
const KEPT: &str = "rollout_top_p_token_offsets";
/// The stream of their numbers.
const KEPT_COUNT: &str = "rollout_top_p_kept";
/// How the names of lists begin that belong to the prompt, whatever their length.
const PROMPT: &str = "prompt";

/// Lists that have no value for each token, although they may be as long: the ids that top-p kept, of all tokens in one
/// list, and the versions of the weights.
const OTHERS: [&str; 2] = ["rollout_top_p_token_ids", "weight_versions"];

/// Streams that are expected for each token, so that a wrong length is an error.
const STREAMS: [&str; 12] = [
    "rollout_log_probs",
    "teacher_log_probs",
    "log_probs",
    "ref_log_probs",
    "values",
    "advantages",
    "returns",
    "kl",
    "entropy",
    "opd_reverse_kl",
    "old_log_probs",
    "weights",
];

/// The numeric lists of a sample, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::import) struct Lists {
    lists: Vec<(Text, TokenStream)>,
}

impl Lists {
    /// Copies the numeric lists of a sample.
    pub fn take(sample: &mut Object) -> Lists {
        let lists = sample.iter().filter_map(|(key, value)| {
            let list = value.as_list().filter(|list| !list.is_empty())?;
            let number = |value: &Json| match value {
                Json::Null => Some(None),
                Json::Bool(flag) => Some(Some(f64::from(u8::from(*flag)))),
                value => value.as_f64().map(Some),
            };
            let values: Vec<Option<f64>> = list.iter().map(number).collect::<Option<_>>()?;
            Some((Text::from(key.as_ref()), values.into()))
        });
        Lists {
            lists: lists.collect(),
        }
    }

    /// Adds a list.
    pub fn push(&mut self, name: &str, list: TokenStream) {
        self.lists.push((name.into(), list));
    }

    /// Removes a list.
    pub fn remove(&mut self, names: &[&str]) -> Option<TokenStream> {
        let index = self
            .lists
            .iter()
            .position(|(name, _)| names.contains(&&**name))?;
        Some(self.lists.swap_remove(index).1)
    }

    /// Looks up a list by its name.
    pub fn get(&self, name: &str) -> Option<&TokenStream> {
        let found = self.lists.iter().find(|(known, _)| **known == *name);
        found.map(|(_, list)| list)
    }

    /// The lists that are neither ids nor a mask.
    pub fn into_streams(mut self) -> Vec<(Text, TokenStream)> {
        self.remove(&[TOKENS]);
        self.remove(&MASK);
        self.lists.retain(|(name, _)| !OTHERS.contains(&&**name));
        self.lists
    }

    /// Stores the tokens in an episode, and removes what was used from the other members of its sample. Tokens that
    /// cannot be used stay there.
    pub fn record(mut self, episode: &mut Episode, rest: &mut Object, sink: &mut Sink<'_>) {
        let is_removed = rest.get("remove_sample") == Some(&Json::Bool(true));
        // Tables with gaps make floats of all numbers of a column.
        let whole = |value: &Json| value.as_i64().or_else(|| as_index(value.as_f64()));
        let length = LENGTH.iter().find_map(|key| whole(rest.get(key)?));
        let built = self.builder(length, is_removed);
        let Some(built) = built else {
            return self.keep(rest);
        };
        let (mut builder, mut used) = match built {
            Ok(built) => built,
            Err(error) => {
                self.keep(rest);
                return sink.kept(format!(
                    "The tokens of a sample can't be used, and are kept unchanged: {error}."
                ));
            }
        };
        used.extend(self.streams(&mut builder));
        for key in LENGTH {
            used.push(key.into());
        }
        builder.set_reconstructed(rest.get("is_reconstructed") == Some(&Json::Bool(true)));
        rest.retain(|key, _| !used.iter().any(|name| **name == *key.as_ref()));
        let record = builder.divided(episode);
        for misfit in &record.misfits {
            sink.lost(format!("A stream is left out: {misfit}."));
        }
        episode.tokens = Some(Arc::new(record));
    }

    /// Adds the lists to the other members of their sample, so that they are not lost.
    fn keep(self, rest: &mut Object) {
        for (name, list) in self.lists {
            if !rest.contains_key(&name) {
                let values = list.iter().map(|value| match value {
                    #[allow(clippy::cast_possible_truncation, reason = "it has no fraction")]
                    Some(value) if value.fract() == 0.0 => (value as i64).into(),
                    Some(value) => value.into(),
                    None => Json::Null,
                });
                rest.insert(name.to_string(), Json::List(values.collect()));
            }
        }
    }

    /// Starts a record with ids and mask; `None` without them. Also returns the names of the used lists.
    pub fn builder(
        &mut self,
        length: Option<i64>,
        is_removed: bool,
    ) -> Option<Result<(TokenRecordBuilder, Vec<Text>), TokenRecordError>> {
        let ids = self.lists.iter().find(|(name, _)| **name == *TOKENS)?;
        let response = length.and_then(|length| usize::try_from(length).ok());
        let mask = self.lists.iter().find(|(name, _)| MASK.contains(&&**name));
        let mut misfit = None;
        let mask = match (mask, response) {
            (Some((_, mask)), _) if is_removed => LossMask::Response(vec![false; mask.len()]),
            (None, Some(response)) if is_removed => {
                LossMask::Response(vec![false; response.min(ids.1.len() + 1)])
            }
            // It may be a part of the mask, if ranks divide the response.
            (Some((name, mask)), Some(response))
                if mask.len() != response && response <= ids.1.len() =>
            {
                misfit = Some((name.clone(), mask.len(), response));
                LossMask::Unknown(response)
            }
            (Some((_, mask)), _) => LossMask::Response(
                mask.iter()
                    .map(|flag| flag.is_some_and(|flag| flag != 0.0))
                    .collect(),
            ),
            (None, Some(response)) => LossMask::Whole(response),
            (None, None) => return None,
        };
        let ids: Option<Vec<TokenId>> = ids.1.iter().map(token_id).collect();
        let built = ids.ok_or(TokenRecordError::Ids(TOKENS));
        let built = built.and_then(|ids| TokenRecordBuilder::new(ids, mask));
        Some(built.map(|mut builder| {
            let mut used = vec![Text::from(TOKENS)];
            match misfit {
                // The mask stays with the sample.
                Some((name, values, expected)) => builder.misfit(name, values, expected),
                None => used.extend(MASK.map(Text::from)),
            }
            self.remove(&[TOKENS]);
            self.remove(&MASK);
            (builder, used)
        }))
    }

    /// Adds the streams to a record. Returns their names.
    pub fn streams(self, builder: &mut TokenRecordBuilder) -> Vec<Text> {
        let response = builder.response();
        let mut used = Vec::new();
        for (name, values) in self.lists {
            if &*name == KEPT {
                let ends = values.iter().skip(1).zip(values.iter());
                let counts: TokenStream = ends.map(|(end, start)| Some(end? - start?)).collect();
                builder.stream(KEPT_COUNT, &counts, Alignment::Response);
            } else if name.starts_with(PROMPT) || OTHERS.contains(&&*name) {
                continue;
            } else if values.len() == response || STREAMS.contains(&&*name) {
                builder.stream(name.clone(), &values, Alignment::Response);
            } else {
                continue;
            }
            used.push(name);
        }
        used
    }
}

/// A whole number that is not negative.
fn as_index(value: Option<f64>) -> Option<i64> {
    token_id(value).map(i64::from)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range and the fraction are checked"
)]
pub(super) fn token_id(value: Option<f64>) -> Option<TokenId> {
    let value = value?;
    let is_id = value >= 0.0 && value <= f64::from(TokenId::MAX) && value.fract() == 0.0;
    is_id.then_some(value as TokenId)
}
