//! Budgets of steps, time, tokens and money, and the amounts spent.

use super::Usage;

/// Upper limits. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Steps of an episode.
    pub steps: Option<u64>,
    /// Seconds on the clock.
    pub seconds: Option<f64>,
    /// Tokens of requests and answers.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
}

/// The amounts spent so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    pub steps: u64,
    /// Seconds on the clock. A clock that jumps back adds nothing.
    pub seconds: f64,
    /// Tokens of requests and answers.
    pub tokens: u64,
    /// US dollars; `None` as soon as any price is unknown.
    pub cost: Option<f64>,
}

impl Default for Spent {
    fn default() -> Self {
        Spent {
            steps: 0,
            seconds: 0.0,
            tokens: 0,
            cost: Some(0.0),
        }
    }
}

impl Spent {
    /// Adds an answer, whose cost may be unknown.
    pub fn add_answer(&mut self, usage: Option<&Usage>, cost: Option<f64>) {
        if let Some(usage) = usage {
            let tokens = usage.prompt.saturating_add(usage.completion);
            self.tokens = self.tokens.saturating_add(tokens);
        }
        self.cost = self.cost.zip(cost).map(|(known, more)| known + more);
    }

    /// Adds time, in seconds.
    pub fn add_seconds(&mut self, seconds: f64) {
        self.seconds += seconds.max(0.0);
    }

    /// Adds other amounts.
    pub fn add(&mut self, other: &Spent) {
        self.steps = self.steps.saturating_add(other.steps);
        self.seconds += other.seconds;
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost = self.cost.zip(other.cost).map(|(known, more)| known + more);
    }
}

/// The limit that was reached, worded for an episode's ending.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Exhausted {
    #[error("The limit of {limit} steps was reached.")]
    Steps { limit: u64 },
    /// Time.
    #[error("The time limit of {limit} s was reached.")]
    Seconds { limit: f64 },
    #[error("The limit of {limit} tokens was reached ({spent} used).")]
    Tokens {
        limit: u64,
        /// The tokens used; the answer that reaches the limit may exceed it.
        spent: u64,
    },
    /// Money.
    #[error("The limit of ${limit} was reached (${spent:.4} spent).")]
    Cost {
        limit: f64,
        /// The amount spent.
        spent: f64,
    },
    /// A cost limit with an unknown price.
    #[error(
        "The limit of ${limit} cannot be enforced, because the price of the model is unknown. \
         Enter its price in the settings or remove the limit."
    )]
    CostUnknown { limit: f64 },
}

impl Budget {
    /// The limit that was reached, if any. Check it before each request.
    pub fn exhausted(&self, spent: &Spent) -> Option<Exhausted> {
        if let Some(limit) = self.steps.filter(|limit| spent.steps >= *limit) {
            return Some(Exhausted::Steps { limit });
        }
        if let Some(limit) = self.seconds.filter(|limit| spent.seconds >= *limit) {
            return Some(Exhausted::Seconds { limit });
        }
        if let Some(limit) = self.tokens.filter(|limit| spent.tokens >= *limit) {
            let spent = spent.tokens;
            return Some(Exhausted::Tokens { limit, spent });
        }
        let limit = self.cost?;
        match spent.cost {
            None => Some(Exhausted::CostUnknown { limit }),
            Some(spent) if spent >= limit => Some(Exhausted::Cost { limit, spent }),
            Some(_) => None,
        }
    }

    /// The remaining seconds, for a timer.
    pub fn seconds_left(&self, spent: &Spent) -> Option<f64> {
        self.seconds.map(|limit| (limit - spent.seconds).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_holds() {
        let budget = Budget {
            steps: Some(3),
            seconds: Some(10.0),
            tokens: Some(100),
            cost: Some(0.5),
        };
        let spent = Spent::default();
        assert_eq!(budget.exhausted(&spent), None);
        assert_eq!(
            Budget::default().exhausted(&Spent {
                cost: None,
                ..spent
            }),
            None
        );
        for (spent, message) in [
            (
                Spent { steps: 3, ..spent },
                "The limit of 3 steps was reached.",
            ),
            (
                Spent {
                    seconds: 10.0,
                    ..spent
                },
                "The time limit of 10 s was reached.",
            ),
            (
                Spent {
                    tokens: 130,
                    ..spent
                },
                "The limit of 100 tokens was reached (130 used).",
            ),
            (
                Spent {
                    cost: Some(0.51),
                    ..spent
                },
                "The limit of $0.5 was reached ($0.5100 spent).",
            ),
        ] {
            assert_eq!(
                budget
                    .exhausted(&spent)
                    .map(|end| end.to_string())
                    .as_deref(),
                Some(message)
            );
        }
        let unknown = Spent {
            cost: None,
            ..spent
        };
        assert_eq!(
            budget.exhausted(&unknown),
            Some(Exhausted::CostUnknown { limit: 0.5 })
        );
    }

    #[test]
    fn unknown_costs_stay_unknown_and_clocks_may_jump() {
        let mut spent = Spent::default();
        let usage = Usage {
            prompt: 10,
            completion: 5,
            ..Usage::default()
        };
        spent.add_answer(Some(&usage), Some(0.25));
        spent.add_seconds(2.0);
        spent.add_seconds(-3600.0);
        assert_eq!(
            (spent.tokens, spent.cost, spent.seconds),
            (15, Some(0.25), 2.0)
        );
        spent.add_answer(None, None);
        spent.add_answer(Some(&usage), Some(1.0));
        assert_eq!((spent.tokens, spent.cost), (30, None));
        let mut sum = Spent::default();
        sum.add(&spent);
        assert_eq!(sum, spent);
    }
}
