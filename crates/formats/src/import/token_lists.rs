//! Lists of token ids, masks and streams in JSON, and the tokens of rollouts whose steps repeat the prompt.

use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_core::{TokenId, TokenStream};
use volary_episode::episode::{Episode, Rewards};
use volary_episode::token_record::{Alignment, LossMask, TokenRecord, TokenRecordBuilder};

use super::describe::counted;
use super::reader::Sink;

/// Token ids; `None` for anything else.
pub(super) fn ids(value: &Json) -> Option<Vec<TokenId>> {
    value.as_list()?.iter().map(id).collect()
}

/// A token id. Tables with gaps make floats of all numbers of a column.
fn id(value: &Json) -> Option<TokenId> {
    let whole = match value {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "it has no fraction, and other numbers are no ids"
        )]
        Json::Float(float) if float.fract() == 0.0 => *float as i64,
        value => value.as_i64()?,
    };
    TokenId::try_from(whole).ok()
}

/// Why a list has no token ids, naming the first element that is none. `location` says where in
/// the file it is: `line 3`.
pub(super) fn not_ids(name: &str, value: &Json, location: &str) -> String {
    let Some(list) = value.as_list() else {
        return format!("`{name}` in {location} is not a list of token ids.");
    };
    let wrong = list
        .iter()
        .enumerate()
        .find(|(_, value)| id(value).is_none());
    let (index, value) = wrong.map_or((0, String::new()), |(index, value)| (index, shown(value)));
    format!("`{name}[{index}]` in {location} is not a token id: {value}.")
}

/// A value in a few characters.
fn shown(value: &Json) -> String {
    const LONGEST: usize = 40;
    let text = value.to_python_text();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Flags as booleans or numbers.
pub(super) fn flags(value: &Json) -> Option<Vec<bool>> {
    let flag = |value: &Json| match value {
        Json::Bool(flag) => Some(*flag),
        value => value.as_f64().map(|number| number != 0.0),
    };
    value.as_list()?.iter().map(flag).collect()
}

/// Numbers or booleans, with gaps for null.
pub(super) fn stream(value: &Json) -> Option<TokenStream> {
    let number = |value: &Json| match value {
        Json::Null => Some(None),
        Json::Bool(flag) => Some(Some(f64::from(u8::from(*flag)))),
        value => value.as_f64().map(Some),
    };
    value.as_list()?.iter().map(number).collect()
}

/// Removes all lists of numbers that are not empty.
pub(super) fn take_streams(object: &mut Object) -> Vec<(Text, TokenStream)> {
    let mut streams = Vec::new();
    object.retain(|key, value| match stream(value) {
        Some(stream) if !stream.is_empty() => {
            streams.push((Text::from(key.as_ref()), stream));
            false
        }
        _ => true,
    });
    streams
}

/// The name of a stream that has the reward of a sequence for each of its tokens.
pub(super) const REWARDS: &str = "rewards";

/// The reward that counts, if all tokens have the same.
pub(super) fn reward_of_tokens(values: &TokenStream) -> Rewards {
    let mut values = values.iter();
    let first = values.next().flatten().filter(|value| value.is_finite());
    match first {
        Some(reward) if values.all(|value| value == first) => Rewards::Whole(reward),
        _ => Rewards::Unknown,
    }
}

/// Stores a record in an episode, and reports the streams that it could not align.
pub(super) fn attach(record: TokenRecord, episode: &mut Episode, sink: &mut Sink<'_>) {
    for misfit in &record.misfits {
        sink.lost(format!("A stream is left out: {misfit}."));
    }
    episode.tokens = Some(Arc::new(record));
}

/// The tokens of one call of the model.
pub(super) struct CallTokens {
    /// The whole prompt of the call.
    pub prompt: Vec<TokenId>,
    /// What the model returned.
    pub completion: Vec<TokenId>,
    /// The mask of the completion; `None` if all of it is trained.
    pub mask: Option<Vec<bool>>,
    /// One value for each token of the completion.
    pub streams: Vec<(Text, TokenStream)>,
}

impl CallTokens {
    /// Whether the prompt of a later call begins with the tokens of this one.
    pub fn is_continued_by(&self, prompt: &[TokenId]) -> bool {
        let after = prompt.strip_prefix(self.prompt.as_slice());
        after.is_some_and(|after| after.starts_with(&self.completion))
    }

    /// The number of trained tokens.
    pub fn trained(&self) -> usize {
        match &self.mask {
            Some(mask) => mask.iter().filter(|is_trained| **is_trained).count(),
            None => self.completion.len(),
        }
    }
}

/// Reports the calls that [`joined`] leaves out, by their numbers of trained tokens.
pub(super) fn report_apart(apart: &[usize], sink: &mut Sink<'_>) {
    if !apart.is_empty() {
        sink.lost(format!(
            "{} of {} are left out: they are not part of the tokens of the last call of the rollout.",
            counted(apart.iter().sum(), "trained token"),
            counted(apart.len(), "call")
        ));
    }
}

/// Joins the calls of a rollout: the tokens of the last call, in which the completions of the earlier ones are found at
/// the length of their prompts. Also returns the numbers of trained tokens of the calls that are not part of the last
/// one, since the template changed the history between them.
pub(super) fn joined(mut calls: Vec<CallTokens>) -> Option<(TokenRecordBuilder, Vec<usize>)> {
    let last = calls.last_mut()?;
    let mut ids = std::mem::take(&mut last.prompt);
    let at_last = ids.len();
    ids.extend_from_slice(&last.completion);
    let mut mask = vec![false; ids.len()];
    let mut streams: Vec<(Text, TokenStream)> = Vec::new();
    let mut apart = Vec::new();
    let mut misfits = Vec::new();
    let count = calls.len();
    for (number, call) in calls.into_iter().enumerate() {
        let start = if number + 1 == count {
            at_last
        } else {
            call.prompt.len()
        };
        let end = start + call.completion.len();
        let is_within = number + 1 == count
            || ids.starts_with(&call.prompt) && ids.get(start..end) == Some(&call.completion[..]);
        if !is_within {
            apart.push(call.trained());
            continue;
        }
        if let Some(known) = call.mask.as_ref().filter(|mask| mask.len() != end - start) {
            misfits.push(("mask".into(), known.len(), end - start));
        }
        for (offset, flag) in mask.iter_mut().skip(start).take(end - start).enumerate() {
            let known = call.mask.as_ref();
            *flag = known.is_none_or(|known| known.get(offset).copied().unwrap_or_default());
        }
        for (name, values) in call.streams {
            if values.len() != end - start {
                misfits.push((name, values.len(), end - start));
                continue;
            }
            let known = streams.iter().position(|(known, _)| *known == name);
            let known = known.unwrap_or_else(|| {
                streams.push((name, TokenStream::gaps(ids.len())));
                streams.len() - 1
            });
            for (offset, value) in values.iter().enumerate() {
                streams[known].1.set(start + offset, value);
            }
        }
    }
    let mut builder = TokenRecordBuilder::new(ids, LossMask::Full(mask)).ok()?;
    for (name, stream) in &streams {
        builder.stream(name.clone(), stream, Alignment::Full);
    }
    for (name, values, expected) in misfits {
        builder.misfit(name, values, expected);
    }
    Some((builder, apart))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(prompt: &[TokenId], completion: &[TokenId]) -> CallTokens {
        let values = completion.iter().map(|id| -f64::from(*id)).collect();
        CallTokens {
            prompt: prompt.to_vec(),
            completion: completion.to_vec(),
            mask: None,
            streams: vec![("logprobs".into(), values)],
        }
    }

    #[test]
    fn earlier_calls_are_found_in_the_last_one() {
        let calls = vec![
            call(&[1, 2], &[3]),
            call(&[1, 9], &[4]),
            call(&[1, 2, 3, 5], &[6, 7]),
        ];
        let (builder, apart) = joined(calls).unwrap();
        assert_eq!(apart, [1]);
        let record = builder.divided(&Episode::default());
        assert_eq!(record.strip.mask(), [false, false, true, false, true, true]);
        let values: Vec<Option<f64>> = record.strip.streams()["logprobs"].iter().collect();
        assert_eq!(
            values,
            [None, None, Some(-3.0), None, Some(-6.0), Some(-7.0)]
        );
        assert_eq!(record.prompt, 2);
        assert!(joined(Vec::new()).is_none());
    }
}
