//! Findings over all answers of a run: one more request, whose citations are checked.

use std::time::Duration;

use anyhow::{Result, bail};
use volary_agent::model::ModelRequest;
use volary_agent::model::retry::{Attempts, Next};
use volary_ask::render::estimated_tokens;
use volary_ask::run::{AskRun, ModelReply, RowView};
use volary_ask::synthesis::{CitedAnswer, Claim, messages, parse};

use super::Item;
use super::client::Client;

/// The maximum number of tokens of the findings, including reasoning.
const MOST_TOKENS: u32 = 8_000;
/// The seed of the jitter of waits.
const SEED: u64 = 1;

/// Findings over answers.
pub struct Findings {
    pub claims: Vec<Claim>,
    /// The index of the trajectory of each answer; the first one is cited as 1.
    pub cited: Vec<usize>,
    /// The number of answers for which there was no room.
    pub left_out: usize,
    /// What the request cost, if known.
    pub cost: Option<f64>,
}

/// Asks for findings.
///
/// # Errors
/// If there is no answer, the budget does not allow the request, or it fails.
pub fn findings(run: &AskRun, items: &[Item], client: &Client) -> Result<Findings> {
    let settings = run.settings();
    let mut answers = Vec::new();
    let mut cited = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if let Some(RowView::Answered { record, .. }) = run.row(index) {
            cited.push(index);
            answers.push(CitedAnswer {
                number: cited.len(),
                name: &item.name,
                answer: &record.answer,
            });
        }
    }
    if answers.is_empty() {
        bail!("there is no answer to summarise");
    }
    let all = answers.len();
    let request = loop {
        let request = ModelRequest {
            model: settings.model.clone(),
            messages: messages(&settings.question, &answers),
            temperature: settings.temperature,
            max_tokens: Some(MOST_TOKENS),
            effort: settings.effort,
            fallbacks: settings.fallbacks,
            ..ModelRequest::default()
        };
        let texts = request.messages.iter();
        let tokens: u64 = texts
            .map(|message| estimated_tokens(message.body().content_or_empty()))
            .sum();
        if tokens + u64::from(MOST_TOKENS) <= settings.context || answers.len() < 2 {
            break request;
        }
        answers.truncate(answers.len() * 4 / 5);
    };
    cited.truncate(answers.len());
    if let Some(limit) = run.limit_of(&request) {
        bail!(
            "{limit} The findings were not asked for; the same command with a higher limit does, and pays for no answer again."
        );
    }
    let reply = reply(run, client, request)?;
    let price = settings.price;
    let cost = reply
        .usage
        .and_then(|usage| usage.charged.or_else(|| Some(price?.cost(&usage))));
    Ok(Findings {
        claims: parse(&reply.text, |number| (1..=cited.len()).contains(&number)),
        left_out: all - cited.len(),
        cited,
        cost,
    })
}

/// Sends the request until there is a reply, with the waits of a run.
fn reply(run: &AskRun, client: &Client, mut request: ModelRequest) -> Result<ModelReply> {
    let settings = run.settings();
    let mut attempts = Attempts::new(settings.backoff, SEED);
    loop {
        match client.reply(&request) {
            Ok(reply) => return Ok(reply),
            Err(error) => match attempts.after(settings.kind, &mut request, &error) {
                Next::FallBack(_) => {}
                Next::Wait(seconds) => std::thread::sleep(Duration::from_secs_f64(seconds)),
                Next::GiveUp => bail!(
                    "the findings could not be written: {error} The answers are stored; the same command asks for the findings \
                     only."
                ),
            },
        }
    }
}
