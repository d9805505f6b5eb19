//! Rows that belong together: the tries of a task, the episodes of a run, or those that share a cell.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use volary_core::json::Text;

use super::{Cell, Column, Row};
use crate::statistics::pass_all;

/// What makes rows belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Tries of one task (environment, dataset and id) by one model and agent.
    Task,
    /// The run.
    Run,
    /// By the value of a column. A row with several values is in several groups.
    Column(Column),
}

/// Rows that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// What they share, for people; empty if it is not known.
    pub name: Text,
    /// What tells the group apart. Tasks of two environments may have the same name.
    pub key: Vec<String>,
    /// Of what and by whom its rows are tries; `None` if they are not tries of one task.
    pub tried: Option<Tried>,
    /// Their places.
    pub rows: Vec<usize>,
    /// How many of them have a reward.
    pub tries: usize,
    /// How many of those succeeded.
    pub successes: usize,
    /// The mean of the rewards.
    pub mean_reward: Option<f64>,
    /// How much the tries of a task agree: the chance that two of them, drawn at random, both succeeded
    /// or both failed. `None` for fewer than two tries, and for rows that are not tries of one task.
    pub agreement: Option<f64>,
}

/// Of what and by whom the rows of a group are tries. Empty texts are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// The environment of the task.
    pub environment: Text,
    /// The model that tried it.
    pub model: Text,
    /// The agent or policy that tried it.
    pub agent: Text,
}

/// pass^k of one model and agent over the tasks that it tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// The model; empty if unknown.
    pub model: Text,
    /// The agent or policy; empty if unknown.
    pub agent: Text,
    /// For k from 1 to the least number of tries of any task: the mean, over the tasks, of the chance that
    /// k tries all succeed.
    pub all: Vec<f64>,
}

/// A reward from here on is a success: 1, up to rounding.
pub const SUCCESS: f64 = 1.0 - 1e-6;

/// Groups rows, in the order in which the groups come first. A try succeeded if its reward is `success` or more.
pub fn grouped<R: Borrow<Row>>(rows: &[R], by: &GroupBy, success: f64) -> Vec<Group> {
    let mut grouping = Grouping::new(by.clone(), success);
    rows.iter().for_each(|row| grouping.add(row.borrow()));
    grouping.done()
}

/// Groups in the making.
#[derive(Clone, Debug)]
pub struct Grouping {
    by: GroupBy,
    success: f64,
    known: BTreeMap<Vec<String>, usize>,
    groups: Vec<Group>,
    /// The sum of the rewards of each.
    sums: Vec<f64>,
    rows: usize,
}

impl Grouping {
    /// None so far.
    pub fn new(by: GroupBy, success: f64) -> Self {
        Grouping {
            by,
            success,
            known: BTreeMap::new(),
            groups: Vec::new(),
            sums: Vec::new(),
            rows: 0,
        }
    }

    /// Adds the next row.
    pub fn add(&mut self, row: &Row) {
        let place = self.rows;
        self.rows += 1;
        let reward = row.reward.filter(|reward| !reward.is_nan());
        for (key, name, tried) in keys(row, &self.by) {
            let index = *self.known.entry(key.clone()).or_insert_with(|| {
                self.groups.push(Group {
                    name,
                    key,
                    tried,
                    ..Group::default()
                });
                self.sums.push(0.0);
                self.groups.len() - 1
            });
            let group = &mut self.groups[index];
            group.rows.push(place);
            if let Some(reward) = reward {
                group.tries += 1;
                group.successes += usize::from(reward >= self.success);
                self.sums[index] += reward;
            }
        }
    }

    /// The groups.
    pub fn done(mut self) -> Vec<Group> {
        let groups = self.groups.iter_mut().zip(self.sums);
        groups.for_each(|(group, sum)| group.judge(sum));
        self.groups
    }
}

/// pass^k of each model and agent, in the order of the groups. Only tries of one task by one model and agent
/// count; groups without any reward do not.
pub fn passes(groups: &[Group]) -> Vec<Passes> {
    let mut actors: Vec<(&Text, &Text, Vec<&Group>)> = Vec::new();
    for group in groups.iter().filter(|group| group.tries > 0) {
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
    let most = tried.iter().map(|group| group.tries).min().unwrap_or(0);
    let mean = |k: usize| {
        let chances = tried
            .iter()
            .filter_map(|group| pass_all(k, group.successes, group.tries));
        chances.sum::<f64>() / tried.len() as f64
    };
    (1..=most).map(mean).collect()
}

impl Group {
    fn judge(&mut self, rewards: f64) {
        self.mean_reward = (self.tries > 0).then(|| rewards / self.tries as f64);
        let pairs = |n: usize| (n * n.saturating_sub(1)) as f64;
        let alike = pairs(self.successes) + pairs(self.tries - self.successes);
        let is_task = self.tried.is_some();
        self.agreement = (is_task && self.tries > 1).then(|| alike / pairs(self.tries));
    }
}

/// The groups of a row: what tells each apart, its name, and of what its rows are tries.
fn keys(row: &Row, by: &GroupBy) -> Vec<(Vec<String>, Text, Option<Tried>)> {
    let single = |name: Option<&Text>| {
        let name = name.cloned().unwrap_or_default();
        vec![(vec![name.to_string()], name, None)]
    };
    match by {
        GroupBy::Run => single(row.run.as_ref()),
        GroupBy::Task => {
            let Some(task) = &row.task else {
                return single(None);
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
            vec![(key, task.id.clone(), Some(tried))]
        }
        GroupBy::Column(column) => match row.cell(column) {
            Cell::Texts(texts) => {
                let mut texts = texts.to_vec();
                texts.sort();
                texts.dedup();
                texts
                    .into_iter()
                    .map(|text| (vec![text.to_string()], text, None))
                    .collect()
            }
            cell => {
                let name = cell.to_text();
                vec![(vec![name.clone()], name.into(), None)]
            }
        },
    }
}
