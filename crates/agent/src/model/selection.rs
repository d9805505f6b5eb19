//! Converts a model's answer to an action: the only place where a [`ToolRequestMessage`] is made of an
//! [`Answer`].
//!
//! Defects of a call that can be reported to the model turn it into aviary's `INVALID` tool: arguments that are not
//! JSON, a call without a name. Missing or duplicate ids are generated. Every other defect is an error: an answer cut
//! off at the token limit, a refusal, or an answer that aviary rejects ([`ModelError::NoAction`]).
//!
//! The action's info contains, in addition to aviary's `usage` and `model`: `finish_reason`; if present,
//! `reasoning_content`, `refusal`, `answered_by` (if the provider names another model), `cached_tokens` and
//! `reasoning_tokens`; the raw `text` of a rollout; the text of invalid calls under [`INVALID_CALLS_KEY`]; and under
//! [`ECHO_KEY`] the parts that the provider requires back, so that a stored episode can be continued.

use std::collections::HashSet;

use volary_core::json::{Json, Object, Text, read, to_json};
use volary_core::message::MalformedMessageError;
use volary_core::tool::call::{INVALID, INVALID_CALLS_KEY};
use volary_core::{ToolRequestMessage, object};

use super::answer::tokens;
use super::history::{ECHO_KEY, Echo};
use super::selector::ToolSelector;
use super::{Answer, Finish, ModelError, RawCall, ToolChoice, sglang};

/// Converts an answer to an action, and appends it to the selector's ledger. `provider` is the name of the codec that
/// parsed the answer, `make_id` returns an id for the n-th call of the action.
///
/// A text without calls is an action whatever the tool choice was: a caller that leaves the choice to the model must
/// accept it. (Aviary's own selector rejects it.)
pub fn select(
    selector: &mut ToolSelector,
    answer: &Answer,
    provider: &str,
    make_id: impl FnMut(usize) -> Text,
) -> Result<ToolRequestMessage, ModelError> {
    match answer.finish {
        Finish::Length => return Err(ModelError::TokenLimit),
        Finish::ContentFilter => {
            let why = answer.refusal.as_deref().or(answer.text.as_deref());
            return Err(ModelError::Refused {
                reason: why.unwrap_or("no reason given.").into(),
            });
        }
        _ => {}
    }
    if answer.calls.is_empty() && answer.text.is_none() && answer.refusal.is_none() {
        return Err(ModelError::NoAction(MalformedMessageError {
            message: "The model returned no text and no calls.".into(),
        }));
    }
    let mended = Answer {
        calls: mended(&answer.calls, make_id),
        ..answer.clone()
    };
    let mut more_info = info(answer, provider, selector.model());
    let invalid = invalid_calls(&answer.calls, &mended.calls);
    if !invalid.is_empty() {
        more_info.insert(INVALID_CALLS_KEY, Json::Object(invalid));
    }
    let completion = mended.to_completion();
    Ok(selector.read_with(&completion, Some(&ToolChoice::Required), more_info)?)
}

/// Repairs calls so that they can be run and answered: each gets a name and a unique id.
fn mended(calls: &[RawCall], mut make_id: impl FnMut(usize) -> Text) -> Vec<RawCall> {
    let mut used = HashSet::new();
    let mended = calls.iter().enumerate().map(|(index, call)| {
        let mut call = call.clone();
        if call.id.is_empty() || used.contains(&call.id) {
            call.id = make_id(index).to_string();
        }
        used.insert(call.id.clone());
        if call.name.is_empty() {
            call.name = INVALID.to_owned();
            call.arguments.clear();
        }
        call
    });
    mended.collect()
}

/// The calls that become [`INVALID`], as the model wrote them, by the id of their answer.
fn invalid_calls(written: &[RawCall], mended: &[RawCall]) -> Object {
    let mut invalid = Object::new();
    for (written, mended) in written.iter().zip(mended) {
        let is_json = written.arguments.is_empty() || read(&written.arguments).is_ok();
        if written.name.is_empty() || !is_json {
            let call = object!({
                "name": (written.name.as_str()),
                "arguments": (written.arguments.as_str()),
            });
            invalid.insert(mended.id.clone(), Json::Object(call));
        }
    }
    invalid
}

fn info(answer: &Answer, provider: &str, model: &Text) -> Object {
    let mut info = object!({"finish_reason": (answer.finish.as_str())});
    if let Some(text) = answer.echo.first().filter(|_| provider == sglang::NAME) {
        // Rollouts export the sampled text, including the markup of calls.
        info.insert("text", sglang::said(text));
    }
    if let Some(thinking) = &answer.thinking {
        info.insert("reasoning_content", thinking.as_str());
    }
    if let Some(refusal) = &answer.refusal {
        info.insert("refusal", refusal.as_str());
    }
    if let Some(other) = answer.model.as_ref().filter(|other| *other != model) {
        info.insert("answered_by", other.clone());
    }
    let usage = answer.usage.unwrap_or_default();
    for (key, count) in [
        ("cached_tokens", usage.cached),
        ("cache_written_tokens", usage.cache_written),
        ("reasoning_tokens", usage.reasoning),
    ] {
        if count > 0 {
            info.insert(key, tokens(count));
        }
    }
    if let Some(charged) = usage.charged {
        info.insert("charged", charged);
    }
    if !answer.echo.is_empty() {
        let echo = Echo {
            provider: provider.into(),
            model: model.clone(),
            parts: answer.echo.clone(),
        };
        // Texts and values always serialize.
        info.insert(ECHO_KEY, to_json(&echo).unwrap_or_default());
    }
    info
}

/// The usage in an action's info, as written by [`select`].
pub fn usage_of(action: &ToolRequestMessage) -> Option<super::Usage> {
    let info = action.body.info.as_ref()?;
    let count = |value: Option<&Json>| {
        let count = value.and_then(Json::as_i64).unwrap_or(0);
        u64::try_from(count).unwrap_or(0)
    };
    let pair = info.get("usage")?.as_list()?;
    Some(super::Usage {
        prompt: count(pair.first()),
        completion: count(pair.get(1)),
        cached: count(info.get("cached_tokens")),
        cache_written: count(info.get("cache_written_tokens")),
        reasoning: count(info.get("reasoning_tokens")),
        charged: info.get("charged").and_then(Json::as_f64),
    })
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;
    use crate::model::Usage;

    fn call(id: &str, name: &str, arguments: &str) -> RawCall {
        RawCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    fn select_one(answer: &Answer) -> Result<ToolRequestMessage, ModelError> {
        let mut selector = ToolSelector::new("m", true, false);
        let selected = select(&mut selector, answer, "anthropic", |index| {
            format!("made{index}").into()
        });
        // The returned action equals the one in the ledger.
        let ledger = selector.ledger().unwrap_or(&[]).to_vec();
        let expected: Vec<_> = selected.iter().cloned().map(Into::into).collect();
        assert_eq!(ledger, expected);
        selected
    }

    #[test]
    fn broken_calls_become_invalid_ones_that_can_be_answered() {
        let action = select_one(&Answer {
            calls: vec![
                call("a", "f", r#"{"x": 1}"#),
                call("a", "f", r#"{"x": "#),
                call("", "", "{}"),
            ],
            finish: Finish::ToolCalls,
            ..Answer::default()
        })
        .unwrap();
        let calls: Vec<(&str, &str)> = action
            .tool_calls
            .iter()
            .map(|call| (&*call.id, &*call.function.name))
            .collect();
        assert_eq!(
            calls,
            [("a", "f"), ("made1", "INVALID"), ("made2", "INVALID")]
        );
        let info = action.body.info.as_ref().unwrap();
        assert_eq!(
            info.get(INVALID_CALLS_KEY),
            Some(&json!({
                "made1": {"name": "f", "arguments": r#"{"x": "#},
                "made2": {"name": "", "arguments": "{}"}
            })),
            "the model's own text is kept"
        );
    }

    #[test]
    fn info_holds_all_that_a_stored_episode_needs() {
        let usage = Usage {
            prompt: 10,
            completion: 5,
            cached: 4,
            reasoning: 3,
            ..Usage::default()
        };
        let action = select_one(&Answer {
            text: Some("t".into()),
            thinking: Some("hm".into()),
            usage: Some(usage),
            model: Some("m-2026".into()),
            echo: vec![Json::from("x")],
            ..Answer::default()
        })
        .unwrap();
        assert_eq!(
            Json::Object(action.body.info.clone().unwrap()).to_compact_text(),
            r#"{"usage":[10,5],"model":"m","finish_reason":"stop","reasoning_content":"hm","answered_by":"m-2026","cached_tokens":4,"reasoning_tokens":3,"echo":{"provider":"anthropic","model":"m","parts":["x"]}}"#
        );
        assert_eq!(usage_of(&action), Some(usage));
    }

    #[test]
    fn a_message_without_an_action_is_an_error() {
        let finish = |finish| Answer {
            text: Some("t".into()),
            finish,
            ..Answer::default()
        };
        assert_eq!(
            select_one(&finish(Finish::Length)),
            Err(ModelError::TokenLimit)
        );
        assert_eq!(
            select_one(&finish(Finish::ContentFilter)),
            Err(ModelError::Refused { reason: "t".into() })
        );
        for answer in [
            finish(Finish::Other("MALFORMED_FUNCTION_CALL".into())),
            Answer::default(),
            Answer {
                calls: vec![call("a", "f", "[1]")],
                ..Answer::default()
            },
        ] {
            assert!(matches!(select_one(&answer), Err(ModelError::NoAction(_))));
        }
    }

    #[test]
    fn a_refusal_in_words_is_an_action_without_calls() {
        let action = select_one(&Answer {
            refusal: Some("I can't.".into()),
            ..Answer::default()
        })
        .unwrap();
        assert_eq!(action.body.content.as_deref(), Some("I can't."));
        assert!(action.tool_calls.is_empty());
    }
}
