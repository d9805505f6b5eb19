//! Compares two policies on the same tasks: the paired difference, with its interval and a sign test.
//!
//! A pair is a task that both sides finished at least once. Tasks match if dataset, id, environment and configuration
//! are equal; where each seed is a task, base seed and task number must be equal instead. Trials of one task are
//! averaged first, so each task counts once.

use std::collections::BTreeMap;

use volary_agent::evaluation::table::CONFIDENCE;
use volary_agent::evaluation::{CellResult, Plan, PlannedTask, Table};
use volary_analysis::statistics::Paired;
use volary_core::json::{Json, Text};

/// The compared quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComparedMeasure {
    /// The mean reward.
    #[default]
    Reward,
    /// The share of successes.
    Success,
}

/// One side: a policy of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What was evaluated: tasks, policies and trials.
    pub plan: &'a Plan,
    /// The results of its finished cells.
    pub results: &'a [CellResult],
    /// The index of the policy in the plan.
    pub policy: usize,
}

/// A task that both sides finished.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPair {
    /// The title of the task.
    pub title: Text,
    /// The value of the first side, averaged over trials.
    pub first: f64,
    /// The value of the second side, averaged over trials.
    pub second: f64,
    /// The cells of the first finished trials, which the user can open.
    pub cells: (usize, usize),
}

impl TaskPair {
    /// The second value minus the first.
    pub fn difference(&self) -> f64 {
        self.second - self.first
    }
}

/// The comparison of two sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The pairs, by decreasing absolute difference.
    pub pairs: Vec<TaskPair>,
    /// The number of tasks of either side without a pair.
    pub unpaired: usize,
    /// The paired statistics, second side relative to the first; `None` without pairs.
    pub paired: Option<Paired>,
}

impl Comparison {
    /// Compares two sides.
    pub fn new(first: Side<'_>, second: Side<'_>, measure: ComparedMeasure) -> Self {
        let mut left = reached(first, measure);
        let right = reached(second, measure);
        let tried = left.len() + right.len();
        let mut pairs: Vec<TaskPair> = right
            .into_iter()
            .filter_map(|(key, (title, second, cell))| {
                let (_, first, other) = left.remove(&key)?;
                Some(TaskPair {
                    title,
                    first,
                    second,
                    cells: (other, cell),
                })
            })
            .collect();
        pairs.sort_by(|one, other| {
            let size = other.difference().abs().total_cmp(&one.difference().abs());
            size.then_with(|| one.title.cmp(&other.title))
        });
        let values: Vec<(f64, f64)> = pairs.iter().map(|pair| (pair.second, pair.first)).collect();
        Comparison {
            unpaired: tried - 2 * pairs.len(),
            paired: Paired::of(&values, CONFIDENCE),
            pairs,
        }
    }

    /// The mean of each side over the pairs.
    pub fn means(&self) -> Option<(f64, f64)> {
        let count = self.pairs.len() as f64;
        let sum = |value: fn(&TaskPair) -> f64| self.pairs.iter().map(value).sum::<f64>();
        (count > 0.0).then(|| {
            (
                sum(|pair| pair.first) / count,
                sum(|pair| pair.second) / count,
            )
        })
    }
}

/// The values of a side, keyed by task: its title, the value, and the first finished cell.
fn reached(side: Side<'_>, measure: ComparedMeasure) -> BTreeMap<String, (Text, f64, usize)> {
    let table = Table::new(side.plan, side.results);
    let mut firsts = BTreeMap::new();
    let finished = side.results.iter().filter(|result| result.is_finished());
    for cell in finished.filter_map(|result| side.plan.cell(result.cell)) {
        if cell.policy == side.policy {
            let first = firsts.entry(cell.task).or_insert(cell.number);
            *first = cell.number.min(*first);
        }
    }
    let tasks = side.plan.tasks.iter().enumerate().zip(table.tasks);
    let reached = tasks.filter_map(|((place, task), cells)| {
        let cell = cells.get(side.policy)?;
        let reward = cell.reward()?;
        let value = match measure {
            ComparedMeasure::Reward => reward,
            ComparedMeasure::Success => cell.successes as f64 / cell.rewards.len() as f64,
        };
        let first = *firsts.get(&place)?;
        Some((
            key(side.plan, place, task),
            (task.title.clone(), value, first),
        ))
    });
    reached.collect()
}

/// The key by which tasks of two plans match.
fn key(plan: &Plan, place: usize, task: &PlannedTask) -> String {
    let task_key = match &plan.dataset {
        Some(dataset) => format!("{dataset}\u{0}{}", task.id),
        // The base seed and the task number determine the seed of an episode.
        None => format!("{}\u{0}{place}", plan.seed),
    };
    let configuration = Json::Object(task.configuration.clone()).to_compact_text();
    [&task_key, &*task.environment, &configuration].join("\u{0}")
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::{Actor, FailureKind};

    use super::super::tests::{failed, finished, plan};
    use super::*;

    fn rewarded(cell: usize, reward: f64) -> CellResult {
        CellResult {
            reward,
            ..finished(cell)
        }
    }

    #[test]
    fn tasks_are_paired_and_tries_averaged() {
        let one = plan(4, &Actor::Random);
        let mut two = plan(5, &Actor::Random);
        two.trials = 2;
        let first = [
            rewarded(0, 0.0),
            rewarded(1, 1.0),
            rewarded(2, 0.5),
            failed(3, FailureKind::Network),
        ];
        let second = [
            rewarded(two.number(0, 0, 0), 1.0),
            rewarded(two.number(0, 0, 1), 0.5),
            rewarded(two.number(1, 0, 0), 1.0),
            rewarded(two.number(2, 0, 0), 0.25),
            rewarded(two.number(3, 0, 0), 1.0),
            rewarded(two.number(4, 0, 0), 1.0),
        ];
        let side = |plan, results| Side {
            plan,
            results,
            policy: 0,
        };
        let compare = |measure| Comparison::new(side(&one, &first), side(&two, &second), measure);
        let found = compare(ComparedMeasure::Reward);
        let differences: Vec<f64> = found.pairs.iter().map(TaskPair::difference).collect();
        assert_eq!(differences, [0.75, -0.25, 0.0]);
        assert_eq!(found.pairs[0].cells, (0, two.number(0, 0, 0)));
        // The task that failed on one side, and the task that only the other plan has.
        assert_eq!(found.unpaired, 2);
        let paired = found.paired.unwrap();
        assert_eq!((paired.wins, paired.ties, paired.losses), (1, 1, 1));
        assert_eq!(found.means(), Some((0.5, (0.75 + 1.0 + 0.25) / 3.0)));
        let found = compare(ComparedMeasure::Success);
        assert_eq!(found.pairs.first().map(TaskPair::difference), Some(0.5));
        // Tasks with other seeds do not match.
        let mut other = two.clone();
        other.seed += 1;
        let found = Comparison::new(
            side(&one, &first),
            side(&other, &second),
            ComparedMeasure::Reward,
        );
        assert_eq!((found.pairs.len(), found.unpaired), (0, 8));
        assert_eq!((found.paired, found.means()), (None, None));
    }
}
