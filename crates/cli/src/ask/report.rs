//! What is printed: the plan and the end to standard error, the answers to standard output.

use anyhow::Result;
use serde::Serialize;
use volary_agent::model::price::{PRICES_AS_OF, Prices};
use volary_ask::answer::Evidence;
use volary_ask::calibration::Calibration;
use volary_ask::plan::AskPlan;
use volary_ask::run::{AskPhase, AskRun, AskSettings, RowView};
use volary_ask::{QuoteState, Support};
use volary_core::quantity::{large_count_text, plural};

use super::model::Target;
use super::synthesis::Findings;
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

/// The agreement of a person and the model, as a line of JSON.
#[derive(Serialize)]
struct CalibrationLine<'a> {
    calibration: CalibrationBody<'a>,
}

#[derive(Serialize)]
struct CalibrationBody<'a> {
    /// The number of trajectories that a person labelled, and of those that both labelled.
    labelled: usize,
    both: usize,
    /// The share of those that both labelled on which they agree, the one expected by chance, and Cohen's kappa. `null` where
    /// it is not defined.
    agreement: Option<f64>,
    expected: Option<f64>,
    kappa: Option<f64>,
    differing: Vec<DifferingLine<'a>>,
}

#[derive(Serialize)]
struct DifferingLine<'a> {
    file: &'a str,
    episode: &'a str,
    name: &'a str,
    person: &'a str,
    model: &'a str,
}

/// Prints how far the model agrees with a person.
pub fn print_calibration(
    calibration: &Calibration,
    labelled: usize,
    items: &[Item],
    json: bool,
) -> Result<()> {
    let agreement = &calibration.agreement;
    let differing = calibration.differing.iter();
    let differing = differing.filter_map(|(row, person, model)| {
        let item = items.get(*row)?;
        Some(DifferingLine {
            file: &item.file,
            episode: &item.id,
            name: &item.name,
            person,
            model,
        })
    });
    if json {
        return output::json(&CalibrationLine {
            calibration: CalibrationBody {
                labelled,
                both: agreement.items,
                agreement: agreement.observed,
                expected: agreement.expected,
                kappa: agreement.kappa,
                differing: differing.collect(),
            },
        });
    }
    let number =
        |value: Option<f64>| value.map_or("not defined".to_owned(), |value| format!("{value:.2}"));
    let mut text = format!(
        "\nAgreement on {} of {labelled} labelled: {}, Cohen's kappa {}.",
        agreement.items,
        number(agreement.observed),
        number(agreement.kappa)
    );
    for line in differing {
        text.push_str(&format!(
            "\n  {}: you {}, the model {}",
            plain(line.name),
            plain(line.person),
            plain(line.model)
        ));
    }
    output::line(&text)
}

/// The findings, as a line of JSON.
#[derive(Serialize)]
struct FindingsLine<'a> {
    findings: Vec<ClaimLine<'a>>,
    /// The answers that are cited, by their number.
    answers: Vec<CitedLine<'a>>,
    /// The number of answers for which there was no room in the request.
    left_out: usize,
    cost: Option<f64>,
}

#[derive(Serialize)]
struct ClaimLine<'a> {
    claim: &'a str,
    answers: &'a [usize],
    /// Cited numbers of which there is no answer.
    missing: &'a [usize],
    /// The cited answers whose own quotes do not hold.
    unsupported: Vec<usize>,
    /// Whether it cites answers, all of which exist and hold.
    holds: bool,
}

#[derive(Serialize)]
struct CitedLine<'a> {
    number: usize,
    file: &'a str,
    episode: &'a str,
    name: &'a str,
}

/// Prints findings with the check of their citations.
pub fn print_findings(findings: &Findings, run: &AskRun, items: &[Item], json: bool) -> Result<()> {
    let item = |number: &usize| items.get(*findings.cited.get(number.checked_sub(1)?)?);
    let support = |number: &usize| {
        let row = *findings.cited.get(number.checked_sub(1)?)?;
        match run.row(row)? {
            RowView::Answered { record, .. } => Some(record.answer.support),
            _ => None,
        }
    };
    let claims = findings.claims.iter().map(|claim| {
        let failed = |number: &&usize| !support(number).is_some_and(Support::holds);
        let unsupported: Vec<usize> = claim.answers.iter().filter(failed).copied().collect();
        ClaimLine {
            claim: &claim.text,
            answers: &claim.answers,
            missing: &claim.missing,
            holds: claim.is_supported() && unsupported.is_empty(),
            unsupported,
        }
    });
    let claims: Vec<ClaimLine<'_>> = claims.collect();
    let mut cited: Vec<usize> = claims
        .iter()
        .flat_map(|claim| claim.answers.iter().copied())
        .collect();
    cited.sort_unstable();
    cited.dedup();
    let cited = cited.into_iter().filter_map(|number| {
        let item = item(&number)?;
        Some(CitedLine {
            number,
            file: &item.file,
            episode: &item.id,
            name: &item.name,
        })
    });
    if json {
        return output::json(&FindingsLine {
            findings: claims,
            answers: cited.collect(),
            left_out: findings.left_out,
            cost: findings.cost,
        });
    }
    let mut text = "\nFindings\n".to_owned();
    for claim in &claims {
        text.push_str(&format!("- {}\n", plain(claim.claim)));
        let numbers = |numbers: &[usize]| {
            let numbers = numbers.iter().map(|number| format!("A{number}"));
            numbers.collect::<Vec<_>>().join(", ")
        };
        if claim.answers.is_empty() && claim.missing.is_empty() {
            text.push_str("  (cites no answer)\n");
        }
        if !claim.missing.is_empty() {
            text.push_str(&format!("  (no such answer: {})\n", numbers(claim.missing)));
        }
        if !claim.unsupported.is_empty() {
            text.push_str(&format!(
                "  (quotes do not hold: {})\n",
                numbers(&claim.unsupported)
            ));
        }
    }
    if claims.is_empty() {
        text.push_str("The model wrote no list of claims.\n");
    }
    text.push('\n');
    for line in cited {
        text.push_str(&format!(
            "[A{}] {} ({})\n",
            line.number,
            plain(line.name),
            plain(line.file)
        ));
    }
    if findings.left_out > 0 {
        text.push_str(&format!(
            "{} had no room in the request.\n",
            plural(findings.left_out, "answer")
        ));
    }
    output::line(text.trim_end())
}
