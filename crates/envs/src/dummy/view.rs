//! The dummy's rich view (the stories told, what other tools gave), and its oracle. The task is the first message, so the
//! view does not repeat it.

use volary_core::ToolRequestMessage;
use volary_core::json::{Json, Text};
use volary_core::view::{Block, Tone, View, ViewInput};

use crate::blocks::{Row, results, shortened, verdict};
use crate::calls::{Exchange, action, argument, latest_exchanges};

/// The maximum number of stories in the view (the latest), and of characters of each.
const MOST_STORIES: usize = 3;
const MOST_OF_A_STORY: usize = 2000;

/// The stories told, what other tools gave.
pub fn view(input: &ViewInput<'_>) -> View {
    let latest = |are_stories: bool| {
        latest_exchanges(input.messages).filter(move |exchange| {
            exchange.reply.is_some() && (exchange.tool() == "print_story") == are_stories
        })
    };
    let told: Vec<Exchange<'_>> = latest(true).take(MOST_STORIES).collect();

    let mut blocks = Vec::new();
    blocks.extend(told.iter().rev().map(story));
    blocks.extend(results("Other calls", latest(false), row));
    if input.done {
        blocks.push(verdict(Tone::Good, "The story is told."));
    }
    View { blocks }
}

/// Tells a story of five words.
pub fn oracle(input: &ViewInput<'_>) -> Option<ToolRequestMessage> {
    let told = input.frame.info.get("reward").and_then(Json::as_f64);
    if input.done || told != Some(0.0) {
        return None;
    }
    let arguments = argument("story", "Owls watched; the wood slept.");
    Some(action(input.messages, [("print_story", arguments)]))
}

fn story(exchange: &Exchange<'_>) -> Block {
    let story = exchange.call.function.arguments.get("story");
    let text: Text = story.map(Json::to_display).unwrap_or_default().into();
    let label = match text.split_whitespace().count() {
        1 => "Story (1 word)".into(),
        words => format!("Story ({words} words)").into(),
    };
    Block::Passage {
        label,
        text: shortened(&text, MOST_OF_A_STORY),
    }
}

fn row(exchange: Exchange<'_>) -> Row {
    let call = exchange.call.function.to_string();
    let result = exchange.content().unwrap_or_default();
    (call.into(), result, Tone::Plain)
}
