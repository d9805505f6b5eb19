//! The rich view of a task: what was done and, after the end, what should have been.

use volary_core::Json;
use volary_core::json::{Object, Text};
use volary_core::view::{Block, Tone, View, ViewInput};

use super::RESPOND;
use crate::blocks::{Row, results, verdict};
use crate::calls::{Exchange, latest_exchanges};

/// What was done, and the parts of the reward after the end.
pub fn view(input: &ViewInput<'_>) -> View {
    let info = &input.frame.info;
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(results("Actions", latest_exchanges(input.messages), row));
    let Some(reward) = info.get("reward").and_then(Json::as_f64) else {
        return View { blocks };
    };
    if let Some(text) = info.get("instruction").and_then(Json::as_text) {
        blocks.push(Block::Passage {
            label: "What the customer wanted".into(),
            text: text.clone(),
        });
    }
    let list = |key: &str| info.get(key).and_then(Json::as_list).unwrap_or_default();
    blocks.extend(results(
        "A right way",
        list("gold_actions").iter().rev(),
        gold_row,
    ));
    blocks.extend(results(
        "Records that differ",
        list("differences").iter().rev(),
        difference_row,
    ));
    let outputs = info.get("outputs").and_then(Json::as_object);
    let outputs = outputs.into_iter().flat_map(Object::iter).rev();
    blocks.extend(results(
        "What had to be said",
        outputs,
        |(output, said)| match said.as_bool() == Some(true) {
            true => (Text::from(&**output), "said".into(), Tone::Good),
            false => (Text::from(&**output), "not said".into(), Tone::Bad),
        },
    ));
    blocks.push(match reward > 0.0 {
        true => verdict(Tone::Good, "The customer got what the policy allows."),
        false => verdict(Tone::Bad, "The data or the answers are not the right ones."),
    });
    View { blocks }
}

fn row(exchange: Exchange<'_>) -> Row {
    let arguments = &exchange.call.function.arguments;
    let asked = match exchange.tool() {
        RESPOND => arguments
            .get("content")
            .map_or_else(String::new, Json::to_display),
        tool => format!("{tool} {}", arguments.to_python_text()),
    };
    match exchange.content() {
        None => (asked.into(), "The step failed.".into(), Tone::Bad),
        Some(text) if text.starts_with("Error: ") => (asked.into(), text, Tone::Bad),
        Some(text) => (asked.into(), text, Tone::Plain),
    }
}

fn gold_row(action: &Json) -> Row {
    let name = action
        .get("name")
        .map_or_else(String::new, Json::to_display);
    let arguments = action
        .get("kwargs")
        .map_or_else(String::new, Json::to_python_text);
    (name.into(), arguments.into(), Tone::Plain)
}

fn difference_row(difference: &Json) -> Row {
    let text = |key: &str| {
        difference
            .get(key)
            .map_or_else(String::new, Json::to_display)
    };
    let shown = |key: &str| {
        difference
            .get(key)
            .map_or_else(String::new, Json::to_python_text)
    };
    let place = format!("{} {}", text("table"), text("key"));
    let both = format!("is {} and should be {}", shown("is"), shown("should_be"));
    (place.into(), both.into(), Tone::Bad)
}
