//! Model usage in words, for a step and for a whole episode.
//!
//! The requests of a step are stored in its extras under [`EXCHANGES`], as a list of
//! `volary_agent::model::Exchange`; the last one was answered. [`NOTES`] holds sentences about parameters that
//! the model did not accept.

use volary_core::AnyMessage;
use volary_core::json::{Json, Object, Text};
use volary_core::quantity::large_count_text;
use volary_episode::{StepRecord, Usage};

use super::summary::seconds_text;

/// The member of a request's info in which some providers return the reasoning.
const REASONING: &str = "reasoning_content";

/// The key in a step's extras for its exchanges.
pub const EXCHANGES: &str = "exchanges";
/// The key in a step's extras for notes about how the model was called.
pub const NOTES: &str = "notes";

/// The exchanges in a step's extras.
pub fn exchanges(extras: &Object) -> &[Json] {
    extras
        .get(EXCHANGES)
        .and_then(Json::as_list)
        .unwrap_or_default()
}

/// The notes in a step's extras.
pub fn notes(extras: &Object) -> Vec<String> {
    let notes = extras.get(NOTES).and_then(Json::as_list);
    let notes = notes.unwrap_or_default().iter();
    notes
        .filter_map(|note| note.as_text().map(|note| note.to_string()))
        .collect()
}

/// The model's reasoning before an action, if it is more than white space.
pub fn reasoning(step: &StepRecord) -> Option<Text> {
    let is_there = |text: &&Text| !text.trim().is_empty();
    let recorded = step.details.reasoning.as_ref();
    let returned = match &step.action {
        AnyMessage::Request(request) => request.body.info.as_ref(),
        AnyMessage::Response(_) | AnyMessage::Plain(_) => None,
    };
    let returned = returned.and_then(|info| info.get(REASONING)?.as_text());
    recorded
        .filter(is_there)
        .or(returned.filter(is_there))
        .cloned()
}

/// Usage of a step as separate facts: model, tokens, cost, time. Empty if nothing is known.
pub fn facts(step: &StepRecord) -> Vec<String> {
    let details = &step.details;
    let exchanges = exchanges(&step.extras);
    let mut facts = Vec::new();
    if let Some(model) = &details.model {
        facts.push(model.to_string());
    }
    if let Some(usage) = &details.usage {
        if let Some(tokens) = tokens_text(usage.input, usage.output) {
            facts.push(tokens);
        }
        match usage.cost {
            Some(cost) => facts.push(cost_text(cost)),
            None if !exchanges.is_empty() => facts.push("cost unknown".to_owned()),
            None => {}
        }
    } else if !exchanges.is_empty() {
        facts.push("tokens unknown".to_owned());
    }
    if let Some(answered) = exchanges.last() {
        let seconds = |key: &str| answered.get(key).and_then(Json::as_f64);
        facts.extend(seconds("latency").map(seconds_text));
        let first = seconds("first_token").map(seconds_text);
        facts.extend(first.map(|first| format!("first token after {first}")));
        let attempts = answered.get("tries").and_then(Json::as_i64).unwrap_or(1);
        if attempts > 1 {
            facts.push(format!("{attempts} attempts"));
        }
    }
    facts
}

/// Total usage of an episode; `None` if no step reports any. `is_whole`: whether all steps report a cost.
pub fn total((usage, is_whole): (Usage, bool)) -> Option<String> {
    let mut total = tokens_text(usage.input, usage.output)?;
    match usage.cost {
        Some(cost) if is_whole => total.push_str(&format!(", {}", cost_text(cost))),
        // A partial cost is not a total.
        Some(cost) => total.push_str(&format!(", {} and an unknown cost", cost_text(cost))),
        None => total.push_str(", cost unknown"),
    }
    Some(total)
}

fn tokens_text(input: Option<u64>, output: Option<u64>) -> Option<String> {
    let count = large_count_text;
    match (input, output) {
        (None, None) => None,
        (Some(input), None) => Some(format!("{} tokens in", count(input))),
        (None, Some(output)) => Some(format!("{} tokens out", count(output))),
        (Some(input), Some(output)) => {
            Some(format!("{} tokens in, {} out", count(input), count(output)))
        }
    }
}

/// US dollars with a useful number of decimals.
pub fn cost_text(dollars: f64) -> String {
    match dollars {
        cost if cost <= 0.0 => "$0".to_owned(),
        cost if cost < 0.000_1 => "under $0.0001".to_owned(),
        cost if cost < 0.1 => format!("${cost:.4}"),
        cost => format!("${cost:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Body, Message, ToolRequestMessage};
    use volary_core::{json, object};
    use volary_episode::{Episode, Outcome};

    use super::*;
    use crate::tally::Tally;

    fn step(usage: Json, exchanges: Json) -> StepRecord {
        let mut step = StepRecord::new(
            Message::user("act").into(),
            Outcome::Observed {
                messages: Vec::new(),
                reward: 0.0,
                done: false,
                truncated: false,
            },
        );
        let value = object!({"action": (volary_episode::native::message_to_json(&step.action)),
            "observation": [], "model": "m", "usage": usage});
        if let Ok(read) = volary_episode::native::step_from_json(&Json::Object(value)) {
            step.details = read.details;
        }
        step.extras = object!({ EXCHANGES: exchanges });
        step
    }

    #[test]
    fn reasoning_is_found_where_providers_put_it() {
        let with = |reasoning: Option<&str>, info: Option<Object>| {
            let mut asked = step(json!({}), json!([]));
            asked.details.reasoning = reasoning.map(Text::from);
            asked.action = AnyMessage::Request(ToolRequestMessage {
                body: Body {
                    info,
                    ..Body::default()
                },
                tool_calls: Vec::new(),
            });
            super::reasoning(&asked)
        };
        let info = || Some(object!({"reasoning_content": "From the info."}));
        assert_eq!(with(None, None), None);
        assert_eq!(with(None, info()).as_deref(), Some("From the info."));
        assert_eq!(
            with(Some("Recorded."), info()).as_deref(),
            Some("Recorded.")
        );
        assert_eq!(with(Some(" \n"), None), None, "nothing to unfold");
        assert_eq!(with(Some(""), info()).as_deref(), Some("From the info."));
    }

    #[test]
    fn a_step_shows_its_cost() {
        let asked = step(
            json!({"input": 1234, "output": 56, "cost": 0.00123}),
            json!([{"latency": 9.0, "tries": 1}, {"latency": 1.25, "first_token": 0.5, "tries": 2}]),
        );
        assert_eq!(
            facts(&asked),
            [
                "m",
                "1,234 tokens in, 56 out",
                "$0.0012",
                "1.2 s",
                "first token after 500 ms",
                "2 attempts"
            ]
        );
        assert_eq!(
            facts(&step(json!({"input": 1}), json!([{}])))[1..],
            ["1 tokens in", "cost unknown"]
        );
    }

    #[test]
    fn a_partial_cost_is_not_shown_as_the_total() {
        let priced = || step(json!({"input": 10, "output": 1, "cost": 0.5}), json!([]));
        let mut episode = Episode {
            steps: vec![priced(), priced()],
            ..Episode::default()
        };
        let said = |episode: &Episode| {
            let mut tally = Tally::default();
            tally.follow(episode, 0);
            total(tally.usage(episode)).unwrap_or_default()
        };
        assert_eq!(said(&episode), "20 tokens in, 2 out, $1.00");
        episode
            .steps
            .push(step(json!({"input": 10, "output": 1}), json!([])));
        assert_eq!(
            said(&episode),
            "30 tokens in, 3 out, $1.00 and an unknown cost"
        );
        episode.steps.drain(..2);
        assert_eq!(said(&episode), "10 tokens in, 1 out, cost unknown");
        assert_eq!(said(&Episode::default()), "");
    }

    #[test]
    fn money_is_readable() {
        for (cost, expected) in [
            (0.0, "$0"),
            (0.000_01, "under $0.0001"),
            (0.001_23, "$0.0012"),
            (0.5, "$0.50"),
            (12.345, "$12.35"),
        ] {
            assert_eq!(cost_text(cost), expected);
        }
    }
}
