//! Groups of rows: the trials of a task, the episodes of a run, or the rows with the same cell.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use volary_core::json::Text;

use super::order::{Direction, natural};
use super::{Cell, Column, RolloutOf, Row};
use crate::statistics::pass_all;

/// The grouping criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Trials of one task (environment, dataset and id) by one model and agent.
    Task,
    Run,
    /// The value of a column. A row with several values is in several groups.
    Column(Column),
    /// The values of two columns.
    Pair(Column, Column),
}

impl GroupBy {
    /// The grouping by some columns; `None` if there are none. Of more than two, the first two count.
    pub fn columns(columns: &[Column]) -> Option<GroupBy> {
        match columns {
            [] => None,
            [Column::Task] => Some(GroupBy::Task),
            [column] => Some(GroupBy::Column(column.clone())),
            [first, second, ..] => Some(GroupBy::Pair(first.clone(), second.clone())),
        }
    }
}

/// A group of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The display name of the common value; empty if it is unknown.
    pub name: Text,
    /// The common value of the second column, if there are two.
    pub second: Option<Text>,
    /// Identifies the group. Tasks of two environments may have the same name.
    pub key: Vec<String>,
    /// The task and the actor, if the rows are trials of one task.
    pub tried: Option<Tried>,
    /// The indices of the rows.
    pub rows: Vec<usize>,
    /// The rewards of the trials. Branches of a rollout are one trial, with the reward of the first one.
    pub rewards: Vec<f64>,
    /// The number of trials with a reward.
    pub trials: usize,
    /// The number of successes among them.
    pub successes: usize,
    pub mean_reward: Option<f64>,
    /// The standard error of the mean; `None` if there are fewer than two rewards.
    pub standard_error: Option<f64>,
    /// The agreement of trials of a task: the probability that two of them, drawn at random, both succeeded or both
    /// failed. `None` for fewer than two trials, and for rows that are not trials of one task.
    pub agreement: Option<f64>,
}

/// The task and the actor of a group of trials. Empty texts are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    pub environment: Text,
    pub model: Text,
    /// The agent or policy.
    pub agent: Text,
}

/// pass^k of one model and agent over the tasks that it tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// Empty if it is unknown.
    pub model: Text,
    /// The agent or policy; empty if it is unknown.
    pub agent: Text,
    /// For k from 1 to the minimum number of trials of a task: the mean, over the tasks, of the probability that k trials
    /// all succeed.
    pub all: Vec<f64>,
}

/// The sort key of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOrder {
    Name,
    /// The number of rows.
    Count,
    /// The mean reward.
    Reward,
    /// The share of successes.
    Success,
    /// The agreement of trials.
    Agreement,
}

impl GroupOrder {
    pub const ALL: [GroupOrder; 5] = [
        GroupOrder::Name,
        GroupOrder::Count,
        GroupOrder::Reward,
        GroupOrder::Success,
        GroupOrder::Agreement,
    ];

    /// The name in addresses.
    pub const fn name(self) -> &'static str {
        match self {
            GroupOrder::Name => "name",
            GroupOrder::Count => "count",
            GroupOrder::Reward => "reward",
            GroupOrder::Success => "success",
            GroupOrder::Agreement => "agreement",
        }
    }

    /// Sorts groups. Equal ones keep their order, unknown values come last in either direction.
    pub fn sort(self, groups: &mut [Group], direction: Direction) {
        let turned = |order: Ordering| match direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        };
        groups.sort_by(|one, other| match self {
            GroupOrder::Name => turned(natural(&one.name, &other.name)),
            _ => match (self.value(one), self.value(other)) {
                (Some(one), Some(other)) => turned(one.total_cmp(&other)),
                (one, other) => other.is_some().cmp(&one.is_some()),
            },
        });
    }

    fn value(self, group: &Group) -> Option<f64> {
        match self {
            GroupOrder::Name => None,
            GroupOrder::Count => Some(group.rows.len() as f64),
            GroupOrder::Reward => group.mean_reward,
            GroupOrder::Success => {
                (group.trials > 0).then(|| group.successes as f64 / group.trials as f64)
            }
            GroupOrder::Agreement => group.agreement,
        }
    }
}

/// The reward from which an episode is a success: 1, up to rounding.
pub const SUCCESS: f64 = 1.0 - 1e-6;

/// Groups rows, in order of the groups' first appearance. A trial succeeded if its reward is at least `success`.
pub fn grouped<R: Borrow<Row>>(rows: &[R], by: &GroupBy, success: f64) -> Vec<Group> {
    let mut grouping = Grouping::new(by.clone(), success);
    rows.iter().for_each(|row| grouping.add(row.borrow()));
    grouping.done()
}

/// Mean and sum of squared deviations, updated incrementally (Welford's method), which stays exact for large means.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }
}

/// Builds groups incrementally.
#[derive(Clone, Debug)]
pub struct Grouping {
    by: GroupBy,
    success: f64,
    known: BTreeMap<Vec<String>, usize>,
    groups: Vec<Group>,
    /// The rollouts of each group: the indices of their rewards, and the branches that these are of.
    rollouts: Vec<HashMap<u64, (usize, Option<u64>)>>,
    rows: usize,
}

impl Grouping {
    /// Starts without rows.
    pub fn new(by: GroupBy, success: f64) -> Self {
        Grouping {
            by,
            success,
            known: BTreeMap::new(),
            groups: Vec::new(),
            rollouts: Vec::new(),
            rows: 0,
        }
    }

    /// Adds the next row.
    pub fn add(&mut self, row: &Row) {
        let row_index = self.rows;
        self.rows += 1;
        let reward = row.reward.filter(|reward| !reward.is_nan());
        let RolloutOf { id, branch } = row.rollout();
        let mut hasher = DefaultHasher::new();
        (row.run.as_deref(), id).hash(&mut hasher);
        let rollout = hasher.finish();
        for Key {
            key,
            name,
            second,
            tried,
        } in keys(row, &self.by)
        {
            let index = *self.known.entry(key.clone()).or_insert_with(|| {
                self.groups.push(Group {
                    name,
                    second,
                    key,
                    tried,
                    ..Group::default()
                });
                self.rollouts.push(HashMap::new());
                self.groups.len() - 1
            });
            let group = &mut self.groups[index];
            group.rows.push(row_index);
            let Some(reward) = reward else { continue };
            match self.rollouts[index].entry(rollout) {
                Entry::Occupied(mut known) if branch.is_none() || known.get().1 != branch => {
                    let (trial, first) = known.get_mut();
                    if branch < *first {
                        *first = branch;
                        group.rewards[*trial] = reward;
                    }
                }
                // Ids need not be unique, unless they are those of branches.
                Entry::Occupied(_) => group.rewards.push(reward),
                Entry::Vacant(new) => {
                    new.insert((group.rewards.len(), branch));
                    group.rewards.push(reward);
                }
            }
        }
    }

    /// Returns the groups.
    pub fn done(mut self) -> Vec<Group> {
        let success = self.success;
        let groups = self.groups.iter_mut();
        groups.for_each(|group| group.judge(success));
        self.groups
    }
}

/// pass^k of each model and agent, in the order of the groups. Only trials of one task by one model and agent count;
/// groups without any reward are skipped.
pub fn passes(groups: &[Group]) -> Vec<Passes> {
    let mut actors: Vec<(&Text, &Text, Vec<&Group>)> = Vec::new();
    for group in groups.iter().filter(|group| group.trials > 0) {
        let Some(Tried { model, agent, .. }) = &group.tried else {
            continue;
        };
        let known = actors
            .iter_mut()
            .find(|(other, by, _)| (*other, *by) == (model, agent));
        match known {
            Some((.., tried)) => tried.push(group),
            None => actors.push((model, agent, vec![group])),
        }
    }
    let passes = |(model, agent, tried): (&Text, &Text, Vec<&Group>)| Passes {
        model: model.clone(),
        agent: agent.clone(),
        all: pass_all_over(&tried),
    };
    actors.into_iter().map(passes).collect()
}

fn pass_all_over(tried: &[&Group]) -> Vec<f64> {
    let most = tried.iter().map(|group| group.trials).min().unwrap_or(0);
    let mean = |k: usize| {
        let chances = tried
            .iter()
            .filter_map(|group| pass_all(k, group.successes, group.trials));
        chances.sum::<f64>() / tried.len() as f64
    };
    (1..=most).map(mean).collect()
}

impl Group {
    fn judge(&mut self, success: f64) {
        let mut rewards = Moments::default();
        self.rewards.iter().for_each(|reward| rewards.add(*reward));
        let successes = self.rewards.iter().filter(|reward| **reward >= success);
        self.successes = successes.count();
        self.trials = self.rewards.len();
        self.mean_reward = (self.trials > 0).then_some(rewards.mean);
        let count = rewards.count;
        self.standard_error =
            (self.trials > 1).then(|| (rewards.squares / (count - 1.0) / count).sqrt());
        let pairs = |n: usize| (n * n.saturating_sub(1)) as f64;
        let alike = pairs(self.successes) + pairs(self.trials - self.successes);
        let is_task = self.tried.is_some();
        self.agreement = (is_task && self.trials > 1).then(|| alike / pairs(self.trials));
    }
}

/// The group of a row.
struct Key {
    /// Identifies the group.
    key: Vec<String>,
    name: Text,
    second: Option<Text>,
    tried: Option<Tried>,
}

impl Key {
    fn of(name: Text) -> Key {
        Key {
            key: vec![name.to_string()],
            name,
            second: None,
            tried: None,
        }
    }
}

/// The groups of a row.
fn keys(row: &Row, by: &GroupBy) -> Vec<Key> {
    match by {
        GroupBy::Run => vec![Key::of(row.run.clone().unwrap_or_default())],
        GroupBy::Task => {
            let Some(task) = &row.task else {
                return vec![Key::of(Text::default())];
            };
            let tried = Tried {
                environment: row.environment.clone().unwrap_or_default(),
                model: row.model.clone().unwrap_or_default(),
                agent: row.agent.clone().unwrap_or_default(),
            };
            let key = [
                &tried.environment,
                &task.dataset,
                &task.id,
                &tried.model,
                &tried.agent,
            ]
            .map(|part| part.to_string())
            .to_vec();
            vec![Key {
                key,
                name: task.id.clone(),
                second: None,
                tried: Some(tried),
            }]
        }
        GroupBy::Column(column) => values(row, column).into_iter().map(Key::of).collect(),
        GroupBy::Pair(first, second) => {
            let others = values(row, second);
            let names = values(row, first).into_iter();
            let pairs = names.flat_map(|name| {
                others.iter().map(move |other| Key {
                    key: vec![name.to_string(), other.to_string()],
                    name: name.clone(),
                    second: Some(other.clone()),
                    tried: None,
                })
            });
            pairs.collect()
        }
    }
}

/// The values of a column in a row, each of which is a group; an unknown one is empty.
fn values(row: &Row, column: &Column) -> Vec<Text> {
    match row.cell(column) {
        Cell::Texts(texts) => {
            let mut texts = texts.to_vec();
            texts.sort();
            texts.dedup();
            texts
        }
        cell => vec![cell.to_text().into()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sorted_with_unknown_values_last() {
        let group = |name: &str, mean_reward| Group {
            name: name.into(),
            mean_reward,
            ..Group::default()
        };
        let mut groups = vec![
            group("task 10", None),
            group("task 9", Some(0.0)),
            group("task 2", Some(1.0)),
        ];
        let names = |groups: &[Group]| {
            let names = groups.iter().map(|group| group.name.to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        for (order, direction, expected) in [
            (
                GroupOrder::Reward,
                Direction::Ascending,
                "task 9, task 2, task 10",
            ),
            (
                GroupOrder::Reward,
                Direction::Descending,
                "task 2, task 9, task 10",
            ),
            (
                GroupOrder::Name,
                Direction::Ascending,
                "task 2, task 9, task 10",
            ),
            (
                GroupOrder::Name,
                Direction::Descending,
                "task 10, task 9, task 2",
            ),
        ] {
            order.sort(&mut groups, direction);
            assert_eq!(names(&groups), expected, "{order:?} {direction:?}");
        }
    }
}
