//! Summaries of policies, for the list of evaluations and for the cost estimate of the next evaluation.
//!
//! A summary is stored with the head of its evaluation, so that the list needs no results. It is stale if it counts
//! another number of episodes than the head ([`has_summary`]).

use serde::{Deserialize, Serialize};
use volary_agent::evaluation::{CellResult, Plan, Table};
use volary_analysis::statistics::Estimate;
use volary_core::json::Text;

use super::{Head, Kept};

/// The results of one policy in an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySummary {
    pub name: Text,
    /// The models that were called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<Text>,
    /// The number of finished episodes.
    pub finished: usize,
    /// The number of failed episodes.
    pub failed: usize,
    /// The share of successes.
    #[serde(default)]
    pub rate: Option<Interval>,
    /// The tokens of all episodes, failed ones included.
    #[serde(default)]
    pub tokens: u64,
}

/// A mean with its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub mean: f64,
    /// The lower end; `None` if there are too few samples.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Interval {
            mean: estimate.mean,
            low: estimate.low,
            high: estimate.high,
        }
    }
}

/// Whether the summary counts the same episodes as the head.
pub fn has_summary(head: &Head) -> bool {
    let policies = head.policies.iter();
    let counted: usize = policies.map(|policy| policy.finished + policy.failed).sum();
    !head.policies.is_empty() && counted == head.finished + head.failed
}

/// Replaces the summary by one computed from the results.
pub fn summarize<'a>(
    head: &mut Head,
    plan: &Plan,
    results: impl IntoIterator<Item = &'a CellResult, IntoIter: Clone>,
) {
    let table = Table::new(plan, results);
    let rows = table.policies.into_iter().zip(&plan.policies);
    head.policies = rows
        .map(|(row, policy)| PolicySummary {
            name: policy.name.clone(),
            models: row.models.into_iter().collect(),
            finished: row.finished,
            failed: row.failures.values().sum(),
            rate: row.rate.map(Interval::from),
            tokens: row.tokens,
        })
        .collect();
    head.source = source(plan);
}

/// The head with counts and summary computed from the results.
pub fn summarized_head(kept: &Kept) -> Head {
    let mut head = kept.head.clone();
    summarize(&mut head, &kept.plan, &kept.results);
    head.finished = head.policies.iter().map(|policy| policy.finished).sum();
    head.failed = head.policies.iter().map(|policy| policy.failed).sum();
    head
}

/// The source of a plan's tasks: a dataset or an environment. Tasks of the same source have similar costs.
pub fn source(plan: &Plan) -> Option<Text> {
    let first = plan.tasks.first().map(|task| &task.environment);
    plan.dataset.as_ref().or(first).cloned()
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::{Actor, FailureKind};

    use super::super::tests::{failed, finished, head, plan};
    use super::*;

    #[test]
    fn a_summary_counts_the_episodes_of_its_head() {
        let plan = plan(3, &Actor::Random);
        let mut head = Head {
            finished: 2,
            failed: 1,
            ..head()
        };
        assert!(!has_summary(&head));
        let asked = CellResult {
            model: Some("small".into()),
            ..finished(0)
        };
        let results = [asked, finished(1), failed(2, FailureKind::Network)];
        summarize(&mut head, &plan, &results);
        assert!(has_summary(&head));
        let [policy] = head.policies.as_slice() else {
            panic!("one policy: {:?}", head.policies);
        };
        assert_eq!((policy.finished, policy.failed), (2, 1));
        assert_eq!(policy.models, ["small".into()]);
        assert_eq!(policy.rate.map(|rate| rate.mean), Some(1.0));
        assert_eq!(head.source.as_deref(), Some("dummy"));
        head.finished = 3;
        assert!(!has_summary(&head));
    }
}
