//! What the test of a connection asks, and what its answers say about the model.

use volary_agent::model::exchange::Timing;
use volary_agent::model::limits::Spent;
use volary_agent::model::{Answer, Connection, ModelRequest, ParameterFallback, ToolChoice};
use volary_core::json::Object;
use volary_core::tool::{FunctionInfo, Parameters, Tool};
use volary_core::{Message, object};

/// Maximum output tokens. Reasoning models need some tokens before they respond.
const MOST_TOKENS: u32 = 256;

/// The number of characters of a response that are shown.
const SHOWN: usize = 80;

/// A tiny request: whether the model answers at all.
pub fn greeting(connection: &Connection) -> ModelRequest {
    ModelRequest {
        model: connection.model.clone(),
        messages: vec![Message::user("Say OK.").into()],
        max_tokens: Some(MOST_TOKENS),
        stream: true,
        ..ModelRequest::default()
    }
}

/// A request that the model can only answer with a call of a tool.
pub fn sum(connection: &Connection) -> ModelRequest {
    ModelRequest {
        messages: vec![Message::user("Call the tool add with x = 2 and y = 3.").into()],
        tools: vec![addition()],
        tool_choice: Some(ToolChoice::Required),
        ..greeting(connection)
    }
}

fn addition() -> Tool {
    Tool {
        info: FunctionInfo {
            name: "add".into(),
            description: "Adds two numbers.".into(),
            parameters: Some(Parameters {
                properties: object!({
                    "x": {"type": "integer", "description": "The first number."},
                    "y": {"type": "integer", "description": "The second number."}
                }),
                required: vec!["x".into(), "y".into()],
                extras: Object::new(),
            }),
        },
        concurrency_safe: true,
    }
}

/// Facts about the answer to [`greeting`], one sentence each. `cost` is in US dollars; `None` if a price is unknown.
pub fn facts(
    connection: &Connection,
    answer: &Answer,
    timing: &Timing,
    cost: Option<f64>,
    fallbacks: &[ParameterFallback],
) -> Vec<String> {
    let mut facts = vec![format!(
        "It works: {} of {} responds.",
        connection.model, connection.name
    )];
    let words = answer.text.as_deref().unwrap_or("").trim();
    if !words.is_empty() {
        let short: String = words.chars().take(SHOWN).collect();
        facts.push(format!("Response: {short}"));
    }
    let mut time = format!("{:.1} s", timing.latency);
    if let Some(first) = timing.first_token {
        time.push_str(&format!(", first token after {first:.1} s"));
    }
    if let Some(usage) = &answer.usage {
        let mut spent = Spent::default();
        spent.add_answer(Some(usage), cost);
        time.push_str(&format!("; {} tokens", spent.tokens));
        time.push_str(&match cost {
            Some(_) if !connection.kind.has_server() => ", at no cost".to_owned(),
            Some(cost) => format!(", ${cost:.6}"),
            None => ", price unknown".to_owned(),
        });
    }
    facts.push(format!("It took {time}."));
    let named = answer.model.as_ref();
    if let Some(model) = named.filter(|model| **model != connection.model) {
        facts.push(format!("The model identifies itself as {model}."));
    }
    let explained = fallbacks.iter();
    facts.extend(explained.map(|fallback| fallback.explanation().to_owned()));
    facts
}

/// A sentence on the answer to [`sum`]: whether the model can play. An error is its reason.
pub fn tool_verdict(answer: Result<&Answer, String>) -> String {
    match answer.map(|answer| answer.calls.first()) {
        Ok(Some(call)) => format!("Tool calls work: it called {}.", call.name),
        Ok(None) => "Tool calls do not work: it answered without calling the tool, so it cannot play. Choose a model \
                     that supports tools."
            .to_owned(),
        Err(why) => format!("Tool calls do not work: {}.", why.trim_end_matches('.')),
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::model::connection::PRESETS;
    use volary_agent::model::{RawCall, Usage};

    use super::*;

    fn connection() -> Connection {
        Connection {
            name: "Lab".into(),
            model: "small".into(),
            ..Connection::of(&PRESETS[0])
        }
    }

    fn timing(first_token: Option<f64>) -> Timing {
        Timing {
            first_token,
            latency: 1.25,
            ..Timing::default()
        }
    }

    fn used(prompt: u64, completion: u64) -> Option<Usage> {
        Some(Usage {
            prompt,
            completion,
            ..Usage::default()
        })
    }

    #[test]
    fn requests_are_short_and_name_the_model() {
        let greeting = greeting(&connection());
        assert_eq!(&*greeting.model, "small");
        assert_eq!(greeting.max_tokens, Some(MOST_TOKENS));
        assert!(greeting.tools.is_empty() && greeting.tool_choice.is_none());

        let sum = sum(&connection());
        assert_eq!(&*sum.model, "small");
        assert_eq!(sum.max_tokens, Some(MOST_TOKENS));
        assert_eq!(sum.tools.len(), 1);
        assert_eq!(sum.tool_choice, Some(ToolChoice::Required));
    }

    #[test]
    fn a_bare_answer_says_who_answered_and_when() {
        let said = facts(&connection(), &Answer::default(), &timing(None), None, &[]);
        assert_eq!(said, ["It works: small of Lab responds.", "It took 1.2 s."]);
    }

    #[test]
    fn a_full_answer_says_what_it_cost() {
        let answer = Answer {
            text: Some(" OK. \n".to_owned()),
            usage: used(10, 2),
            model: Some("small-2026".into()),
            ..Answer::default()
        };
        let timing = timing(Some(0.4));
        let fallbacks = [ParameterFallback::NoTemperature];
        let said = facts(
            &connection(),
            &answer,
            &timing,
            Some(0.000_012_3),
            &fallbacks,
        );
        assert_eq!(
            said,
            [
                "It works: small of Lab responds.",
                "Response: OK.",
                "It took 1.2 s, first token after 0.4 s; 12 tokens, $0.000012.",
                "The model identifies itself as small-2026.",
                ParameterFallback::NoTemperature.explanation(),
            ]
        );
    }

    #[test]
    fn an_unknown_price_is_not_zero() {
        let answer = Answer {
            usage: used(1, 1),
            ..Answer::default()
        };
        let said = facts(&connection(), &answer, &timing(None), None, &[]);
        assert_eq!(said[1], "It took 1.2 s; 2 tokens, price unknown.");
    }

    #[test]
    fn the_model_is_not_named_twice() {
        let answer = Answer {
            model: Some("small".into()),
            ..Answer::default()
        };
        let said = facts(&connection(), &answer, &timing(None), None, &[]);
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn long_responses_are_cut_between_characters() {
        let answer = Answer {
            text: Some("ä".repeat(500)),
            ..Answer::default()
        };
        let said = facts(&connection(), &answer, &timing(None), None, &[]);
        assert_eq!(said[1], format!("Response: {}", "ä".repeat(SHOWN)));
    }

    #[test]
    fn only_a_call_shows_that_the_model_can_play() {
        let call = RawCall {
            name: "add".to_owned(),
            ..RawCall::default()
        };
        let called = Answer {
            calls: vec![call],
            ..Answer::default()
        };
        assert_eq!(tool_verdict(Ok(&called)), "Tool calls work: it called add.");
        let talked = Answer {
            text: Some("5".to_owned()),
            ..Answer::default()
        };
        assert!(tool_verdict(Ok(&talked)).contains("without calling the tool"));
        assert_eq!(
            tool_verdict(Err("the template has no tools".to_owned())),
            "Tool calls do not work: the template has no tools."
        );
        assert_eq!(
            tool_verdict(Err("The server failed. It is busy.".to_owned())),
            "Tool calls do not work: The server failed. It is busy."
        );
    }
}
