//! What is printed: the plan and the end to standard error, the answers to standard output.

use anyhow::Result;
use serde::Serialize;
use volary_agent::model::price::{PRICES_AS_OF, Prices};
use volary_ask::answer::Evidence;
use volary_ask::plan::AskPlan;
use volary_ask::run::{AskPhase, AskRun, AskSettings, RowView};
use volary_ask::{QuoteState, Support};
use volary_core::quantity::{large_count_text, plural};

use super::model::Target;
use super::{Item, pause_text, value_text};
use crate::output::{self, plain};

/// The maximum length of a value in a line, in characters.
const LONGEST: usize = 100;

/// An answer as a line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    episode: &'a str,
    name: &'a str,
    #[serde(flatten)]
    answer: Option<AnswerLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct AnswerLine<'a> {
    label: Option<&'a str>,
    score: Option<f64>,
    explanation: &'a str,
    support: Support,
    evidence: &'a [Evidence],
    parts: usize,
    notes: Vec<&'a str>,
    model: &'a str,
    from_cache: bool,
    cost: Option<f64>,
}

/// Prints what will be sent, and what it costs.
pub fn print_plan(plan: &AskPlan, settings: &AskSettings, masked: &str, target: &Target) {
    eprintln!(
        "Trajectories: {}. Known answers: {}. To send: {} to {}.",
        plan.rows,
        plan.cached,
        plural(plan.requests, "request"),
        plain(&target.shown())
    );
    if plan.in_parts > 0 {
        eprintln!(
            "{} longer than the context, and read in overlapping parts.",
            plan.in_parts
        );
    }
    eprintln!(
        "About {} tokens of input and {} of output.",
        large_count_text(plan.input_tokens),
        large_count_text(plan.output_tokens)
    );
    match settings.price {
        Some(price) => {
            let cost = plan.cost(&price);
            eprintln!(
                "About ${:.4}; ${:.4} if each answer is asked for twice; a second question about ${:.4} where the provider caches.",
                cost.expected, cost.most, cost.second
            );
        }
        None => eprintln!("The price of {} is not known.", plain(&settings.model)),
    }
    if !masked.is_empty() {
        eprintln!("Found in the trajectories, and masked unless --unmasked: {masked}.");
    }
}

/// Prints the costs for each model with a known price.
pub fn print_costs(plan: &AskPlan) {
    eprintln!("Costs by model, at prices of {PRICES_AS_OF}:");
    for (model, cost) in plan.costs(&Prices::default()) {
        eprintln!(
            "  {model}: ${:.4}, at most ${:.4}",
            cost.expected, cost.most
        );
    }
}

/// Prints a row: its name, its answer, and whether its quotes hold.
pub fn print_row(item: &Item, row: RowView<'_>, json: bool) -> Result<()> {
    if json {
        let answer = match row {
            RowView::Answered { record, from_cache } => Some(AnswerLine {
                label: record.answer.label.as_deref(),
                score: record.answer.score,
                explanation: &record.answer.explanation,
                support: record.answer.support,
                evidence: &record.answer.evidence,
                parts: record.answer.parts,
                notes: record.answer.notes.iter().map(|note| &**note).collect(),
                model: &record.model,
                from_cache,
                cost: record.cost,
            }),
            _ => None,
        };
        let error = match row {
            RowView::Failed(message) => Some(&**message),
            _ => None,
        };
        return output::json(&Line {
            file: &item.file,
            episode: &item.id,
            name: &item.name,
            answer,
            error,
        });
    }
    let (value, support) = value_text(row);
    let value: String = value.chars().take(LONGEST).collect();
    output::line(&format!(
        "{}: {} ({})",
        plain(&item.name),
        plain(&value),
        plain(&support)
    ))
}

/// Prints the progress after a row, if a person reads it.
pub fn print_progress(run: &AskRun) {
    let progress = run.progress();
    let done = progress.answered + progress.from_cache + progress.failed;
    let all = done + progress.waiting + progress.asking;
    if done.is_multiple_of(10) && done < all {
        eprintln!("{done} of {all}");
    }
}

/// Prints the sums, and how far the quotes hold.
pub fn print_end(run: &AskRun) {
    let progress = run.progress();
    eprintln!(
        "Answered: {}. From earlier runs: {}. Failed: {}. Not asked: {}.",
        progress.answered,
        progress.from_cache,
        progress.failed,
        progress.waiting + progress.asking
    );
    let spent = run.spent();
    match spent.cost {
        Some(cost) => eprintln!(
            "Spent ${cost:.4}, {} tokens.",
            large_count_text(spent.tokens)
        ),
        None => eprintln!("Spent {} tokens.", large_count_text(spent.tokens)),
    }
    for (model, rates) in &run.rates().models {
        let states = QuoteState::ALL.iter().zip(rates.last);
        let states: Vec<String> = states
            .map(|(state, count)| format!("{} {count}", state.as_str()))
            .collect();
        eprintln!(
            "Quotes of {}: {}. Answers asked for again: {}, unsupported: {}, unreadable: {}.",
            plain(model),
            states.join(", "),
            rates.retried,
            rates.unsupported,
            rates.unreadable
        );
    }
    if let AskPhase::Paused(pause) = run.phase() {
        eprintln!("{}", plain(&pause_text(pause)));
    }
}
