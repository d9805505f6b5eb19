//! Tokens that a trainer recorded with an episode, divided among its messages.
//!
//! slime writes one list of tokens and a loss mask over the last of them. The boundaries of messages are not recorded;
//! they are derived from the mask: each run of trained tokens is a turn of the assistant.
//!
//! Invariants: the parts are in order and cover all tokens; nothing is decoded, so no tokenizer is needed.

use std::ops::Range;

use volary_core::json::{Json, Object, Text};
use volary_core::{TokenId, TokenStrip};

use crate::episode::Episode;

const TOKENS: &str = "tokens";
const MASK: &str = "loss_mask";
const LENGTH: &str = "response_length";
/// Set by rollouts that used another tokenizer than the model's.
const RECONSTRUCTED: &str = "is_reconstructed";

/// The maximum length of a turn's header, in tokens.
const LONGEST_HEADER: usize = 16;

/// Token counts of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCounts {
    /// All tokens.
    pub tokens: usize,
    /// The number of trained ones.
    pub trained: usize,
}

/// The tokens of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenRecord {
    /// All tokens. Those of the prompt are not trained.
    pub strip: TokenStrip,
    /// The number of prompt tokens.
    pub prompt: usize,
    /// One part for each message that has tokens.
    pub parts: Vec<TokenPart>,
    /// Whether the response could be divided among its messages. Otherwise it is one part, at the last message.
    pub is_divided: bool,
    /// Whether the tokens were computed from texts, and may differ from those that the model saw.
    pub is_reconstructed: bool,
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
}

impl TokenRecord {
    /// Reads the tokens of an episode; `None` if none were recorded.
    pub fn of(episode: &Episode) -> Option<Result<TokenRecord, TokenRecordError>> {
        let (tokens, mask) = recorded(&episode.raw)?;
        Some(TokenRecord::read(episode, tokens, mask))
    }

    fn read(episode: &Episode, tokens: &[Json], mask: Mask<'_>) -> Result<Self, TokenRecordError> {
        let ids: Option<Vec<TokenId>> = tokens.iter().map(token_id).collect();
        let ids = ids.ok_or(TokenRecordError::Ids(TOKENS))?;
        let response = mask.len();
        let too_short = TokenRecordError::TooShort {
            response,
            tokens: ids.len(),
        };
        let prompt = ids.len().checked_sub(response).ok_or(too_short)?;
        let mut flags = vec![false; prompt];
        flags.extend(mask.read()?);
        let (parts, is_divided) = divide(episode, &ids, &flags, prompt);
        let mut strip = TokenStrip::new(ids, flags).unwrap_or_default();
        for (name, values) in streams(&episode.raw, response) {
            let mut whole = vec![None; prompt];
            whole.extend(values);
            // Both have one value per token.
            let _ = strip.set_stream(name, whole);
        }
        Ok(TokenRecord {
            strip,
            prompt,
            parts,
            is_divided,
            is_reconstructed: episode.raw.get(RECONSTRUCTED) == Some(&Json::Bool(true)),
        })
    }

    /// The non-empty part of a message.
    pub fn part(&self, step: usize, message: usize) -> Option<&TokenPart> {
        let parts = self.parts.iter();
        parts
            .filter(|part| !part.range.is_empty())
            .find(|part| (part.step, part.message) == (step, message))
    }
}

impl TokenCounts {
    /// The counts of an episode, without its parts; `None` if no tokens were recorded, or they cannot be used.
    pub fn of(episode: &Episode) -> Option<TokenCounts> {
        let (tokens, mask) = recorded(&episode.raw)?;
        if mask.len() > tokens.len() {
            return None;
        }
        let flags = mask.read().ok()?;
        Some(TokenCounts {
            tokens: tokens.len(),
            trained: flags.into_iter().filter(|is_trained| *is_trained).count(),
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

    fn read(self) -> Result<Vec<bool>, TokenRecordError> {
        match self {
            Mask::Whole(length) => Ok(vec![true; length]),
            Mask::List(list) => {
                let flags: Option<Vec<bool>> = list.iter().map(flag).collect();
                flags.ok_or(TokenRecordError::Mask(MASK))
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

/// All numeric lists with one value for each token of the response.
fn streams(raw: &Object, length: usize) -> Vec<(Text, Vec<Option<f64>>)> {
    let lists = raw.iter().filter_map(|(key, value)| {
        let list = value.as_list().filter(|list| list.len() == length)?;
        let values = list.iter().map(|value| match value {
            Json::Null => Some(None),
            value => value.as_f64().map(Some),
        });
        let values: Vec<Option<f64>> = values.collect::<Option<_>>()?;
        Some((Text::from(key.as_ref()), values))
    });
    let is_other = |(name, _): &(Text, _)| ![TOKENS, MASK].contains(&&**name);
    lists.filter(is_other).collect()
}

/// Divides tokens among messages: the prompt belongs to the last message of the start, each trained run to a turn of
/// the assistant, and the tokens between two of them to the observations. The header of a turn, if it equals the one at
/// the end of the prompt, belongs to the turn.
fn divide(
    episode: &Episode,
    ids: &[TokenId],
    mask: &[bool],
    prompt: usize,
) -> (Vec<TokenPart>, bool) {
    let mut parts = Vec::new();
    let turns = episode.steps.len();
    let mut from = 0;
    if let Some(message) = episode.start.len().checked_sub(1) {
        parts.push(part(0, message, 0..prompt));
        from = prompt;
    }
    let runs = trained_runs(mask, prompt);
    if turns == 0 || runs.len() != turns && turns != 1 {
        let last = episode.steps.last();
        match last {
            Some(last) => parts.push(part(turns, last.messages().len(), from..ids.len())),
            None if parts.is_empty() => {}
            // Without steps, all tokens belong to the start.
            None => parts.iter_mut().for_each(|part| part.range.end = ids.len()),
        }
        return (parts, turns == 0 && runs.is_empty());
    }
    let header = ids.get(..prompt).map(header).unwrap_or_default();
    for (place, step) in episode.steps.iter().enumerate() {
        let is_last = place + 1 == turns;
        let observations = step.messages().len();
        // A single turn may have several runs, or none.
        let end = match (runs.get(place), runs.last()) {
            (_, Some(last)) if is_last => last.end,
            (Some(run), _) => run.end,
            _ => ids.len(),
        };
        let next = match runs.get(place + 1).filter(|_| !is_last) {
            Some(next) => ids
                .get(end..next.start)
                .filter(|between| !header.is_empty() && between.ends_with(header))
                .map_or(next.start, |_| next.start - header.len()),
            None => ids.len(),
        };
        if observations == 0 {
            // After a turn without observations come its final line break or the header of the next turn.
            let end = if is_last { ids.len() } else { end };
            parts.push(part(place + 1, 0, from..end));
            from = end;
            continue;
        }
        parts.push(part(place + 1, 0, from..end));
        parts.push(part(place + 1, observations, end..next));
        from = next;
    }
    (parts, true)
}

fn part(step: usize, message: usize, range: Range<usize>) -> TokenPart {
    TokenPart {
        step,
        message,
        range,
    }
}

/// The header of a turn at the end of a prompt: from the last occurrence of the prompt's first token.
fn header(prompt: &[TokenId]) -> &[TokenId] {
    let Some(first) = prompt.first() else {
        return &[];
    };
    let start = prompt.iter().rposition(|id| id == first).unwrap_or(0);
    let header = prompt.get(start..).unwrap_or_default();
    match start > 0 && header.len() <= LONGEST_HEADER {
        true => header,
        false => &[],
    }
}

fn trained_runs(mask: &[bool], from: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (place, _) in mask.iter().enumerate().skip(from).filter(|(_, on)| **on) {
        match runs.last_mut() {
            Some(run) if run.end == place => run.end += 1,
            _ => runs.push(place..place + 1),
        }
    }
    runs
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
    fn streams_are_the_lists_as_long_as_the_response() {
        let mut raw = raw(&[4, 5, 6], &[1, 0]);
        raw.insert("rollout_log_probs", vec![-0.5, 0.0]);
        raw.insert("other", vec![1.0]);
        let record = TokenRecord::of(&episode(&[0], raw)).unwrap().unwrap();
        let streams: Vec<&str> = record.strip.streams().keys().map(AsRef::as_ref).collect();
        assert_eq!(streams, ["rollout_log_probs"]);
        assert_eq!(
            record.strip.streams()["rollout_log_probs"],
            [None, Some(-0.5), Some(0.0)]
        );
    }

    #[test]
    fn without_a_mask_the_response_is_trained() {
        let raw = object!({ "tokens": (vec![1, 2, 3]), "response_length": 2 });
        let episode = episode(&[0], raw);
        let counts = TokenCounts::of(&episode).unwrap();
        assert_eq!((counts.tokens, counts.trained), (3, 2));
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
