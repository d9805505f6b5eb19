//! Tasks over the steps of a run: which were learned, forgotten, never or always solved.

use std::collections::BTreeMap;

use volary_core::json::Text;

use super::run::TrainingRun;
use super::sample::rollouts;
use crate::table::groups::SUCCESS;

/// A task and its groups over the steps.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskHistory {
    pub task: Text,
    /// In the order of steps.
    pub visits: Vec<Visit>,
    pub course: Course,
}

/// The group of a task at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    pub step: i64,
    /// The key of the group within the step.
    pub group: Text,
    pub mean_reward: Option<f64>,
    /// Whether at least half of the scored rollouts reach the threshold; `None` without scored rollouts.
    pub is_solved: Option<bool>,
}

/// The course of a task, from its first to its last scored visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Course {
    Learned,
    Forgotten,
    /// It changed and came back.
    Unstable,
    NeverSolved,
    AlwaysSolved,
    /// It was scored at one step only.
    Once,
    /// It was never scored.
    Unscored,
}

impl Course {
    pub const ALL: [Course; 7] = [
        Course::Learned,
        Course::Forgotten,
        Course::Unstable,
        Course::NeverSolved,
        Course::AlwaysSolved,
        Course::Once,
        Course::Unscored,
    ];

    /// The label to show.
    pub fn label(self) -> &'static str {
        match self {
            Course::Learned => "learned",
            Course::Forgotten => "forgotten",
            Course::Unstable => "unstable",
            Course::NeverSolved => "never solved",
            Course::AlwaysSolved => "always solved",
            Course::Once => "seen at one step",
            Course::Unscored => "without a reward",
        }
    }

    fn of(visits: &[Visit]) -> Course {
        let solved: Vec<bool> = visits.iter().filter_map(|visit| visit.is_solved).collect();
        let (Some(first), Some(last)) = (solved.first(), solved.last()) else {
            return Course::Unscored;
        };
        let is_constant = solved.iter().all(|solved| solved == first);
        match (first, last) {
            _ if solved.len() == 1 => Course::Once,
            (true, _) if is_constant => Course::AlwaysSolved,
            (false, _) if is_constant => Course::NeverSolved,
            (false, true) => Course::Learned,
            (true, false) => Course::Forgotten,
            _ => Course::Unstable,
        }
    }
}

/// The reward from which a sample counts as solved unless the user says otherwise: 1 if some sample reaches it, otherwise the middle of all rewards.
pub fn threshold(run: &TrainingRun) -> f64 {
    let rewards = run.samples.iter().filter_map(|sample| sample.reward);
    let finite = rewards.filter(|reward| reward.is_finite());
    let range = finite.fold(None, |range: Option<(f64, f64)>, reward| {
        let (low, high) = range.unwrap_or((reward, reward));
        Some((low.min(reward), high.max(reward)))
    });
    match range {
        Some((low, high)) if high < SUCCESS => f64::midpoint(low, high),
        _ => SUCCESS,
    }
}

/// The tasks of a run that are seen at several steps, by course and name; then those that are seen once. A sample counts
/// as solved from a reward of `threshold` on.
pub fn tasks(run: &TrainingRun, threshold: f64) -> Vec<TaskHistory> {
    let mut visits: BTreeMap<Text, Vec<Visit>> = BTreeMap::new();
    for step in &run.steps {
        for group in &step.groups {
            let (Some(key), Some(task)) = (&group.key, &group.task) else {
                continue;
            };
            let samples = run.samples_of(&group.samples);
            let rewards = rollouts(samples).filter_map(|sample| sample.reward);
            let scored: Vec<f64> = rewards.filter(|reward| reward.is_finite()).collect();
            let solved = scored.iter().filter(|reward| **reward >= threshold).count();
            visits.entry(task.clone()).or_default().push(Visit {
                step: step.step,
                group: key.clone(),
                mean_reward: group.reward.mean,
                is_solved: (!scored.is_empty()).then(|| 2 * solved >= scored.len()),
            });
        }
    }
    let histories = visits.into_iter().map(|(task, visits)| TaskHistory {
        course: Course::of(&visits),
        task,
        visits,
    });
    let mut histories: Vec<TaskHistory> = histories.collect();
    histories.sort_by_key(|history| history.course);
    histories
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use volary_core::object;
    use volary_episode::TaskReference;

    use super::*;
    use crate::table::Row;

    fn row(step: i64, task: &str, reward: Option<f64>) -> Arc<Row> {
        Arc::new(Row {
            id: format!("{step} {task}").into(),
            task: Some(TaskReference {
                dataset: "d".into(),
                id: task.into(),
            }),
            reward,
            metadata: object!({ "step": step }),
            ..Row::default()
        })
    }

    fn courses(rows: &[Arc<Row>]) -> Vec<(String, Course)> {
        let run = TrainingRun::of(rows, None);
        let histories = tasks(&run, threshold(&run)).into_iter();
        histories
            .map(|history| (history.task.to_string(), history.course))
            .collect()
    }

    #[test]
    fn courses_of_tasks() {
        let mut rows = Vec::new();
        for (task, rewards) in [
            ("always", [1.0, 1.0, 1.0]),
            ("forgotten", [1.0, 1.0, 0.0]),
            ("learned", [0.0, 0.0, 1.0]),
            ("never", [0.0, 0.0, 0.0]),
            ("unstable", [0.0, 1.0, 0.0]),
        ] {
            let steps = rewards.iter().enumerate();
            rows.extend(steps.map(|(step, reward)| row(step as i64, task, Some(*reward))));
        }
        rows.push(row(0, "once", Some(1.0)));
        rows.push(row(0, "unscored", None));
        let expected = [
            ("learned", Course::Learned),
            ("forgotten", Course::Forgotten),
            ("unstable", Course::Unstable),
            ("never", Course::NeverSolved),
            ("always", Course::AlwaysSolved),
            ("once", Course::Once),
            ("unscored", Course::Unscored),
        ];
        let expected = expected.map(|(task, course)| (task.to_owned(), course));
        assert_eq!(courses(&rows), expected);
    }

    #[test]
    fn another_threshold_is_another_course() {
        let rows = [row(0, "t", Some(0.4)), row(1, "t", Some(0.7))];
        let run = TrainingRun::of(&rows, None);
        let course = |threshold| tasks(&run, threshold)[0].course;
        assert_eq!(course(0.5), Course::Learned);
        assert_eq!(course(0.4), Course::AlwaysSolved);
        assert_eq!(course(1.0), Course::NeverSolved);
    }

    #[test]
    fn the_threshold_follows_the_scale_of_rewards() {
        let of = |rewards: &[f64]| {
            let rows: Vec<Arc<Row>> = rewards
                .iter()
                .map(|reward| row(0, "t", Some(*reward)))
                .collect();
            threshold(&TrainingRun::of(&rows, None))
        };
        assert_eq!(of(&[0.0, 0.5, 1.0]), SUCCESS);
        assert_eq!(of(&[-1.0, 0.5, f64::NAN]), -0.25);
        assert_eq!(of(&[]), SUCCESS);
    }
}
