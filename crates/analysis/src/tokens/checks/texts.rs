//! Whether tokens and texts belong together.

use std::ops::Range;

use volary_core::{AnyMessage, TokenId};
use volary_episode::episode::{Episode, sampled_text};
use volary_episode::token_record::TokenRecord;

use super::super::sections::Section;
use super::super::vocabulary::Vocabulary;
use super::{CheckKind, CheckResult, TokenCheck, plural};

const NO_TOKENIZER: &str = "The texts of tokens are unknown. Open the model's tokenizer file.";
const OTHER: &str = "This seems to be another model's tokenizer.";
/// The number of characters of an excerpt.
const EXCERPT: usize = 32;

pub(super) fn messages(
    episode: &Episode,
    record: &TokenRecord,
    vocabulary: Option<&dyn Vocabulary>,
) -> TokenCheck {
    let kind = CheckKind::Messages;
    let Some(vocabulary) = vocabulary else {
        return TokenCheck::unknown(kind, NO_TOKENIZER);
    };
    let (mut compared, mut differing) = (0, Vec::new());
    let mut first = None;
    for part in spelled_parts(episode, record, vocabulary) {
        let Some(part) = part else {
            let summary = format!("The tokenizer lacks a token of this episode. {OTHER}");
            return TokenCheck::unknown(kind, summary);
        };
        let mut cursor = 0;
        for (step, index, text) in part.texts {
            compared += 1;
            let rest = part.spelled.get(cursor..).unwrap_or_default();
            let begun = || {
                let before = before(record, part.range.start, vocabulary);
                find(rest, without_begun(text, &before)?)
            };
            let found = find(rest, text);
            match found.or_else(|| if cursor == 0 { begun() } else { None }) {
                Some(end) => cursor += end,
                None => {
                    let (at, common) = nearest(rest, text);
                    let ids = record.strip.ids();
                    differing.push(token_at(part.range.clone(), ids, vocabulary, cursor + at));
                    first.get_or_insert_with(|| {
                        let read = excerpt(text.get(common..).unwrap_or_default());
                        let spelled = excerpt(rest.get(at..).unwrap_or_default());
                        format!("first at message {} of step {step}, which has “{read}” where the tokens have “{spelled}”", index + 1)
                    });
                }
            }
        }
    }
    match first {
        _ if compared == 0 => TokenCheck::unknown(kind, "No text of a message belongs to tokens."),
        _ if differing.len() == compared && compared > 1 => {
            TokenCheck::unknown(kind, format!("The tokens spell no message. {OTHER}"))
        }
        None => TokenCheck::passed(kind, format!("{}.", plural(compared, "message"))),
        Some(first) => {
            let summary = format!(
                "{} of {}: {first}.",
                differing.len(),
                plural(compared, "message")
            );
            differing.sort_unstable();
            TokenCheck::new(kind, CheckResult::Failed, summary, differing)
        }
    }
}

/// Whether a vocabulary seems to be another model's: it lacks tokens of the episode, or spells none of its first messages.
pub fn is_of_other_model(
    episode: &Episode,
    record: &TokenRecord,
    vocabulary: &dyn Vocabulary,
) -> bool {
    const COMPARED: usize = 4;
    let mut compared = 0;
    for part in spelled_parts(episode, record, vocabulary) {
        let Some(part) = part else {
            return true;
        };
        for (_, _, text) in part.texts {
            if find(&part.spelled, text).is_some() {
                return false;
            }
            compared += 1;
            if compared == COMPARED {
                return true;
            }
        }
    }
    compared > 1
}

/// A part of a record next to the messages that it belongs to.
struct SpelledPart<'a> {
    range: Range<usize>,
    spelled: String,
    /// What the tokens should spell, each with the step and the index of its message.
    texts: Vec<(usize, usize, &'a str)>,
}

/// The parts of a record, in order; `None` for one with a token that the vocabulary lacks.
fn spelled_parts<'a>(
    episode: &'a Episode,
    record: &'a TokenRecord,
    vocabulary: &'a dyn Vocabulary,
) -> impl Iterator<Item = Option<SpelledPart<'a>>> {
    let mut from = (0, 0);
    record.parts.iter().map(move |part| {
        let range = part.range.clone();
        let bytes = vocabulary.bytes(record.strip.ids().get(range.clone())?)?;
        let messages = messages_of(episode, from, (part.step, part.message));
        from = (part.step, part.message + 1);
        let texts = messages.filter_map(|(step, index, message)| {
            let body = message.body();
            let text = written(message).trim();
            // A message after the last call of the model has no tokens.
            let is_spelled = !text.is_empty() && !body.content_is_json_str && !range.is_empty();
            is_spelled.then_some((step, index, text))
        });
        Some(SpelledPart {
            texts: texts.collect(),
            spelled: String::from_utf8_lossy(&bytes).into_owned(),
            range,
        })
    })
}

/// The messages from a position up to another one, including it.
fn messages_of(
    episode: &Episode,
    from: (usize, usize),
    to: (usize, usize),
) -> impl Iterator<Item = (usize, usize, &AnyMessage)> {
    let steps = from.0..=to.0.min(episode.steps.len());
    steps
        .flat_map(move |step| {
            let said: Vec<&AnyMessage> =
                match step.checked_sub(1).and_then(|at| episode.steps.get(at)) {
                    None => episode.start.iter().collect(),
                    Some(record) => std::iter::once(&record.action)
                        .chain(record.messages())
                        .collect(),
                };
            let said = said.into_iter().enumerate();
            said.map(move |(index, message)| (step, index, message))
        })
        .filter(move |(step, index, _)| (from..=to).contains(&(*step, *index)))
}

/// The text of the last tokens before one.
fn before(record: &TokenRecord, token: usize, vocabulary: &dyn Vocabulary) -> String {
    const MOST: usize = 32;
    let ids = record.strip.ids().get(token.saturating_sub(MOST)..token);
    let bytes = ids.and_then(|ids| vocabulary.bytes(ids));
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

/// A message without its beginning, if that ends the tokens before it: prompts may begin the turn, such as with `<think>`.
fn without_begun<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let ends = text
        .char_indices()
        .map(|(index, letter)| index + letter.len_utf8());
    let ends = ends.take_while(|end| *end <= before.len());
    let begun = ends.filter(|end| {
        text.get(..*end)
            .is_some_and(|begun| before.ends_with(begun))
    });
    Some(text.get(begun.last()?..)?.trim_start())
}

/// The text of a message, with the markup of its calls if that is known.
fn written(message: &AnyMessage) -> &str {
    let content = || message.body().content_or_empty();
    sampled_text(message).map_or_else(content, AsRef::as_ref)
}

/// The end of a text in another one, as it is or as the text of a JSON string.
fn find(spelled: &str, text: &str) -> Option<usize> {
    let plain = || Some(spelled.find(text)? + text.len());
    let quoted = || {
        let written = volary_core::Json::from(text).to_python_text();
        let inner = written.get(1..written.len().checked_sub(1)?)?;
        Some(spelled.find(inner)? + inner.len())
    };
    plain().or_else(quoted)
}

/// Where a text that does not occur begins to differ, as bytes of both: after the longest beginning that occurs.
fn nearest(spelled: &str, text: &str) -> (usize, usize) {
    let anchors = [24, 8, 3].into_iter().filter_map(|length| {
        let end = text
            .char_indices()
            .nth(length)
            .map_or(text.len(), |(end, _)| end);
        spelled.find(text.get(..end)?)
    });
    let Some(start) = anchors.into_iter().next() else {
        return (0, 0);
    };
    let pairs = spelled
        .get(start..)
        .unwrap_or_default()
        .chars()
        .zip(text.chars());
    let common: usize = pairs
        .take_while(|(one, other)| one == other)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    (start + common, common)
}

/// The token of a range that a byte of its text belongs to.
fn token_at(
    range: Range<usize>,
    ids: &[TokenId],
    vocabulary: &dyn Vocabulary,
    byte: usize,
) -> usize {
    let length = |count: usize| {
        let bytes = vocabulary.bytes(ids.get(range.start..range.start + count)?)?;
        Some(String::from_utf8_lossy(&bytes).len())
    };
    let (mut low, mut high) = (0, range.len());
    // The number of tokens whose text ends at the byte or before it.
    while low < high {
        let middle = (low + high).div_ceil(2);
        match length(middle) {
            Some(length) if length <= byte => low = middle,
            _ => high = middle - 1,
        }
    }
    (range.start + low).min(range.end.saturating_sub(1))
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

pub(super) fn reencoding(
    record: &TokenRecord,
    vocabulary: Option<&dyn Vocabulary>,
    sections: &[Section],
) -> TokenCheck {
    let kind = CheckKind::Reencoding;
    let Some(vocabulary) = vocabulary else {
        return TokenCheck::unknown(kind, NO_TOKENIZER);
    };
    let is_trained = |token: usize| record.is_trained(token);
    let turns = sections.iter().filter(|section| section.is_assistant);
    let turns = turns.map(|section| section.body.clone());
    let (mut compared, mut differing) = (0, Vec::new());
    let mut first = String::new();
    for turn in turns.filter(|turn| !record.is_mask_known || turn.clone().any(is_trained)) {
        let Some(ids) = record.strip.ids().get(turn.clone()) else {
            continue;
        };
        let text = vocabulary
            .bytes(ids)
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let again = text.as_deref().and_then(|text| vocabulary.encode(text));
        let Some(again) = again else {
            continue;
        };
        compared += 1;
        if again == ids {
            continue;
        }
        let common = ids
            .iter()
            .zip(&again)
            .take_while(|(one, other)| one == other);
        let at = common.count();
        if differing.is_empty() {
            let id = |ids: &[TokenId]| {
                ids.get(at)
                    .map_or("no token".to_owned(), ToString::to_string)
            };
            first = format!("first id {} instead of {}", id(&again), id(ids));
        }
        differing.push((turn.start + at).min(turn.end.saturating_sub(1)));
    }
    let turns = plural(compared, "turn");
    match differing.len() {
        _ if compared == 0 => TokenCheck::unknown(kind, "No turn could be encoded again."),
        0 => TokenCheck::passed(kind, format!("{turns}.")),
        count => TokenCheck::new(
            kind,
            CheckResult::Failed,
            format!("{count} of {turns} would have other tokens, {first}."),
            differing,
        ),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json::Text;
    use volary_core::message::Body;
    use volary_core::{Message, Role, ToolCall, ToolRequestMessage, object};
    use volary_episode::episode::{Outcome, StepRecord};
    use volary_episode::token_record::{LossMask, TokenPart, TokenRecordBuilder};

    use super::super::super::sections::sections;
    use super::super::super::vocabulary::ByteVocabulary;
    use super::*;

    fn episode(prompt: &[&str], turns: &[(&str, &str)]) -> Episode {
        let message = |role, text: &str| Message::new(role, Text::from(text)).into();
        let step = |(says, heard): &(&str, &str)| {
            let outcome = Outcome::Observed {
                messages: vec![message(Role::User, heard)],
                reward: 0.0,
                done: false,
                truncated: false,
            };
            StepRecord::new(message(Role::Assistant, says), outcome)
        };
        Episode {
            start: prompt
                .iter()
                .map(|text| message(Role::User, text))
                .collect(),
            steps: turns.iter().map(step).collect(),
            ..Episode::default()
        }
    }

    fn record(parts: &[(usize, usize, &str)]) -> TokenRecord {
        let (mut ids, mut mask, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for (step, message, text) in parts {
            let start = ids.len();
            ids.extend(ByteVocabulary::ids(text));
            mask.resize(ids.len(), *step > 0 && *message == 0);
            let (step, message, range) = (*step, *message, start..ids.len());
            known.push(TokenPart {
                step,
                message,
                range,
            });
        }
        TokenRecordBuilder::new(ids, LossMask::Full(mask))
            .unwrap()
            .with_parts(known)
    }

    fn check(episode: &Episode, record: &TokenRecord) -> TokenCheck {
        messages(episode, record, Some(&ByteVocabulary))
    }

    #[test]
    fn messages_are_found_in_the_tokens_of_their_part() {
        let episode = episode(&["Be brief.", "Hi"], &[("Ho", "So \"x\"")]);
        let good = record(&[
            (0, 1, "<|im_start|>Be brief.<|im_end|>Hi"),
            (1, 0, "Ho"),
            (1, 1, "So \\\"x\\\""),
        ]);
        let check = super::tests::check(&episode, &good);
        assert_eq!(
            (check.verdict, &*check.summary),
            (CheckResult::Passed, "4 messages.")
        );
        assert_eq!(
            messages(&episode, &good, None).verdict,
            CheckResult::Unknown
        );
    }

    #[test]
    fn the_first_difference_is_a_token() {
        let episode = episode(&["Hi"], &[("Hello there, you", "So")]);
        let bad = record(&[
            (0, 0, "Hi"),
            (1, 0, "<|im_start|>Hello there, we<|im_end|>"),
            (1, 1, "So"),
        ]);
        let check = super::tests::check(&episode, &bad);
        assert_eq!(check.verdict, CheckResult::Failed);
        assert_eq!(check.tokens, [2 + 1 + "Hello there, ".len()]);
        assert_eq!(
            check.summary,
            "1 of 3 messages: first at message 1 of step 1, which has “you” where the tokens have “we<|im_end|>”."
        );
    }

    #[test]
    fn text_around_calls_is_found_where_it_was_written() {
        let text = "One. <tool_call>{}</tool_call> Two.";
        let mut episode = episode(&["Hi"], &[("", "So")]);
        let mut request = ToolRequestMessage {
            body: Body::text("One.\nTwo."),
            tool_calls: vec![ToolCall::new("a", "f", object!({}))],
        };
        let tokens = record(&[(0, 0, "Hi"), (1, 0, text), (1, 1, "So")]);
        episode.steps[0].action = request.clone().into();
        assert_eq!(check(&episode, &tokens).verdict, CheckResult::Failed);
        request.body.info = Some(object!({ "text": text }));
        episode.steps[0].action = request.into();
        assert_eq!(check(&episode, &tokens).verdict, CheckResult::Passed);
    }

    #[test]
    fn the_prompt_may_begin_a_message() {
        let tokens = record(&[
            (0, 0, "Hi<|im_end|>\n<|im_start|>assistant\n<think>\n"),
            (1, 0, "Hm.</think> Ho"),
            (1, 1, "So"),
        ]);
        let verdict = |says| check(&episode(&["Hi"], &[(says, "So")]), &tokens).verdict;
        assert_eq!(verdict("<think>\nHm.</think> Ho"), CheckResult::Passed);
        assert_eq!(verdict("<think>\nAh.</think> Ho"), CheckResult::Failed);
        assert_eq!(verdict("<plan>\nHm.</think> Ho"), CheckResult::Failed);
    }

    #[test]
    fn another_tokenizer_gives_no_verdict() {
        let episode = episode(&["Hi"], &[("Ho", "So")]);
        let check = super::tests::check(
            &episode,
            &record(&[(0, 0, "xx"), (1, 0, "yy"), (1, 1, "zz")]),
        );
        assert_eq!(check.verdict, CheckResult::Unknown);
        let other = record(&[(0, 0, "xx"), (1, 0, "yy"), (1, 1, "zz")]);
        assert!(is_of_other_model(&episode, &other, &ByteVocabulary));
        let one_differs = record(&[(0, 0, "xx"), (1, 0, "Ho"), (1, 1, "zz")]);
        assert!(!is_of_other_model(&episode, &one_differs, &ByteVocabulary));
        // Its marks are not those of this model, so turns are not told apart by them.
        let all = super::super::checks(&episode, &other, Some(&ByteVocabulary), 0.1);
        let verdicts = all.iter().map(|check| check.verdict);
        assert!(
            verdicts
                .take(3)
                .all(|verdict| verdict == CheckResult::Unknown)
        );
        let mut unknown = record(&[(0, 0, "Hi")]);
        unknown
            .strip
            .extend(&volary_core::TokenStrip::uniform(vec![999], true));
        unknown.parts[0].range.end += 1;
        assert_eq!(
            super::tests::check(&episode, &unknown).verdict,
            CheckResult::Unknown
        );
    }

    #[test]
    fn encoding_again_finds_split_tokens() {
        let turn = |ids: &[TokenId]| {
            let mut all = ByteVocabulary::ids("<|im_start|>assistant\n");
            let start = all.len();
            all.extend(ids);
            all.extend(ByteVocabulary::ids("<|im_end|>"));
            let mask = (0..all.len()).map(|token| token >= start).collect();
            TokenRecordBuilder::new(all, LossMask::Full(mask))
                .unwrap()
                .with_parts(Vec::new())
        };
        let check = |record: &TokenRecord| {
            let sections = sections(record.strip.ids(), &ByteVocabulary);
            reencoding(record, Some(&ByteVocabulary), &sections)
        };
        assert_eq!(check(&turn(&[120, 258])).verdict, CheckResult::Passed);
        let split = check(&turn(&[120, 97, 98]));
        assert_eq!(
            split.summary,
            "1 of 1 turn would have other tokens, first id 258 instead of 97."
        );
        assert_eq!(split.tokens, ["<|im_start|>assistant\n".len() - 12 + 1 + 1]);
    }
}
