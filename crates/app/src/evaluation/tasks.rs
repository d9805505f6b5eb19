//! Filters and sorts the tasks of an evaluation, and lists its failed episodes for reading.

use volary_agent::evaluation::table::TaskCell;
use volary_agent::evaluation::{CellResult, Plan};

/// Sort order of tasks. Equal tasks keep the order of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskOrder {
    /// The order of the plan.
    #[default]
    Plan,
    /// Lowest mean reward first.
    Lowest,
    /// Highest mean reward first.
    Highest,
    /// Largest difference between policies first.
    Spread,
}

impl TaskOrder {
    pub const ALL: [TaskOrder; 4] = [
        TaskOrder::Plan,
        TaskOrder::Lowest,
        TaskOrder::Highest,
        TaskOrder::Spread,
    ];

    /// The label on screen.
    pub const fn name(self) -> &'static str {
        match self {
            TaskOrder::Plan => "Task",
            TaskOrder::Lowest => "Lowest reward",
            TaskOrder::Highest => "Highest reward",
            TaskOrder::Spread => "Largest difference",
        }
    }
}

/// The indices of the tasks to show.
pub fn shown_tasks(tasks: &[Vec<TaskCell>], order: TaskOrder, only_failures: bool) -> Vec<usize> {
    let mut shown: Vec<(usize, f64)> = tasks
        .iter()
        .enumerate()
        .filter(|(_, cells)| !only_failures || cells.iter().any(has_failure))
        .map(|(place, cells)| (place, key(cells, order)))
        .collect();
    // The sort is stable, so that equal tasks keep their order.
    shown.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    shown.into_iter().map(|(place, _)| place).collect()
}

/// The sort key, ascending. Tasks without a result come last.
fn key(cells: &[TaskCell], order: TaskOrder) -> f64 {
    let rewards = cells.iter().filter_map(TaskCell::reward);
    let (count, sum, low, high) = rewards.fold(
        (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY),
        |(count, sum, low, high): (f64, f64, f64, f64), reward| {
            (count + 1.0, sum + reward, low.min(reward), high.max(reward))
        },
    );
    match order {
        TaskOrder::Plan => 0.0,
        _ if count == 0.0 => f64::INFINITY,
        TaskOrder::Lowest => sum / count,
        TaskOrder::Highest => -sum / count,
        TaskOrder::Spread => low - high,
    }
}

/// Whether an episode of a cell did not succeed.
fn has_failure(cell: &TaskCell) -> bool {
    cell.failures > 0 || cell.successes < cell.rewards.len()
}

/// The cells whose episodes did not succeed, by task, then by policy: episodes that stopped early, and episodes with
/// less reward than the success threshold.
pub fn unsuccessful<'a>(
    plan: &Plan,
    results: impl IntoIterator<Item = &'a CellResult>,
) -> Vec<usize> {
    let mut cells: Vec<_> = results
        .into_iter()
        .filter(|result| !(result.is_finished() && result.reward >= plan.success))
        .filter_map(|result| plan.cell(result.cell))
        .map(|cell| (cell.task, cell.policy, cell.trial, cell.number))
        .collect();
    cells.sort_unstable();
    cells.into_iter().map(|cell| cell.3).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{failed, finished, plan};
    use super::*;
    use volary_agent::evaluation::{Actor, FailureKind};

    fn cell(rewards: &[f64], failures: usize) -> TaskCell {
        TaskCell {
            rewards: rewards.to_vec(),
            successes: rewards.iter().filter(|reward| **reward >= 1.0).count(),
            failures,
        }
    }

    #[test]
    fn tasks_are_sorted_and_filtered() {
        let tasks = [
            vec![cell(&[1.0], 0), cell(&[1.0], 0)],
            vec![cell(&[0.0], 0), cell(&[1.0], 0)],
            vec![cell(&[], 1), cell(&[0.25], 0)],
            vec![cell(&[], 0), cell(&[], 0)],
            vec![cell(&[1.0], 0), cell(&[1.0], 0)],
        ];
        let shown = |order, only| shown_tasks(&tasks, order, only);
        assert_eq!(shown(TaskOrder::Plan, false), [0, 1, 2, 3, 4]);
        assert_eq!(shown(TaskOrder::Lowest, false), [2, 1, 0, 4, 3]);
        assert_eq!(shown(TaskOrder::Highest, false), [0, 4, 1, 2, 3]);
        assert_eq!(shown(TaskOrder::Spread, false), [1, 0, 2, 4, 3]);
        assert_eq!(shown(TaskOrder::Plan, true), [1, 2]);
        assert_eq!(shown(TaskOrder::Lowest, true), [2, 1]);
    }

    #[test]
    fn failures_are_listed_by_task() {
        let mut plan = plan(2, &Actor::Random);
        plan.trials = 2;
        let poor = CellResult {
            reward: 0.5,
            ..finished(plan.number(0, 0, 1))
        };
        let lost = failed(plan.number(1, 0, 0), FailureKind::Network);
        let unknown = failed(99, FailureKind::Network);
        let results = [finished(plan.number(0, 0, 0)), lost, poor, unknown];
        assert_eq!(
            unsuccessful(&plan, &results),
            [plan.number(0, 0, 1), plan.number(1, 0, 0)]
        );
    }
}
