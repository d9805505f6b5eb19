//! What a plan will send and cost, and what a run has done and spent, in words.

use volary_agent::model::limits::Spent;
use volary_agent::model::price::Prices;
use volary_app::ask::{AskPlanned, RunShown};
use volary_ask::QuoteState;
use volary_ask::plan::{AskCost, AskPlan};
use volary_ask::rates::ModelRates;
use volary_ask::run::AskPhase;
use volary_core::json::Text;
use volary_core::quantity::{count_text, large_count_text, large_plural, plural};

use crate::asking::cost_text;

/// A line of a plan: what it is about, and the figures.
pub type PlanLine = (&'static str, String);

/// What will be sent, line by line.
pub fn plan_lines(planned: &AskPlanned) -> Vec<PlanLine> {
    let AskPlan {
        rows,
        cached,
        in_parts,
        requests,
        input_tokens,
        output_tokens,
        ..
    } = planned.plan;
    let mut trajectories = count_text(rows);
    if in_parts > 0 {
        trajectories.push_str(&format!(
            ", {} of them in overlapping parts",
            count_text(in_parts)
        ));
    }
    let missing = planned.texts.missing.len();
    if missing > 0 {
        trajectories.push_str(&format!(", {} cannot be read", count_text(missing)));
    }
    let cut: u64 = planned.texts.texts.iter().map(|text| text.cut).sum();
    let mut lines = vec![
        ("Trajectories", trajectories),
        ("Known answers", count_text(cached)),
        (
            "Requests",
            format!("{} to {}", count_text(requests), planned.setup.model),
        ),
        (
            "Tokens",
            format!(
                "about {} of input, {} of output",
                large_count_text(input_tokens),
                large_count_text(output_tokens)
            ),
        ),
    ];
    if cut > 0 {
        lines.push((
            "Cut",
            format!("{} characters of long outputs", large_count_text(cut)),
        ));
    }
    let masked = match (planned.setup.options.mask, &*planned.texts.masked) {
        (false, _) => "nothing: it is switched off".to_owned(),
        (true, "") => "nothing was found".to_owned(),
        (true, found) => found.to_owned(),
    };
    lines.push(("Masked", masked));
    if !planned.setup.options.outcome {
        lines.push(("Left out", "endings, rewards and scores".to_owned()));
    }
    lines
}

/// The estimated cost of a plan for its model, in words; `None` if the price is unknown.
pub fn plan_cost(planned: &AskPlanned) -> Option<AskCost> {
    let price = planned.facts.price?;
    Some(planned.plan.cost(&price))
}

/// The text of an estimated cost.
pub fn expected_text(cost: &AskCost) -> String {
    format!("about {}", cost_text(cost.expected))
}

/// The details of an estimated cost.
pub fn cost_details(cost: &AskCost) -> String {
    format!(
        "{} if each answer is asked for twice; a second question about {} where the provider caches.",
        cost_text(cost.most),
        cost_text(cost.second)
    )
}

/// A row of the table of costs: the model, the expected cost, and that of a second question.
pub type CostRow = (Text, String, String);

/// The costs by model, the cheapest first.
pub fn cost_rows(plan: &AskPlan, prices: &Prices) -> Vec<CostRow> {
    let costs = plan.costs(prices).into_iter();
    costs
        .map(|(model, cost)| (model, cost_text(cost.expected), cost_text(cost.second)))
        .collect()
}

/// What was spent, in words.
pub fn spent_text(spent: &Spent) -> String {
    let cost = spent
        .cost
        .map_or_else(|| "cost unknown".to_owned(), cost_text);
    format!("{}, {cost}", large_plural(spent.tokens, "token"))
}

/// What a run is doing.
pub fn status_text(shown: &RunShown) -> String {
    let progress = shown.progress;
    let done = progress.answered + progress.from_cache;
    let total = done + progress.waiting + progress.asking + progress.failed;
    let phase = match shown.phase {
        AskPhase::Running => "Asking",
        AskPhase::Paused(_) => "Paused",
        AskPhase::Done => "Done",
    };
    let mut text = format!(
        "{phase}: {} of {}",
        count_text(done),
        plural(total, "trajectory")
    );
    if progress.from_cache > 0 {
        text.push_str(&format!(
            ", {} known before",
            count_text(progress.from_cache)
        ));
    }
    if progress.failed > 0 {
        text.push_str(&format!(", {} failed", count_text(progress.failed)));
    }
    text.push_str(&format!(", {}", spent_text(&shown.spent)));
    text
}

/// The share of each state among the quotes of a model, in words; `None` without quotes.
pub fn rates_text(rates: &ModelRates) -> Option<String> {
    let shares = rates.shares()?;
    let states = QuoteState::ALL.iter().zip(shares).zip(rates.last);
    let states = states.map(|((state, share), count)| {
        format!("{} {} ({:.0} %)", state.as_str(), count, share * 100.0)
    });
    Some(states.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use volary_app::ask::AskScope;
    use volary_ask::run::AskProgress;

    use super::*;

    #[test]
    fn a_run_says_what_is_done_and_spent() {
        let shown = RunShown {
            id: "a".into(),
            scope: AskScope::All,
            phase: AskPhase::Running,
            progress: AskProgress {
                waiting: 150,
                asking: 4,
                answered: 40,
                from_cache: 5,
                failed: 1,
            },
            spent: Spent {
                tokens: 81_000,
                cost: Some(0.09),
                ..Spent::default()
            },
            failure: None,
        };
        assert_eq!(
            status_text(&shown),
            "Asking: 45 of 200 trajectories, 5 known before, 1 failed, 81,000 tokens, $0.0900"
        );
    }

    #[test]
    fn rates_are_counts_and_shares() {
        let rates = ModelRates {
            last: [6, 2, 1, 1],
            ..ModelRates::default()
        };
        assert_eq!(
            rates_text(&rates).as_deref(),
            Some("exact 6 (60 %), close 2 (20 %), elsewhere 1 (10 %), not found 1 (10 %)")
        );
        assert_eq!(rates_text(&ModelRates::default()), None);
    }
}
