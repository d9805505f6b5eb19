//! The dummy's rich view (the task, the stories told, what other tools gave), and its oracle.

use volary_core::ToolRequestMessage;
use volary_core::json::{Json, Text};
use volary_core::view::{Block, Tone, View, ViewInput};

use crate::calls::{Exchange, action, argument, exchanges};

/// The task, the stories told, what other tools gave.
pub fn view(input: &ViewInput<'_>) -> View {
    let exchanges = exchanges(input.messages);
    let (stories, rest): (Vec<Exchange<'_>>, Vec<Exchange<'_>>) = exchanges
        .into_iter()
        .filter(|exchange| exchange.reply.is_some())
        .partition(|exchange| exchange.tool() == "print_story");

    let mut blocks = Vec::new();
    blocks.extend(task(input).map(|text| Block::Passage {
        label: "Task".into(),
        text,
    }));
    blocks.extend(stories.iter().map(|exchange| {
        let story = exchange.call.function.arguments.get("story");
        let text: Text = story.map(Json::to_display).unwrap_or_default().into();
        Block::Passage {
            label: label(&text),
            text,
        }
    }));
    if !rest.is_empty() {
        let rows = rest.iter().map(|exchange| {
            let call = exchange.call.function.to_string();
            (call.into(), exchange.content().into(), Tone::Plain)
        });
        blocks.push(Block::Results {
            label: "Other calls".into(),
            rows: rows.collect(),
        });
    }
    if input.done {
        blocks.push(Block::Verdict {
            tone: Tone::Good,
            text: "The story is told.".into(),
        });
    }
    View { blocks }
}

/// Tells a story of five words.
pub fn oracle(input: &ViewInput<'_>) -> Option<ToolRequestMessage> {
    let told = input.frame.info.get("reward").and_then(Json::as_f64);
    if input.done || told != Some(0.0) {
        return None;
    }
    let story = "Owls watched; the wood slept.";
    Some(action(
        input.messages,
        [("print_story", argument("story", story))],
    ))
}

fn task(input: &ViewInput<'_>) -> Option<Text> {
    let messages = input.frame.state.get("messages")?.as_list()?;
    messages.first()?.as_text().cloned()
}

fn label(story: &str) -> Text {
    match story.split_whitespace().count() {
        1 => "Story (1 word)".into(),
        words => format!("Story ({words} words)").into(),
    }
}
