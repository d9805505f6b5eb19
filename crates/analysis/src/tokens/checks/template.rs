//! Whether the loss mask follows the template: ends of turns are trained, headers and other messages are not.

use volary_episode::episode::{Ending, Episode};
use volary_episode::token_record::TokenRecord;

use super::super::sections::Section;
use super::{CheckKind, CheckResult, TokenCheck, plural};

const NO_TOKENIZER: &str = "The texts of tokens are unknown. Open the model's tokenizer file.";
const NO_MARKS: &str = "These tokens have none of the marks of known chat templates.";
const NO_MASK: &str = "The file does not say which tokens are trained.";
/// Whether a token is the body of its message; the marks of the template are 0.
const CONTENT: &str = "is_content";

/// The sections, or why there are none.
fn known<'a>(
    kind: CheckKind,
    record: &TokenRecord,
    sections: Option<&'a [Section]>,
) -> Result<&'a [Section], TokenCheck> {
    if !record.is_mask_known {
        return Err(TokenCheck::unknown(kind, NO_MASK));
    }
    match sections {
        None => Err(TokenCheck::unknown(kind, NO_TOKENIZER)),
        Some([]) => Err(TokenCheck::unknown(kind, NO_MARKS)),
        Some(sections) => Ok(sections),
    }
}

pub(super) fn end_of_turn(
    episode: &Episode,
    record: &TokenRecord,
    sections: Option<&[Section]>,
) -> TokenCheck {
    let kind = CheckKind::EndOfTurn;
    let sections = match known(kind, record, sections) {
        Ok(sections) => sections,
        Err(unknown) => return unknown,
    };
    let is_trained = |token: usize| record.is_trained(token);
    let is_untrained = record.strip.trained() == 0;
    let turns = sections.iter().filter(|section| {
        // Turns of the prompt are examples. If nothing is trained, the prompt is not known.
        let is_sampled = section.body.start >= record.prompt || is_untrained;
        let has_text = !section.body.is_empty() || section.end.is_some();
        let is_partly_trained = || section.body.clone().chain(section.end).any(is_trained);
        section.is_assistant && has_text && (is_sampled || is_partly_trained())
    });
    let is_truncated = matches!(episode.ending, Ending::Truncated { .. });
    let (mut count, mut left_out, mut untrained, mut missing, mut cut) = (0, 0, 0, 0, 0);
    let mut found = Vec::new();
    for turn in turns {
        count += 1;
        if !turn.body.clone().chain(turn.end).any(is_trained) {
            left_out += 1;
            found.push(turn.body.start);
            continue;
        }
        let is_last = turn.body.end == record.strip.len();
        match turn.end {
            Some(end) if is_trained(end) => {}
            Some(end) => {
                untrained += 1;
                found.push(end);
            }
            None if is_last && is_truncated => cut += 1,
            None => {
                missing += 1;
                found.push(turn.body.end.saturating_sub(1));
            }
        }
    }
    let turns = plural(count, "turn");
    if count == 0 {
        return TokenCheck::unknown(kind, "There is no turn of the assistant.");
    }
    if left_out == count {
        let summary = format!("Nothing is trained: {turns} without a trained token.");
        return TokenCheck::new(kind, CheckResult::Failed, summary, found);
    }
    let faults = [
        (untrained, "with an untrained end"),
        (missing, "without an end-of-turn token"),
        (left_out, "not trained at all"),
        (cut, "cut off, as the episode was truncated"),
    ];
    let faults = faults.iter().filter(|(count, _)| *count > 0);
    let faults: Vec<String> = faults
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match found.is_empty() {
        true if faults.is_empty() => TokenCheck::passed(kind, format!("{turns}.")),
        // Only the last turn can be cut.
        true if count == 1 => TokenCheck::unknown(kind, "The only turn was cut off."),
        true => TokenCheck::passed(kind, format!("{turns}, {}.", faults.join(", "))),
        false => {
            let summary = format!("{turns}: {}.", faults.join(", "));
            TokenCheck::new(kind, CheckResult::Failed, summary, found)
        }
    }
}

pub(super) fn only_turns(record: &TokenRecord, sections: Option<&[Section]>) -> TokenCheck {
    let kind = CheckKind::Template;
    if record.is_mask_known && record.strip.trained() == 0 {
        return TokenCheck::passed(kind, "Nothing is trained.");
    }
    let by_marks = known(kind, record, sections);
    let is_trained = |token: &usize| record.is_trained(*token);
    let sections = match (by_marks, record.strip.streams().get(CONTENT)) {
        (Ok(sections), _) => sections,
        (Err(_), Some(content)) if record.is_mask_known => {
            let is_scaffold = |token: &usize| content.get(*token) == Some(0.0);
            let trained = (0..record.strip.len()).filter(is_trained);
            let found: Vec<usize> = trained.filter(is_scaffold).collect();
            let summary = format!("{} of the template.", plural(found.len(), "trained token"));
            return if found.is_empty() {
                // The messages of others are content too.
                TokenCheck::unknown(
                    kind,
                    format!(
                        "No trained token is one of the template, as the file says. {NO_TOKENIZER}"
                    ),
                )
            } else {
                TokenCheck::new(kind, CheckResult::Failed, summary, found)
            };
        }
        (Err(unknown), _) => return unknown,
    };
    let mut found = Vec::new();
    let (mut headers, mut others, mut after, mut before) = (0, 0, 0, 0);
    let mut add = |count: &mut usize, tokens: std::ops::Range<usize>| {
        let known = found.len();
        found.extend(tokens.filter(is_trained));
        *count += found.len() - known;
    };
    let first = sections.first().map_or(0, |section| section.header.start);
    add(&mut before, 0..first);
    for section in sections {
        add(&mut headers, section.header.clone());
        if !section.is_assistant {
            add(&mut others, section.body.clone());
            add(&mut others, section.end.map_or(0..0, |end| end..end + 1));
        }
        add(&mut after, section.after.clone());
    }
    if found.is_empty() {
        let summary = format!(
            "{} in turns of the assistant.",
            plural(record.strip.trained(), "trained token")
        );
        return TokenCheck::passed(kind, summary);
    }
    let faults = [
        (headers, "in a header"),
        (others, "in messages of others"),
        (after, "after an end of turn"),
        (before, "before the first message"),
    ];
    let faults = faults.iter().filter(|(count, _)| *count > 0);
    let faults: Vec<String> = faults
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let summary = format!("Trained tokens: {}.", faults.join(", "));
    TokenCheck::new(kind, CheckResult::Failed, summary, found)
}

#[cfg(test)]
mod tests {
    use volary_episode::token_record::{LossMask, TokenRecordBuilder};

    use super::super::super::sections::sections;
    use super::super::super::vocabulary::ByteVocabulary;
    use super::*;

    const PROMPT: &str = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n";

    /// The record of texts, each trained or not.
    fn record(parts: &[(&str, bool)]) -> TokenRecord {
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for (text, is_trained) in parts {
            ids.extend(ByteVocabulary::ids(text));
            mask.resize(ids.len(), *is_trained);
        }
        let builder = TokenRecordBuilder::new(ids, LossMask::Full(mask)).unwrap();
        builder.with_parts(Vec::new())
    }

    fn checked(record: &TokenRecord, ending: Ending) -> (TokenCheck, TokenCheck) {
        let episode = Episode {
            ending,
            ..Episode::default()
        };
        let sections = sections(record.strip.ids(), &ByteVocabulary);
        (
            end_of_turn(&episode, record, Some(&sections)),
            only_turns(record, Some(&sections)),
        )
    }

    #[test]
    fn a_trained_end_passes_and_an_untrained_one_is_named() {
        let good = record(&[(PROMPT, false), ("Ho<|im_end|>", true), ("\n", false)]);
        let (end, template) = checked(&good, Ending::Done);
        assert_eq!(
            (end.verdict, &*end.summary),
            (CheckResult::Passed, "1 turn.")
        );
        assert_eq!(template.verdict, CheckResult::Passed);
        let bad = record(&[(PROMPT, false), ("Ho", true), ("<|im_end|>\n", false)]);
        let (end, _) = checked(&bad, Ending::Done);
        assert_eq!(end.summary, "1 turn: 1 with an untrained end.");
        let token = ByteVocabulary::ids(PROMPT).len() + 2;
        assert_eq!(
            (end.verdict, end.tokens),
            (CheckResult::Failed, vec![token])
        );
    }

    #[test]
    fn a_turn_without_an_end_is_cut_or_faulty() {
        let cut = record(&[
            (PROMPT, false),
            ("Ho<|im_end|>", true),
            ("\n", false),
            (PROMPT, false),
            ("H", true),
        ]);
        let truncated = Ending::Truncated {
            reason: "length".into(),
        };
        let (end, _) = checked(&cut, truncated);
        assert_eq!(end.verdict, CheckResult::Passed);
        assert_eq!(
            end.summary,
            "2 turns, 1 cut off, as the episode was truncated."
        );
        let (end, _) = checked(&cut, Ending::Done);
        assert_eq!(end.summary, "2 turns: 1 without an end-of-turn token.");
        assert_eq!(end.tokens, [cut.strip.len() - 1]);
    }

    #[test]
    fn turns_without_trained_tokens_are_named() {
        let (end, template) = checked(
            &record(&[(PROMPT, false), ("Ho<|im_end|>", false)]),
            Ending::Done,
        );
        assert_eq!(
            end.summary,
            "Nothing is trained: 1 turn without a trained token."
        );
        assert_eq!(
            (end.verdict, template.verdict),
            (CheckResult::Failed, CheckResult::Passed)
        );
    }

    #[test]
    fn trained_headers_and_messages_of_others_are_named() {
        let bad = record(&[
            (PROMPT, false),
            ("Ho<|im_end|>\n", true),
            ("<|im_start|>", true),
            ("user\n", false),
            ("x", true),
            ("y<|im_end|>\n", false),
        ]);
        let (_, template) = checked(&bad, Ending::Done);
        assert_eq!(
            template.summary,
            "Trained tokens: 1 in a header, 1 in messages of others, 1 after an end of turn."
        );
        let start = ByteVocabulary::ids(PROMPT).len();
        assert_eq!(template.tokens, [start + 3, start + 4, start + 10]);
    }

    #[test]
    fn what_is_not_known_does_not_pass() {
        let mut record = record(&[("Hi", false), ("Ho", true)]);
        let (end, template) = checked(&record, Ending::Done);
        assert_eq!(
            (end.verdict, template.verdict),
            (CheckResult::Unknown, CheckResult::Unknown)
        );
        assert_eq!(end.summary, NO_MARKS);
        assert_eq!(only_turns(&record, None).summary, NO_TOKENIZER);
        let content = [1.0, 1.0, 0.0, 1.0];
        let content: volary_core::TokenStream = content.into_iter().collect();
        record.strip.set_stream(CONTENT, content).unwrap();
        let template = only_turns(&record, None);
        assert_eq!(
            (template.verdict, template.tokens),
            (CheckResult::Failed, vec![2])
        );
        record.is_mask_known = false;
        assert_eq!(only_turns(&record, None).summary, NO_MASK);
    }
}
