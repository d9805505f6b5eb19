//! Checks of a template: questions, and answers with reasons.

use std::rc::Rc;

use volary_core::{Json, json};
use volary_tokens::tool_parser::ParsedCall;
use volary_tokens::{ChatMessage, ChatRole, ParseOptions, TokenId, Tokenizer, ToolParser};

use super::input::{Case, role};
use super::report::{ModeReport, common, excerpt, named, render};

/// A question with its answer and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub question: &'static str,
    pub outcome: CheckOutcome,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckOutcome {
    /// The template behaves well.
    Good,
    /// The template has a problem.
    Bad,
    /// There is nothing to check.
    Idle,
}

impl Check {
    fn new(question: &'static str, outcome: CheckOutcome, reason: impl Into<String>) -> Self {
        Check {
            question,
            outcome,
            reason: reason.into(),
        }
    }
}

/// Checks that the text of a longer conversation begins with that of a shorter one.
pub(super) fn keeps_prefixes(case: &Case) -> Check {
    const QUESTION: &str = "Is the template prefix-stable: does each message only append text?";
    let texts = |place: usize| {
        let before = case.messages.get(..place).unwrap_or_default();
        let after = case.messages.get(..=place).unwrap_or_default();
        let is_turn = case.messages.get(place).map(role) == Some("assistant");
        let before = render(&case.template, case, before, is_turn)?;
        Ok::<_, String>((before, render(&case.template, case, after, false)?))
    };
    if case.messages.len() < 2 {
        return Check::new(QUESTION, CheckOutcome::Idle, "There is only one message.");
    }
    let mut unreadable = None;
    for (place, message) in case.messages.iter().enumerate().skip(1) {
        let name = named(place, message);
        match texts(place) {
            // A template may reject a part of a conversation but accept all of it.
            Err(reason) => unreadable = Some(format!("Up to {name}: {reason}")),
            Ok((before, after)) if !after.starts_with(&before) => {
                let at = common(&before, &after);
                let (lost, now) = (excerpt(&before[at..]), excerpt(&after[at..]));
                let reason =
                    format!("With {name}, the text before it changes: {lost:?} becomes {now:?}.");
                return Check::new(QUESTION, CheckOutcome::Bad, reason);
            }
            Ok(_) => (),
        }
    }
    match unreadable {
        Some(reason) => Check::new(QUESTION, CheckOutcome::Idle, reason),
        None => {
            let reason = "After each message, the text begins with the text before it.";
            Check::new(QUESTION, CheckOutcome::Good, reason)
        }
    }
}

/// Checks that a model is trained to end its turns.
pub(super) fn trains_end(
    modes: Result<&[ModeReport], &String>,
    end: Option<&str>,
    tokenizer: &dyn Tokenizer,
) -> Check {
    const QUESTION: &str = "Is the token that ends a turn trained?";
    let idle = |reason: &str| Check::new(QUESTION, CheckOutcome::Idle, reason);
    let modes = match modes {
        Ok(modes) => modes,
        Err(reason) => return idle(reason),
    };
    let Some(end) = end else {
        let reason = "The template writes nothing after a turn, so a model can't learn to end one.";
        return Check::new(QUESTION, CheckOutcome::Bad, reason);
    };
    let ids = match tokenizer.encode(end) {
        Ok(ids) if !ids.is_empty() => ids,
        Ok(_) => return idle("The tokenizer has no token for the end of a turn."),
        Err(error) => return idle(&error.to_string()),
    };
    let mut is_good = true;
    let counts = modes.iter().map(|mode| {
        let turns: Vec<_> = mode.parts.iter().filter(|part| part.is_turn).collect();
        let trained = turns.iter().filter(|part| {
            let mut windows = part.strip.ids().windows(ids.len());
            let place = windows.rposition(|window| window == ids);
            let mask = place.and_then(|at| part.strip.mask().get(at..at + ids.len()));
            mask.is_some_and(|mask| mask.iter().all(|is_trained| *is_trained))
        });
        let trained = trained.count();
        is_good &= trained == turns.len();
        format!("{} in {trained} of {} turns", mode.mode.name(), turns.len())
    });
    let counts: Vec<String> = counts.collect();
    let reason = format!("{end} is trained: {}.", counts.join(", "));
    let outcome = if is_good {
        CheckOutcome::Good
    } else {
        CheckOutcome::Bad
    };
    Check::new(QUESTION, outcome, reason)
}

/// Checks that the tokens of the parts are those of the whole text.
pub(super) fn keeps_tokens(
    modes: Result<&[ModeReport], &String>,
    tokenizer: &dyn Tokenizer,
) -> Check {
    const QUESTION: &str = "Does tokenizing message by message match tokenizing the whole text?";
    let modes = match modes {
        Ok(modes) => modes,
        Err(reason) => return Check::new(QUESTION, CheckOutcome::Idle, reason),
    };
    for mode in modes {
        let texts: String = mode.parts.iter().map(|part| part.text.as_str()).collect();
        let parts = mode.parts.iter();
        let ids: Vec<TokenId> = parts.flat_map(|part| part.strip.ids()).copied().collect();
        let whole = match tokenizer.encode(&texts) {
            Ok(whole) => whole,
            Err(error) => return Check::new(QUESTION, CheckOutcome::Idle, error.to_string()),
        };
        if whole != ids {
            let pairs = ids.iter().zip(&whole);
            let at = pairs.take_while(|(one, other)| one == other).count();
            let token = |ids: &[TokenId]| match ids.get(at) {
                Some(id) => format!("{id} ({:?})", shown(*id, tokenizer)),
                None => "the end".to_owned(),
            };
            let reason = format!(
                "{}: token {} is {} message by message, but {} when the text is tokenized as a whole.",
                mode.mode.name(),
                at + 1,
                token(&ids),
                token(&whole)
            );
            return Check::new(QUESTION, CheckOutcome::Bad, reason);
        }
    }
    let reason =
        "In each mode, tokenizing message by message gives the tokens of the text as a whole.";
    Check::new(QUESTION, CheckOutcome::Good, reason)
}

/// The displayed text of a token.
pub(super) fn shown(id: TokenId, tokenizer: &dyn Tokenizer) -> String {
    let bytes = tokenizer.decode(&[id]).unwrap_or_default();
    match std::str::from_utf8(&bytes) {
        Ok(text) => text.to_owned(),
        // A part of a character.
        Err(_) => bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
    }
}

/// Checks that the tool parser finds the calls of each message in the text of its turn.
pub(super) fn finds_calls(case: &Case, end: Option<&str>) -> Check {
    const QUESTION: &str = "Does the tool parser recover every tool call?";
    let mut found = 0;
    for (place, message) in case.messages.iter().enumerate() {
        if role(message) != "assistant" {
            continue;
        }
        match calls_again(case, message, end) {
            Ok(count) => found += count,
            Err(reason) => {
                let reason = format!("In {}, {reason}", named(place, message));
                return Check::new(QUESTION, CheckOutcome::Bad, reason);
            }
        }
    }
    match found {
        0 => Check::new(
            QUESTION,
            CheckOutcome::Idle,
            "No message contains a tool call.",
        ),
        found => {
            let reason = format!("Calls found again: {found} of {found}.");
            Check::new(QUESTION, CheckOutcome::Good, reason)
        }
    }
}

/// The number of calls of a message that the parser finds; the error says what is wrong with them.
fn calls_again(case: &Case, message: &Json, end: Option<&str>) -> Result<usize, String> {
    let calls = message.get("tool_calls").and_then(Json::as_list);
    let calls = calls.unwrap_or_default();
    let content = message.get("content").and_then(Json::as_text);
    let content = content.map_or("", |text| text);
    let marks = content.matches("<tool_call>").count();
    if calls.is_empty() && marks == 0 {
        return Ok(0);
    }
    let text = written(case, message, end)?;
    let names = case.tool_names();
    let options = ParseOptions {
        tools: &names,
        forward_unknown: false,
    };
    let parsed = ToolParser::V2.parse(&text, &options);
    let parsed = parsed.map_err(|error| format!("the parser fails: {error}."))?;
    let expected = calls.len() + marks;
    if parsed.calls.len() != expected {
        return Err(format!(
            "{} of {expected} calls are found. A call is lost if it is not valid JSON between <tool_call> marks, or if its tool is not declared.",
            parsed.calls.len()
        ));
    }
    // Calls in the text come before the structured ones.
    for (call, parsed) in calls.iter().zip(parsed.calls.iter().skip(marks)) {
        same(call, parsed)?;
    }
    Ok(expected)
}

/// The text that the template renders for a turn.
fn written(case: &Case, message: &Json, end: Option<&str>) -> Result<String, String> {
    let question = ChatMessage::new(ChatRole::User, "u").to_json();
    let template = Rc::clone(&case.template);
    let before = render(&template, case, std::slice::from_ref(&question), false)?;
    let after = render(&template, case, &[question, message.clone()], false)?;
    let text = after.get(common(&before, &after)..).unwrap_or_default();
    let text = text.trim_end();
    let text = end.and_then(|end| text.strip_suffix(end)).unwrap_or(text);
    Ok(text.to_owned())
}

fn same(call: &Json, parsed: &ParsedCall) -> Result<(), String> {
    let function = call.get("function").unwrap_or(call);
    let name = function.get("name").and_then(Json::as_text);
    if name != parsed.name.as_ref() {
        let (name, parsed) = (name.map_or("", |name| name), parsed.name.as_deref());
        return Err(format!(
            "{name:?} is read as {:?}.",
            parsed.unwrap_or_default()
        ));
    }
    let arguments = match function.get("arguments") {
        Some(Json::Text(text)) => json::read(text).unwrap_or(Json::Null),
        Some(arguments) => arguments.clone(),
        None => Json::Null,
    };
    match json::read(&parsed.parameters) {
        Ok(read) if read == arguments => Ok(()),
        _ => Err(format!(
            "the arguments of {:?} are read as {}.",
            name.map_or("", |name| name),
            excerpt(&parsed.parameters)
        )),
    }
}

#[cfg(test)]
mod tests {
    use volary_tokens::{Builtin, ToyTokenizer};

    use super::*;
    use crate::lab::examples::EXAMPLES;
    use crate::lab::input::Input;
    use crate::lab::report::examine;

    fn outcomes(input: &Input) -> Vec<CheckOutcome> {
        let report = examine(&input.read().unwrap(), &ToyTokenizer);
        report.checks.iter().map(|check| check.outcome).collect()
    }

    #[test]
    fn the_examples_fail_where_they_should() {
        use CheckOutcome::{Bad, Good, Idle};
        assert_eq!(outcomes(&EXAMPLES[0].input()), [Good, Good, Good, Good]);
        let of_qwen_3 = outcomes(&EXAMPLES[1].input());
        assert_eq!((of_qwen_3[0], of_qwen_3[3]), (Bad, Idle));
    }

    #[test]
    fn a_lost_call_is_noticed() {
        let mut input = EXAMPLES[0].input();
        input.tools = String::new();
        assert_eq!(outcomes(&input)[3], CheckOutcome::Bad);
        let mut input = EXAMPLES[0].input();
        input.messages = input
            .messages
            .replace("{\\\"id\\\": 7}}", "{\\\"id\\\": 7}");
        assert_eq!(outcomes(&input)[3], CheckOutcome::Bad);
    }

    #[test]
    fn structured_calls_come_back_from_the_text() {
        for builtin in Builtin::ALL {
            let mut input = EXAMPLES[0].input();
            input.template = Some(builtin);
            input.messages = r#"[{"role": "user", "content": "7?"}, {"role": "assistant", "content": "",
                "tool_calls": [{"type": "function", "function": {"name": "find_order", "arguments": {"id": 7}}}]}]"#
                .to_owned();
            assert_eq!(outcomes(&input)[3], CheckOutcome::Good, "{builtin:?}");
        }
    }

    #[test]
    fn a_template_without_an_end_of_turn_trains_none() {
        let mut input = EXAMPLES[0].input();
        input.template = None;
        input.source = "{% for m in messages %}{{ m.content }}{% endfor %}".to_owned();
        assert_eq!(outcomes(&input)[1], CheckOutcome::Bad);
    }

    #[test]
    fn tokens_that_merge_over_a_border_are_noticed() {
        let mut input = EXAMPLES[0].input();
        input.template = None;
        // A token begins in one message and ends in the next.
        input.source = "{% for m in messages %}{{ m.content }}{% endfor %}".to_owned();
        input.messages =
            r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "<|im_"},
            {"role": "user", "content": "end|>"}]"#
                .to_owned();
        let report = examine(&input.read().unwrap(), &ToyTokenizer);
        assert_eq!(
            report.checks[2].outcome,
            CheckOutcome::Bad,
            "{:?}",
            report.checks
        );
    }
}
