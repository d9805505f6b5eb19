//! Estimates the cost of an evaluation before it starts.
//!
//! If earlier evaluations of the same source called models, their tokens per episode are used. Otherwise the estimate
//! is a range: from one short exchange per episode to the maximum number of steps, where each request repeats all
//! earlier messages.

use volary_agent::model::Usage;

use super::Head;

/// Assumed tokens of the first request: instructions, tools and the task.
const FIRST_REQUEST: u64 = 800;
/// Assumed tokens that each step adds to the following requests.
const GROWTH: u64 = 300;
/// Assumed tokens of a completion.
const ANSWER: u64 = 150;
/// Assumed share of completions among measured tokens: one part in `ANSWER_SHARE`.
const ANSWER_SHARE: u64 = 10;

/// The estimated tokens and cost of some episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The lower end of the tokens.
    pub low: u64,
    /// The upper end of the tokens, equal to the lower end if it was measured.
    pub high: u64,
    /// Both ends in US dollars; `None` if a price is unknown.
    pub cost: Option<(f64, f64)>,
    /// Whether the estimate is based entirely on earlier episodes.
    pub is_measured: bool,
}

/// The tokens per episode that models used in earlier evaluations of a source.
pub fn measured(heads: &[Head], source: &str) -> Option<u64> {
    let same = heads
        .iter()
        .filter(|head| head.source.as_deref() == Some(source));
    let policies = same.flat_map(|head| &head.policies);
    let (tokens, episodes) = policies
        .filter(|policy| policy.tokens > 0 && policy.finished > 0)
        .fold((0_u64, 0_u64), |(tokens, episodes), policy| {
            let count = (policy.finished + policy.failed) as u64;
            (tokens.saturating_add(policy.tokens), episodes + count)
        });
    (episodes > 0).then(|| tokens / episodes)
}

impl Forecast {
    /// Estimates episodes of a model with at most `steps` steps each, or with the measured number of tokens each.
    pub fn of(
        episodes: usize,
        steps: usize,
        measured: Option<u64>,
        price: impl Fn(&Usage) -> Option<f64>,
    ) -> Self {
        let (low, high) = match measured {
            Some(tokens) => (split(tokens), split(tokens)),
            None => (requests(1), requests(steps.max(1) as u64)),
        };
        let episodes = episodes as u64;
        let all = |(prompt, completion): (u64, u64)| Usage {
            prompt: prompt.saturating_mul(episodes),
            completion: completion.saturating_mul(episodes),
            ..Usage::default()
        };
        let (low, high) = (all(low), all(high));
        let tokens = |usage: &Usage| usage.prompt.saturating_add(usage.completion);
        Forecast {
            low: tokens(&low),
            high: tokens(&high),
            cost: price(&low).zip(price(&high)),
            is_measured: measured.is_some(),
        }
    }

    /// Adds forecasts; `None` if there are none.
    pub fn sum(all: impl IntoIterator<Item = Forecast>) -> Option<Forecast> {
        all.into_iter().reduce(|one, other| Forecast {
            low: one.low.saturating_add(other.low),
            high: one.high.saturating_add(other.high),
            cost: one
                .cost
                .zip(other.cost)
                .map(|(one, other)| (one.0 + other.0, one.1 + other.1)),
            is_measured: one.is_measured && other.is_measured,
        })
    }
}

/// Splits the tokens of an episode into those of requests and those of completions.
fn split(tokens: u64) -> (u64, u64) {
    let completion = tokens / ANSWER_SHARE;
    (tokens - completion, completion)
}

/// Tokens of all requests and of all completions of an episode with `steps` steps.
fn requests(steps: u64) -> (u64, u64) {
    let pairs = u128::from(steps) * u128::from(steps - 1) / 2;
    let growth = u64::try_from(pairs)
        .unwrap_or(u64::MAX)
        .saturating_mul(GROWTH);
    let first = steps.saturating_mul(FIRST_REQUEST);
    (first.saturating_add(growth), steps.saturating_mul(ANSWER))
}

#[cfg(test)]
mod tests {
    use super::super::summary::PolicySummary;
    use super::super::tests::head;
    use super::*;

    fn dollar(usage: &Usage) -> Option<f64> {
        Some(usage.prompt as f64 * 1e-6 + usage.completion as f64 * 1e-5)
    }

    #[test]
    fn unmeasured_costs_are_a_range() {
        let found = Forecast::of(10, 3, None, dollar);
        assert_eq!(found.low, 10 * (800 + 150));
        assert_eq!(found.high, 10 * (3 * 800 + 3 * 300 + 3 * 150));
        assert!(!found.is_measured);
        let (low, high) = found.cost.unwrap();
        assert!(0.0 < low && low < high);
        assert_eq!(Forecast::of(1, 1, None, |_| None).cost, None);
        assert!(Forecast::of(usize::MAX, usize::MAX, None, dollar).high == u64::MAX);
    }

    #[test]
    fn earlier_episodes_of_the_same_source_are_the_measure() {
        let policy = |tokens, finished, failed| PolicySummary {
            name: "Model".into(),
            models: Vec::new(),
            finished,
            failed,
            rate: None,
            tokens,
        };
        let mut one = head();
        one.source = Some("gsm8k".into());
        one.policies = vec![policy(3_000, 2, 1), policy(0, 3, 0)];
        let mut other = one.clone();
        other.source = Some("dummy".into());
        other.policies = vec![policy(9, 1, 0)];
        let heads = [one, other, head()];
        assert_eq!(measured(&heads, "gsm8k"), Some(1_000));
        assert_eq!(measured(&heads, "nowhere"), None);
        let found = Forecast::of(5, 100, Some(1_000), dollar);
        assert_eq!(
            (found.low, found.high, found.is_measured),
            (5_000, 5_000, true)
        );
        let both = Forecast::sum([found, Forecast::of(1, 1, None, |_| None)]).unwrap();
        assert_eq!(
            (both.low, both.cost, both.is_measured),
            (5_950, None, false)
        );
        assert_eq!(Forecast::sum([]), None);
    }
}
