//! A training run: its samples in order, its steps with their groups, and what can be compared over steps.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use volary_core::json::Text;
use volary_episode::episode::EndingKind;

use super::measure::Measure;
use super::sample::{Sample, number, part, rollouts};
use super::spread::Spread;
use crate::table::Row;
use crate::table::order::natural;

/// The maximum number of parts of the reward that are measures.
const MOST_PARTS: usize = 12;

/// Which reward of a sample counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RewardChoice {
    /// The one that the file marks as the reward.
    #[default]
    Whole,
    /// A part, by its name.
    Part(Text),
}

/// A run, or the evaluations during it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingRun {
    /// By step, group and sample.
    pub samples: Vec<Sample>,
    pub steps: Vec<StepSummary>,
    /// The measures that some sample has. The reward is always the first.
    pub measures: Vec<Measure>,
    /// The reward that counts.
    pub choice: RewardChoice,
    /// Whether some sample has a reward that its file marks as the one.
    pub has_whole_reward: bool,
    /// The part that always equals the reward that the file marks.
    pub whole_part: Option<Text>,
    /// The parts of rewards, with the number of samples that have them, the most frequent first.
    pub parts: Vec<(Text, usize)>,
    /// Steps without samples between the first and the last one, as inclusive ranges.
    pub missing_steps: Vec<(i64, i64)>,
}

/// The samples of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSummary {
    pub step: i64,
    /// The indices of its samples in the run.
    pub samples: Range<usize>,
    pub groups: Vec<SampleGroup>,
    /// The distribution of each measure of the run. Rewards are those of rollouts, others those of samples.
    pub spreads: Vec<Spread>,
    /// The number of truncated samples.
    pub truncated: usize,
    /// The number of samples that were aborted, failed or crashed.
    pub aborted: usize,
    /// The number of samples that were sampled from more than one policy.
    pub mixed_policies: usize,
}

/// The samples of one prompt at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleGroup {
    /// Identifies it within its step; `None` for samples of no group.
    pub key: Option<Text>,
    /// The name of the task, if it is known.
    pub task: Option<Text>,
    /// The indices of its samples in the run.
    pub samples: Range<usize>,
    /// The rewards of its rollouts.
    pub reward: Spread,
    /// The sample with the highest and the one with the lowest reward; the first of equal ones.
    pub best: Option<usize>,
    pub worst: Option<usize>,
}

impl SampleGroup {
    /// Whether all rewards are equal, so that nothing can be learned from comparing them.
    pub fn is_uniform(&self) -> bool {
        self.key.is_some() && self.reward.count > 1 && self.reward.deviation == Some(0.0)
    }

    /// The indices of its samples, highest reward first. Those without a reward come last, in their order.
    pub fn by_reward(&self, samples: &[Sample]) -> Vec<usize> {
        let reward = |index: usize| samples[index].reward.filter(|reward| !reward.is_nan());
        let mut order: Vec<usize> = self.samples.clone().collect();
        order.sort_by(|&one, &other| match (reward(one), reward(other)) {
            (Some(one), Some(other)) => other.total_cmp(&one),
            (one, other) => other.is_some().cmp(&one.is_some()),
        });
        order
    }

    /// A short name: the number of the group, otherwise its task, otherwise the start of its id.
    pub fn name(&self) -> String {
        /// The number of characters of an id that are shown.
        const SHOWN: usize = 8;
        let Some(key) = &self.key else {
            return "Samples of no group".to_owned();
        };
        let is_number = key.parse::<i64>().is_ok();
        match &self.task {
            _ if is_number => format!("Group {key}"),
            Some(task) => task.to_string(),
            None => format!("Group {}", key.chars().take(SHOWN).collect::<String>()),
        }
    }
}

impl StepSummary {
    /// The number of groups without variance.
    pub fn uniform_groups(&self) -> usize {
        self.groups
            .iter()
            .filter(|group| group.is_uniform())
            .count()
    }

    /// The number of groups, without the samples of no group.
    pub fn group_count(&self) -> usize {
        self.groups
            .iter()
            .filter(|group| group.key.is_some())
            .count()
    }

    /// The group with this key.
    pub fn group(&self, key: &str) -> Option<&SampleGroup> {
        let is_it = |group: &&SampleGroup| group.key.as_deref().unwrap_or_default() == key;
        self.groups.iter().find(is_it)
    }

    /// The share of truncated samples.
    pub fn truncated_share(&self) -> f64 {
        share(self.truncated, self.samples.len())
    }

    /// The share of samples that were aborted, failed or crashed.
    pub fn aborted_share(&self) -> f64 {
        share(self.aborted, self.samples.len())
    }

    /// The share of groups without variance; `None` without groups of several scored samples.
    pub fn uniform_share(&self) -> Option<f64> {
        let can_vary = |group: &&SampleGroup| group.key.is_some() && group.reward.count > 1;
        let all = self.groups.iter().filter(can_vary).count();
        (all > 0).then(|| share(self.uniform_groups(), all))
    }
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

impl TrainingRun {
    /// The run of some rows. Without a choice, the reward that the file marks counts; if there is none, its most
    /// frequent part does.
    pub fn of(rows: &[Arc<Row>], choice: Option<RewardChoice>) -> TrainingRun {
        let has_whole_reward = rows.iter().any(|row| row.reward.is_some());
        let parts = parts(rows);
        let choice = choice.unwrap_or_else(|| match parts.first() {
            Some((name, _)) if !has_whole_reward => RewardChoice::Part(name.clone()),
            _ => RewardChoice::Whole,
        });
        let mut samples: Vec<Sample> = rows
            .iter()
            .filter_map(|row| Sample::of(row, &choice))
            .collect();
        samples.sort_by(in_order);
        number_namesakes(&mut samples);
        let measures = measures(&samples, &parts);
        let mut steps: Vec<StepSummary> = Vec::new();
        let mut start = 0;
        for end in 1..=samples.len() {
            if end == samples.len() || samples[end].step != samples[start].step {
                steps.push(step(&samples, start..end, &measures));
                start = end;
            }
        }
        TrainingRun {
            missing_steps: missing_steps(&steps),
            samples,
            steps,
            measures,
            choice,
            has_whole_reward,
            whole_part: has_whole_reward.then(|| whole_part(rows, &parts)).flatten(),
            parts,
        }
    }

    /// The samples at some indices.
    pub fn samples_of(&self, range: &Range<usize>) -> &[Sample] {
        self.samples.get(range.clone()).unwrap_or_default()
    }

    /// The index of a step.
    pub fn index_of(&self, step: i64) -> Option<usize> {
        self.steps.iter().position(|known| known.step == step)
    }

    /// The distribution of a measure at a step, by its index.
    pub fn spread(&self, index: usize, measure: &Measure) -> Option<&Spread> {
        let at = self.measures.iter().position(|known| known == measure)?;
        self.steps.get(index)?.spreads.get(at)
    }

    /// The lowest and the highest value of a measure.
    pub fn range(&self, measure: &Measure) -> Option<(f64, f64)> {
        let indices = 0..self.steps.len();
        let ranges = indices.filter_map(|index| self.spread(index, measure)?.range());
        ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Whether several rewards could be the one that counts.
    pub fn has_choice(&self) -> bool {
        self.parts.len() + usize::from(self.has_whole_reward) > 1
    }
}

/// The order of samples. Samples of no group come last in their step.
fn in_order(one: &Sample, other: &Sample) -> Ordering {
    let group = |sample: &Sample| sample.group.clone();
    let by_group = match (group(one), group(other)) {
        (Some(one), Some(other)) => natural(&one, &other).then_with(|| one.cmp(&other)),
        (one, other) => other.is_some().cmp(&one.is_some()),
    };
    let by_step = one.step.cmp(&other.step);
    by_step
        .then(by_group)
        .then_with(|| natural(&one.label(), &other.label()))
}

/// Numbers the samples of a group that have the same name, which are next to each other.
fn number_namesakes(samples: &mut [Sample]) {
    let is_same = |one: &Sample, other: &Sample| {
        one.step == other.step && one.group == other.group && one.own_name() == other.own_name()
    };
    for namesakes in samples
        .chunk_by_mut(is_same)
        .filter(|chunk| chunk.len() > 1)
    {
        for (number, sample) in namesakes.iter_mut().enumerate() {
            sample.namesake = number + 1;
        }
    }
}

/// The numeric scores of rows with the number of rows that have them.
fn parts(rows: &[Arc<Row>]) -> Vec<(Text, usize)> {
    let mut counts: BTreeMap<&Text, usize> = BTreeMap::new();
    for row in rows {
        for score in row
            .scores
            .iter()
            .filter(|score| number(&score.value).is_some())
        {
            *counts.entry(&score.name).or_default() += 1;
        }
    }
    let mut parts: Vec<(Text, usize)> = counts
        .into_iter()
        .map(|(name, count)| (name.clone(), count))
        .collect();
    parts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    parts.truncate(MOST_PARTS);
    parts
}

/// The first part that equals the reward of all rows that have one.
fn whole_part(rows: &[Arc<Row>], parts: &[(Text, usize)]) -> Option<Text> {
    let is_reward = |name: &Text| {
        let scored = rows.iter().filter(|row| row.reward.is_some());
        let value = |row: &Row| part(row, name).map(f64::to_bits);
        { scored }.all(|row| value(row) == row.reward.map(f64::to_bits))
    };
    let mut names = parts.iter().map(|(name, _)| name);
    names.find(|name| is_reward(name)).cloned()
}

/// The measures that some sample has, the reward and its other parts first. A part that always equals the reward is left
/// out.
fn measures(samples: &[Sample], parts: &[(Text, usize)]) -> Vec<Measure> {
    let is_reward = |name: &Text| {
        let part = Measure::Part(name.clone());
        let value = |sample: &Sample| sample.value(&part).map(f64::to_bits);
        samples
            .iter()
            .all(|sample| value(sample) == sample.reward.map(f64::to_bits))
    };
    let parts = parts.iter().filter(|(name, _)| !is_reward(name));
    let parts = parts.map(|(name, _)| Measure::Part(name.clone()));
    let [first, rest @ ..] = Measure::FIXED;
    let has_value =
        |measure: &Measure| samples.iter().any(|sample| sample.value(measure).is_some());
    let others = parts.chain(rest).filter(has_value);
    std::iter::once(first).chain(others).collect()
}

fn step(samples: &[Sample], range: Range<usize>, measures: &[Measure]) -> StepSummary {
    let own = &samples[range.clone()];
    let count = |ending: EndingKind| {
        own.iter()
            .filter(|sample| sample.ending() == ending)
            .count()
    };
    let mut groups = Vec::new();
    let mut start = range.start;
    for end in range.start + 1..=range.end {
        if end == range.end || samples[end].group != samples[start].group {
            groups.push(group(samples, start..end));
            start = end;
        }
    }
    let spread = |measure: &Measure| match measure {
        Measure::Reward | Measure::Part(_) => {
            Spread::of(rollouts(own).map(|sample| sample.value(measure)))
        }
        _ => Spread::of(own.iter().map(|sample| sample.value(measure))),
    };
    StepSummary {
        step: samples[range.start].step,
        groups,
        spreads: measures.iter().map(spread).collect(),
        truncated: count(EndingKind::Truncated),
        aborted: count(EndingKind::Crashed),
        mixed_policies: own
            .iter()
            .filter(|sample| sample.policies() > Some(1))
            .count(),
        samples: range,
    }
}

fn group(samples: &[Sample], range: Range<usize>) -> SampleGroup {
    let own = &samples[range.clone()];
    let task = own.iter().find_map(|sample| sample.row.task.as_ref());
    let scored = range.clone().filter_map(|index| {
        let reward = samples[index].reward.filter(|reward| reward.is_finite())?;
        Some((index, reward))
    });
    let (mut best, mut worst) = (None::<(usize, f64)>, None::<(usize, f64)>);
    for (index, reward) in scored {
        if best.is_none_or(|(_, known)| reward > known) {
            best = Some((index, reward));
        }
        if worst.is_none_or(|(_, known)| reward < known) {
            worst = Some((index, reward));
        }
    }
    SampleGroup {
        key: samples[range.start].group.clone(),
        task: task.map(|task| task.id.clone()),
        reward: Spread::of(rollouts(own).map(|sample| sample.reward)),
        best: best.map(|(index, _)| index),
        worst: worst.map(|(index, _)| index),
        samples: range,
    }
}

/// Gaps between steps. Trainers that log every tenth step leave none: the smallest distance counts as one step.
fn missing_steps(steps: &[StepSummary]) -> Vec<(i64, i64)> {
    let distances = steps
        .windows(2)
        .map(|pair| pair[1].step.abs_diff(pair[0].step));
    let Some(stride) = distances.min().filter(|stride| *stride > 0) else {
        return Vec::new();
    };
    let gaps = steps.windows(2).filter_map(|pair| {
        let first = pair[0].step.checked_add_unsigned(stride)?;
        let last = pair[1].step.checked_sub_unsigned(stride)?;
        (first < pair[1].step).then(|| (first, last.max(first)))
    });
    gaps.collect()
}

#[cfg(test)]
mod tests {
    use volary_core::json::{Json, Object};
    use volary_core::object;
    use volary_episode::episode::Score;

    use super::*;

    fn row(step: i64, group: i64, sample: i64, reward: Option<f64>) -> Row {
        Row {
            id: format!("{step}-{sample}").into(),
            reward,
            metadata: object!({ "step": step, "group": group, "sample": sample }),
            ending: Some(EndingKind::Done),
            ..Row::default()
        }
    }

    fn score(name: &str, value: impl Into<Json>) -> Score {
        Score {
            name: name.into(),
            value: value.into(),
            explanation: None,
            extras: Object::new(),
        }
    }

    fn run(rows: impl IntoIterator<Item = Row>) -> TrainingRun {
        let rows: Vec<Arc<Row>> = rows.into_iter().map(Arc::new).collect();
        TrainingRun::of(&rows, None)
    }

    #[test]
    fn samples_are_ordered_by_step_group_and_sample() {
        let run = run([
            row(1, 10, 3, Some(0.0)),
            row(1, 9, 10, Some(0.5)),
            row(1, 9, 2, Some(1.0)),
            row(0, 2, 1, Some(0.0)),
        ]);
        let ids: Vec<&str> = run.samples.iter().map(|sample| &*sample.row.id).collect();
        assert_eq!(ids, ["0-1", "1-2", "1-10", "1-3"]);
        let steps: Vec<i64> = run.steps.iter().map(|step| step.step).collect();
        assert_eq!(steps, [0, 1]);
        let group = run.steps[1].group("9").unwrap();
        assert_eq!(
            (group.samples.clone(), group.best, group.worst),
            (1..3, Some(1), Some(2))
        );
        assert_eq!(group.name(), "Group 9");
        assert_eq!(run.range(&Measure::Reward), Some((0.0, 1.0)));
    }

    #[test]
    fn samples_with_equal_names_are_numbered() {
        let run = run([
            row(0, 0, 7, None),
            row(0, 0, 7, None),
            row(0, 0, 8, None),
            row(0, 1, 7, None),
        ]);
        let labels: Vec<String> = run.samples.iter().map(Sample::label).collect();
        assert_eq!(labels, ["7 (1)", "7 (2)", "8", "7"]);
        assert_eq!(run.samples[0].name(true), "Group 0, sample 7 (1)");
    }

    #[test]
    fn groups_without_variance_need_two_rewards() {
        let run = run([
            row(0, 0, 0, Some(0.0)),
            row(0, 0, 1, Some(0.0)),
            row(0, 1, 2, Some(1.0)),
            row(0, 1, 3, None),
            row(0, 2, 4, Some(1.0)),
            row(0, 2, 5, Some(0.0)),
        ]);
        let uniform = run.steps[0].groups.iter().map(SampleGroup::is_uniform);
        assert_eq!(uniform.collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(run.steps[0].uniform_share(), Some(0.5));
        let reward = &run.steps[0].spreads[0];
        assert_eq!(
            (reward.count, reward.missing, reward.mean),
            (5, 1, Some(0.4))
        );
    }

    #[test]
    fn rewards_of_branches_count_once() {
        let branch = |id: &str, reward: f64, turns: usize| Row {
            id: id.into(),
            reward: Some(reward),
            steps: turns,
            metadata: object!({ "step": 0, "group": 0 }),
            ..Row::default()
        };
        let two = run([
            branch("a", 1.0, 1),
            branch("a-branch-2", 1.0, 2),
            branch("a-branch-3", 1.0, 2),
            branch("b", 0.0, 3),
        ]);
        let step = &two.steps[0];
        assert_eq!(step.samples.len(), 4);
        let (of_step, of_group) = (&step.spreads[0], &step.groups[0].reward);
        assert_eq!((of_step.count, of_step.mean), (2, Some(0.5)));
        assert_eq!((of_group.count, of_group.mean), (2, Some(0.5)));
        let turns = two.spread(0, &Measure::Turns).unwrap();
        assert_eq!((turns.count, turns.mean), (4, Some(2.0)));
        // A single rollout has nothing to be compared with.
        let one = run([branch("a", 1.0, 1), branch("a-branch-2", 1.0, 2)]);
        assert!(!one.steps[0].groups[0].is_uniform());
    }

    #[test]
    fn truncated_and_aborted_samples_are_counted() {
        let with = |ending, outcome: &str, sample| Row {
            ending,
            outcome: outcome.into(),
            ..row(0, 0, sample, None)
        };
        let run = run([
            with(Some(EndingKind::Truncated), "max_turns", 0),
            with(Some(EndingKind::Crashed), "aborted", 1),
            // Rows of older versions.
            with(None, "Sample.Status.TRUNCATED", 2),
            with(None, "aborted", 3),
            with(None, "completed", 4),
        ]);
        assert_eq!((run.steps[0].truncated, run.steps[0].aborted), (2, 2));
        assert_eq!(run.steps[0].truncated_share(), 0.4);
    }

    #[test]
    fn without_a_marked_reward_a_part_counts() {
        let with = |sample, parts: Vec<Score>| Row {
            scores: parts,
            ..row(0, 0, sample, None)
        };
        let rows = [
            with(0, vec![score("format", true), score("note", "text")]),
            with(1, vec![score("format", false), score("correct", 1.0)]),
        ];
        let run = run(rows.clone());
        assert_eq!(run.choice, RewardChoice::Part("format".into()));
        assert_eq!(run.steps[0].spreads[0].mean, Some(0.5));
        assert_eq!(
            run.measures,
            [Measure::Reward, Measure::Part("correct".into())]
        );
        assert!(run.has_choice());
        assert_eq!(run.whole_part, None, "no reward is marked");
        let rows: Vec<Arc<Row>> = rows.into_iter().map(Arc::new).collect();
        let other = TrainingRun::of(&rows, Some(RewardChoice::Part("correct".into())));
        let reward = &other.steps[0].spreads[0];
        assert_eq!((reward.mean, reward.missing), (Some(1.0), 1));
    }

    #[test]
    fn the_part_that_counts_is_recognized() {
        let with = |sample, reward: Option<f64>, parts: [f64; 2]| Row {
            scores: vec![score("format", parts[0]), score("total", parts[1])],
            ..row(0, 0, sample, reward)
        };
        let own = run([
            with(0, Some(0.5), [1.0, 0.5]),
            with(1, Some(1.0), [1.0, 1.0]),
            // Nothing is said of a sample without a reward.
            with(2, None, [1.0, 0.0]),
        ]);
        assert_eq!(own.whole_part.as_deref(), Some("total"));
        let other = run([with(0, Some(0.75), [1.0, 0.5])]);
        assert_eq!(other.whole_part, None);
    }

    #[test]
    fn missing_steps_are_gaps_of_the_usual_distance() {
        let steps =
            |steps: &[i64]| run(steps.iter().map(|step| row(*step, 0, 0, None))).missing_steps;
        assert_eq!(steps(&[0, 1, 2, 5, 6, 8]), [(3, 4), (7, 7)]);
        assert_eq!(steps(&[10, 20, 50]), [(30, 40)]);
        assert_eq!(steps(&[3]), []);
        assert_eq!(steps(&[i64::MIN, i64::MAX]), []);
    }

    #[test]
    fn without_a_group_the_task_is_the_group() {
        let with = |sample: i64, task: Option<&str>| Row {
            task: task.map(|id| volary_episode::TaskReference {
                dataset: "d".into(),
                id: id.into(),
            }),
            metadata: object!({ "step": "3", "sample": sample }),
            ..row(3, 0, sample, Some(1.0))
        };
        let run = run([
            with(0, Some("b")),
            with(1, None),
            with(2, Some("b")),
            with(3, None),
        ]);
        let step = &run.steps[0];
        assert_eq!(
            (step.step, step.groups.len(), step.group_count()),
            (3, 2, 1)
        );
        assert_eq!(step.groups[0].name(), "b");
        assert!(step.groups[0].is_uniform());
        assert!(!step.groups[1].is_uniform());
        assert_eq!(step.group("").map(|group| group.samples.len()), Some(2));
    }

    #[test]
    fn lengths_and_shares_need_recorded_tokens() {
        let mut with = row(0, 0, 0, Some(1.0));
        with.recorded_tokens = Some(100);
        with.trained_tokens = Some(25);
        with.token_figures = Some(Box::new(crate::tokens::TokenFigures {
            prompt: 40,
            entropy: Some(0.5),
            ..Default::default()
        }));
        let run = run([with, row(0, 0, 1, Some(0.0))]);
        assert_eq!(
            run.measures,
            [
                Measure::Reward,
                Measure::Length,
                Measure::TrainedShare,
                Measure::Entropy
            ]
        );
        let spread = |measure| run.spread(0, &measure).and_then(|spread| spread.mean);
        assert_eq!(spread(Measure::Length), Some(60.0));
        assert_eq!(spread(Measure::TrainedShare), Some(0.25));
        assert_eq!(spread(Measure::Mismatch), None);
        assert_eq!(
            run.spread(0, &Measure::Entropy)
                .map(|spread| spread.missing),
            Some(1)
        );
    }

    #[test]
    fn twelve_thousand_rows_are_no_problem() {
        let rows = (0..12_800).map(|sample| {
            let reward = f64::from(sample % 7) / 7.0;
            Arc::new(row(
                i64::from(sample / 256),
                i64::from(sample / 16),
                i64::from(sample),
                Some(reward),
            ))
        });
        let run = TrainingRun::of(&rows.collect::<Vec<_>>(), None);
        assert_eq!((run.steps.len(), run.steps[0].groups.len()), (50, 16));
    }
}
