//! The calculator's rich view (expressions with their results, verdict), and the answer that solves it. The problem is the
//! first message, so the view does not repeat it.

use volary_core::ToolRequestMessage;
use volary_core::json::{Json, Text, float_text};
use volary_core::view::{Block, Tone, View, ViewInput};

use crate::blocks::{Row, results, shortened, verdict};
use crate::calls::{Exchange, action, argument, latest_exchanges};
use crate::cast::to_float;

/// The maximum length of a submitted answer in its verdict, in characters.
const MOST_OF_AN_ANSWER: usize = 60;

/// Expressions with their results, verdict on the latest answer.
pub fn view(input: &ViewInput<'_>) -> View {
    let is_answer = |exchange: &Exchange<'_>| exchange.tool() == "submit_answer";
    let latest = || latest_exchanges(input.messages);
    let calculations = latest().filter(|exchange| !is_answer(exchange));

    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(results("Calculations", calculations, row));
    match latest().find(is_answer) {
        Some(submitted) => blocks.push(judged(&submitted)),
        None if input.done => {
            let text = "A failure ended the episode before an answer was submitted.";
            blocks.push(verdict(Tone::Bad, text));
        }
        None => {}
    }
    View { blocks }
}

/// Submits the answer in the frame.
pub fn oracle(input: &ViewInput<'_>) -> Option<ToolRequestMessage> {
    if input.done {
        return None;
    }
    let answer = input.frame.state.get("answer")?.as_f64()?;
    let arguments = argument("answer", plain(answer));
    Some(action(input.messages, [("submit_answer", arguments)]))
}

fn row(exchange: Exchange<'_>) -> Row {
    if exchange.tool() != "calculator" {
        let text = "Unknown tool.";
        return (exchange.tool().into(), text.into(), Tone::Bad);
    }
    let (result, tone) = match exchange.content() {
        None => ("The step failed.".into(), Tone::Bad),
        Some(error) if error.starts_with("Error using calculator: ") => (error, Tone::Bad),
        Some(result) => (result, Tone::Plain),
    };
    (shown(&exchange, "expr"), result, tone)
}

fn judged(exchange: &Exchange<'_>) -> Block {
    let submitted = shortened(&shown(exchange, "answer"), MOST_OF_AN_ANSWER);
    let number = exchange.call.function.arguments.get("answer").map(to_float);
    match (exchange.content().as_deref(), number) {
        (Some("True"), _) => verdict(Tone::Good, format!("{submitted} is right.")),
        (Some(_), Some(Err(_))) => verdict(Tone::Bad, format!("“{submitted}” is not a number.")),
        // The verdict does not reveal the answer: the task may be tried again.
        (Some(_), _) => verdict(Tone::Bad, format!("{submitted} is wrong.")),
        (None, _) => {
            let text = format!("“{submitted}” could not be judged: the step failed.");
            verdict(Tone::Bad, text)
        }
    }
}

fn shown(exchange: &Exchange<'_>, argument: &str) -> Text {
    match exchange.call.function.arguments.get(argument) {
        Some(Json::Text(text)) => text.clone(),
        Some(other) => other.to_display().into(),
        None => Text::default(),
    }
}

/// A number as people write it: integers without a point.
pub fn plain(number: f64) -> String {
    let text = float_text(number);
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
