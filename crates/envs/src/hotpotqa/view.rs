//! The rich view: the question, the searches with their results, the verdict.

use volary_core::Json;
use volary_core::view::{Block, Tone, View, ViewInput};

use crate::blocks::{Row, results, shortened, verdict};
use crate::calls::{Exchange, latest_exchanges};

/// The maximum length of an answer in its verdict, in characters.
const MOST_OF_AN_ANSWER: usize = 60;

/// Searches and lookups, and the verdict on the answer. The question is the first message.
pub(super) fn view(input: &ViewInput<'_>) -> View {
    let info = &input.frame.info;
    let is_answer = |exchange: &Exchange<'_>| exchange.tool() == "submit_answer";
    let reading = latest_exchanges(input.messages).filter(|exchange| !is_answer(exchange));
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(results("Reading", reading, row));
    if input.done {
        let answer = info.get("answer").filter(|answer| !answer.is_null());
        let reward = info
            .get("reward")
            .and_then(Json::as_f64)
            .unwrap_or_default();
        blocks.push(match answer {
            Some(answer) => {
                let answer = shortened(&answer.to_display().into(), MOST_OF_AN_ANSWER);
                if reward > 0.0 {
                    verdict(Tone::Good, format!("“{answer}” is right."))
                } else {
                    verdict(Tone::Bad, format!("“{answer}” is not right."))
                }
            }
            None => verdict(Tone::Bad, "The episode ended without an answer."),
        });
    }
    View { blocks }
}

fn row(exchange: Exchange<'_>) -> Row {
    let arguments = &exchange.call.function.arguments;
    let argument = arguments.get("entity").or_else(|| arguments.get("keyword"));
    let asked = argument.map_or_else(String::new, Json::to_display);
    let asked = format!("{} {asked}", exchange.tool());
    match exchange.content() {
        None => (asked.into(), "The step failed.".into(), Tone::Bad),
        Some(text) => {
            let failed = text.contains("returned no results") || text.contains(" failed. ");
            let tone = if failed { Tone::Notice } else { Tone::Plain };
            (asked.into(), text, tone)
        }
    }
}
