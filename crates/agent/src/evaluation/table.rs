//! Statistics of an evaluation's results, for each policy and for each task under each policy.
//!
//! Failed episodes count as failures only and are excluded from all other figures: they depend on networks and keys,
//! not on policies. Intervals have a confidence of 0.95.

use std::collections::{BTreeMap, BTreeSet};

use volary_core::json::Text;

use super::plan::Plan;
use super::reason::MainReason;
use super::result::{CellResult, FailureKind, Status};
use crate::statistics::{Estimate, mean_over_tasks, pass_all, pass_at, share_over_tasks};

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Statistics of all results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// One row per policy, in the order of the plan.
    pub policies: Vec<PolicyRow>,
    /// One row per task, in the order of the plan, with one entry per policy.
    pub tasks: Vec<Vec<TaskCell>>,
    /// The values of k for pass@k and pass^k.
    pub ks: Vec<usize>,
    /// The most common reason of failure, if any episode failed.
    pub main_reason: Option<MainReason>,
}

/// Statistics of a policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyRow {
    /// Finished episodes.
    pub finished: usize,
    /// Planned episodes.
    pub total: usize,
    pub successes: usize,
    /// The success rate, averaged over tasks.
    pub rate: Option<Estimate>,
    /// The mean reward, averaged over tasks.
    pub reward: Option<Estimate>,
    /// For each k of [`Table::ks`]: pass@k and pass^k, the means over the tasks with at least k trials.
    pub passes: Vec<(Option<f64>, Option<f64>)>,
    /// Mean number of steps per episode.
    pub steps: Option<f64>,
    /// Mean duration of an episode in seconds.
    pub seconds: Option<f64>,
    /// Tokens of all episodes, including failed ones.
    pub tokens: u64,
    /// Their cost in US dollars; `None` if any cost is unknown.
    pub cost: Option<f64>,
    /// Failures by category.
    pub failures: BTreeMap<FailureKind, usize>,
    /// The models that were asked, by name. The model of a connection may be changed during an evaluation.
    pub models: BTreeSet<Text>,
}

/// Statistics of a task under a policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskCell {
    /// The total rewards of the finished episodes.
    pub rewards: Vec<f64>,
    /// The number of successes among them.
    pub successes: usize,
    /// The number of failures.
    pub failures: usize,
}

impl TaskCell {
    /// The mean reward.
    pub fn reward(&self) -> Option<f64> {
        let count = self.rewards.len();
        (count > 0).then(|| self.rewards.iter().sum::<f64>() / count as f64)
    }
}

impl Table {
    /// Computes the table of a plan's results.
    pub fn new<'a>(
        plan: &Plan,
        results: impl IntoIterator<Item = &'a CellResult, IntoIter: Clone>,
    ) -> Self {
        let results = results.into_iter();
        let main_reason = MainReason::of(results.clone());
        let policies = plan.policies.len();
        let mut rows: Vec<Sums> = vec![Sums::default(); policies];
        let mut tasks = vec![vec![TaskCell::default(); policies]; plan.tasks.len()];
        for result in results {
            let Some(cell) = plan.cell(result.cell) else {
                continue;
            };
            let row = rows.get_mut(cell.policy);
            let slot = tasks
                .get_mut(cell.task)
                .and_then(|row| row.get_mut(cell.policy));
            if let (Some(row), Some(slot)) = (row, slot) {
                row.add(result);
                match &result.status {
                    Status::Finished { .. } => {
                        slot.rewards.push(result.reward);
                        slot.successes += usize::from(result.reward >= plan.success);
                    }
                    Status::Failed(_) => slot.failures += 1,
                }
            }
        }
        let ks = ks(plan.trials);
        let column = |policy: usize| tasks.iter().filter_map(move |row| row.get(policy));
        let policies = rows
            .into_iter()
            .enumerate()
            .map(|(policy, sums)| {
                let rewards: Vec<Vec<f64>> =
                    column(policy).map(|cell| cell.rewards.clone()).collect();
                PolicyRow {
                    total: plan.tasks.len() * plan.trials,
                    successes: column(policy).map(|cell| cell.successes).sum(),
                    rate: share_over_tasks(
                        &column(policy)
                            .map(|cell| (cell.successes, cell.rewards.len()))
                            .collect::<Vec<_>>(),
                        CONFIDENCE,
                    ),
                    reward: mean_over_tasks(&rewards, CONFIDENCE),
                    passes: ks
                        .iter()
                        .map(|k| {
                            let over = |chance: fn(usize, usize, usize) -> Option<f64>| {
                                average(column(policy).filter_map(|cell| {
                                    chance(*k, cell.successes, cell.rewards.len())
                                }))
                            };
                            (over(pass_at), over(pass_all))
                        })
                        .collect(),
                    ..sums.row()
                }
            })
            .collect();
        Table {
            policies,
            tasks,
            ks,
            main_reason,
        }
    }
}

/// The powers of two below the number of trials, and that number itself.
fn ks(trials: usize) -> Vec<usize> {
    let doubling = std::iter::successors(Some(1_usize), |k| k.checked_mul(2));
    let mut ks: Vec<usize> = doubling.take_while(|k| *k < trials).collect();
    ks.push(trials.max(1));
    ks
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| {
        (sum + value, count + 1)
    });
    (count > 0).then(|| sum / count as f64)
}

#[derive(Clone, Debug)]
struct Sums {
    finished: usize,
    steps: u64,
    seconds: f64,
    tokens: u64,
    cost: Option<f64>,
    failures: BTreeMap<FailureKind, usize>,
    models: BTreeSet<Text>,
}

impl Default for Sums {
    fn default() -> Self {
        Sums {
            finished: 0,
            steps: 0,
            seconds: 0.0,
            tokens: 0,
            cost: Some(0.0),
            failures: BTreeMap::new(),
            models: BTreeSet::new(),
        }
    }
}

impl Sums {
    fn add(&mut self, result: &CellResult) {
        let spent = &result.spent;
        if let Some(model) = &result.model {
            // Thousands of results name the same model.
            if !self.models.contains(model) {
                self.models.insert(model.clone());
            }
        }
        self.tokens = self.tokens.saturating_add(spent.tokens);
        self.cost = self.cost.zip(spent.cost).map(|(sum, more)| sum + more);
        match &result.status {
            Status::Finished { .. } => {
                self.finished += 1;
                self.steps = self.steps.saturating_add(spent.steps);
                self.seconds += spent.seconds;
            }
            Status::Failed(failure) => *self.failures.entry(failure.kind).or_default() += 1,
        }
    }

    fn row(self) -> PolicyRow {
        let each = |sum: f64| (self.finished > 0).then(|| sum / self.finished as f64);
        PolicyRow {
            finished: self.finished,
            steps: each(self.steps as f64),
            seconds: each(self.seconds),
            tokens: self.tokens,
            cost: self.cost,
            failures: self.failures,
            models: self.models,
            ..PolicyRow::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::plan::{Actor, PlannedPolicy, PlannedTask};
    use crate::evaluation::result::Failure;
    use crate::model::limits::Spent;

    fn plan(tasks: usize, trials: usize) -> Plan {
        Plan {
            tasks: vec![
                PlannedTask {
                    id: "t".into(),
                    title: "T".into(),
                    environment: "counter".into(),
                    configuration: Default::default(),
                };
                tasks
            ],
            policies: ["a", "b"]
                .map(|name| PlannedPolicy {
                    name: name.into(),
                    actor: Actor::Random,
                    max_steps: 5,
                })
                .into(),
            trials,
            success: 1.0,
            ..Plan::default()
        }
    }

    fn result(cell: usize, reward: f64, cost: Option<f64>) -> CellResult {
        CellResult {
            cell,
            status: Status::Finished {
                ending: "done".into(),
            },
            reward,
            spent: Spent {
                steps: 2,
                seconds: 0.5,
                tokens: 10,
                cost,
            },
            attempts: 1,
            model: Some("small".into()),
        }
    }

    #[test]
    fn policies_and_tasks() {
        let plan = plan(2, 4);
        // Policy a: task 0 succeeds 3 of 4 times, task 1 once in two trials and one failure.
        let at = |task, trial| plan.number(task, 0, trial);
        let failed = CellResult::failed(
            at(1, 2),
            Failure {
                kind: FailureKind::Network,
                message: "".into(),
            },
            0.0,
            Spent {
                tokens: 7,
                cost: None,
                ..Spent::default()
            },
            1,
        );
        let results = [
            result(at(0, 0), 1.0, Some(0.25)),
            result(at(0, 1), 1.0, Some(0.25)),
            result(at(0, 2), 1.0, Some(0.25)),
            result(at(0, 3), 0.0, Some(0.25)),
            result(at(1, 0), 0.0, Some(0.0)),
            result(at(1, 1), 2.0, Some(0.0)),
            failed,
            result(9999, 5.0, None),
        ];
        let table = Table::new(&plan, &results);
        assert_eq!(table.ks, [1, 2, 4]);
        assert_eq!(table.main_reason.map(|main| main.failures), Some(1));
        let [a, b] = table.policies.as_slice() else {
            panic!("two policies");
        };
        assert_eq!((a.finished, a.total, a.successes), (6, 8, 4));
        assert_eq!(a.reward.map(|reward| reward.mean), Some((0.75 + 1.0) / 2.0));
        assert_eq!(a.rate.map(|rate| rate.mean), Some(0.625));
        assert!(a.models.iter().map(|model| &**model).eq(["small"]));
        // pass@1: (3/4 + 1/2) / 2; only task 0 has four trials.
        assert_eq!(a.passes[0], (Some(0.625), Some(0.625)));
        assert_eq!(a.passes[1], (Some(1.0), Some((0.5 + 0.0) / 2.0)));
        assert_eq!(a.passes[2], (Some(1.0), Some(0.0)));
        assert_eq!((a.steps, a.seconds, a.tokens), (Some(2.0), Some(0.5), 67));
        assert_eq!(a.cost, None);
        assert_eq!(a.failures.get(&FailureKind::Network), Some(&1));
        assert_eq!((b.finished, b.reward, b.cost), (0, None, Some(0.0)));
        assert_eq!(table.tasks[1][0].rewards, [0.0, 2.0]);
        assert_eq!(table.tasks[1][0].failures, 1);
        assert_eq!(table.tasks[0][1].reward(), None);
    }

    #[test]
    fn the_numbers_of_tries() {
        for (trials, expected) in [
            (0, vec![1]),
            (1, vec![1]),
            (3, vec![1, 2, 3]),
            (8, vec![1, 2, 4, 8]),
        ] {
            assert_eq!(ks(trials), expected);
        }
    }
}
