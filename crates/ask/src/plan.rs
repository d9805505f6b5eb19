//! What a question will send and cost, before anything is sent.
//!
//! Tokens are estimates (see [`estimated_tokens`](crate::render::estimated_tokens)); the run itself counts what providers
//! report.

use volary_agent::model::Usage;
use volary_agent::model::price::{Price, Prices};
use volary_core::json::Text;

use crate::parts::SMALLEST_PART;
use crate::prompt::INSTRUCTIONS;
use crate::question::Question;
use crate::render::estimated_tokens;

/// The tokens of an answer in the estimate: some 80 words and a few quotes.
pub const TYPICAL_ANSWER: u64 = 250;
/// The tokens of the texts around a question.
const AROUND: u64 = 160;

/// A trajectory, as far as the plan needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSize {
    /// The estimated tokens of its text.
    pub tokens: u64,
    /// Whether its answer is in the cache.
    pub is_cached: bool,
}

/// What will be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskPlan {
    pub rows: usize,
    /// Rows whose answers are in the cache: they cost nothing.
    pub cached: usize,
    /// Rows that are longer than the context, and read in parts.
    pub in_parts: usize,
    pub requests: usize,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The input tokens that are the same for each question, which providers with a prefix cache charge less for the second
    /// question.
    pub shared_tokens: u64,
}

/// The estimated costs of a plan, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskCost {
    pub expected: f64,
    /// If each answer is asked for twice, because its quotes fail.
    pub most: f64,
    /// A second question about the same rows soon afterwards, if the provider's cache still has them.
    pub second: f64,
}

impl AskPlan {
    /// Plans a question about rows, with at most `context` tokens in a request.
    pub fn of(rows: &[RowSize], question: &Question, context: u64) -> AskPlan {
        let fixed = estimated_tokens(INSTRUCTIONS)
            + estimated_tokens(&question.text)
            + estimated_tokens(&question.answer.schema().to_compact_text())
            + AROUND;
        let room = room(context, question);
        let mut plan = AskPlan {
            rows: rows.len(),
            ..AskPlan::default()
        };
        for row in rows {
            if row.is_cached {
                plan.cached += 1;
                continue;
            }
            let (parts, tokens) = if row.tokens <= room {
                (1, row.tokens)
            } else {
                plan.in_parts += 1;
                // A tenth of each part is repeated.
                let parts = (row.tokens * 10).div_ceil(room * 9).max(2);
                (parts, row.tokens + (parts - 1) * room / 10)
            };
            plan.requests += usize::try_from(parts).unwrap_or(usize::MAX);
            plan.input_tokens += tokens + parts * fixed;
            plan.shared_tokens += tokens + parts * estimated_tokens(INSTRUCTIONS);
            plan.output_tokens += parts * TYPICAL_ANSWER;
        }
        plan
    }

    /// The costs at a price.
    pub fn cost(&self, price: &Price) -> AskCost {
        let usage = |cached: u64, times: u64| Usage {
            prompt: self.input_tokens * times,
            cached,
            completion: self.output_tokens * times,
            ..Usage::default()
        };
        AskCost {
            expected: price.cost(&usage(0, 1)),
            most: price.cost(&usage(0, 2)),
            second: price.cost(&usage(self.shared_tokens, 1)),
        }
    }

    /// The costs for each model of a table of prices, the cheapest first.
    pub fn costs(&self, prices: &Prices) -> Vec<(Text, AskCost)> {
        let rows = prices.rows().iter();
        let mut costs: Vec<(Text, AskCost)> = rows
            .map(|(model, price)| (model.clone(), self.cost(price)))
            .collect();
        costs.sort_by(|one, other| one.1.expected.total_cmp(&other.1.expected));
        costs
    }
}

/// The tokens that remain for the trajectory in a request.
pub fn room(context: u64, question: &Question) -> u64 {
    let fixed = estimated_tokens(INSTRUCTIONS)
        + estimated_tokens(&question.text)
        + estimated_tokens(&question.answer.schema().to_compact_text())
        + AROUND;
    // Estimates may be a fifth too low.
    (context * 4 / 5).saturating_sub(fixed).max(SMALLEST_PART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::AnswerType;

    #[test]
    fn a_plan_counts_what_is_not_cached() {
        let question = Question {
            text: "Did it work?".into(),
            answer: AnswerType::YesNo,
        };
        let row = |tokens, is_cached| RowSize { tokens, is_cached };
        let rows = [row(20_000, false), row(20_000, true), row(500_000, false)];
        let plan = AskPlan::of(&rows, &question, 100_000);
        assert_eq!((plan.rows, plan.cached, plan.in_parts), (3, 1, 1));
        assert_eq!(plan.requests, 1 + 7);
        assert!((550_000..600_000).contains(&plan.input_tokens), "{plan:?}");
        let price = Prices::default().of("gpt-6-luna").unwrap();
        let cost = plan.cost(&price);
        assert!((0.055..0.062).contains(&cost.expected), "{cost:?}");
        assert!(cost.second < cost.expected / 5.0 && cost.most == cost.expected * 2.0);
        assert!(
            plan.costs(&Prices::default())
                .is_sorted_by(|a, b| a.1.expected <= b.1.expected)
        );
        assert_eq!(AskPlan::of(&[], &question, 0), AskPlan::default());
    }
}
