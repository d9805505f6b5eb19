//! The calculator's rich view (problem, expressions with their results, verdict), and the answer
//! that solves it.

use volary_core::ToolRequestMessage;
use volary_core::json::{Json, Text, float_text};
use volary_core::view::{Block, Tone, View, ViewInput};

use crate::calls::{Exchange, action, argument, exchanges};
use crate::cast::to_float;

/// Problem, expressions with their results, verdict.
pub fn view(input: &ViewInput<'_>) -> View {
    let state = &input.frame.state;
    let problem = state.get("problem").and_then(Json::as_text).cloned();
    let answer = state.get("answer").and_then(Json::as_f64);
    let exchanges = exchanges(input.messages);
    let (answers, rest): (Vec<_>, Vec<_>) = exchanges
        .iter()
        .partition(|exchange| exchange.tool() == "submit_answer");

    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(problem.map(|text| Block::Passage {
        label: "Problem".into(),
        text,
    }));
    if !rest.is_empty() {
        blocks.push(Block::Results {
            label: "Calculations".into(),
            rows: rest.into_iter().map(row).collect(),
        });
    }
    let judged = !answers.is_empty();
    blocks.extend(
        answers
            .into_iter()
            .map(|exchange| verdict(exchange, answer)),
    );
    if input.done && !judged {
        blocks.push(Block::Verdict {
            tone: Tone::Bad,
            text: "A failure ended the episode before an answer was submitted.".into(),
        });
    }
    View { blocks }
}

/// Submits the answer that the frame shows.
pub fn oracle(input: &ViewInput<'_>) -> Option<ToolRequestMessage> {
    if input.done {
        return None;
    }
    let answer = input.frame.state.get("answer")?.as_f64()?;
    let arguments = argument("answer", plain(answer));
    Some(action(input.messages, [("submit_answer", arguments)]))
}

fn row(exchange: &Exchange<'_>) -> (Text, Text, Tone) {
    if exchange.tool() != "calculator" {
        let text = "There is no such tool.";
        return (exchange.tool().into(), text.into(), Tone::Bad);
    }
    let expression = shown(exchange, "expr");
    let tone = match exchange.reply {
        None => return (expression, "The step failed.".into(), Tone::Bad),
        Some(_) if exchange.content().starts_with("Error using calculator: ") => Tone::Bad,
        Some(_) => Tone::Plain,
    };
    (expression, exchange.content().into(), tone)
}

fn verdict(exchange: &Exchange<'_>, answer: Option<f64>) -> Block {
    let submitted = shown(exchange, "answer");
    let number = exchange.call.function.arguments.get("answer").map(to_float);
    let (tone, text) = match (exchange.content(), number) {
        ("True", _) => (Tone::Good, format!("{submitted} is right.")),
        ("False", Some(Err(_))) => (Tone::Bad, format!("“{submitted}” is not a number.")),
        ("False", _) => match answer {
            Some(answer) => (
                Tone::Bad,
                format!("{submitted} is wrong; the answer is {}.", plain(answer)),
            ),
            None => (Tone::Bad, format!("{submitted} is wrong.")),
        },
        _ => (
            Tone::Bad,
            format!("“{submitted}” could not be judged: the step failed."),
        ),
    };
    Block::Verdict {
        tone,
        text: text.into(),
    }
}

fn shown(exchange: &Exchange<'_>, argument: &str) -> Text {
    match exchange.call.function.arguments.get(argument) {
        Some(Json::Text(text)) => text.clone(),
        Some(other) => other.to_display().into(),
        None => Text::default(),
    }
}

/// A number as a person writes it: whole ones without a point.
fn plain(number: f64) -> String {
    let text = float_text(number);
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
