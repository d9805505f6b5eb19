//! What the row of an episode says about it as a sample of a training run.

use std::collections::BTreeSet;
use std::sync::Arc;

use volary_core::json::{Json, Object, Text};
use volary_episode::episode::EndingKind;

use super::measure::Measure;
use super::run::RewardChoice;
use crate::table::token_column::{TokenColumn, policies};
use crate::table::{RolloutOf, Row};

/// A sample: an episode at a step of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub row: Arc<Row>,
    pub step: i64,
    /// The group within the step: its number or id in the file, otherwise the task. `None` if the file names neither.
    pub group: Option<Text>,
    /// The reward that counts. It may be NaN; `None` if there is none.
    pub reward: Option<f64>,
    /// Its number among the samples of its group that have the same name, from 1; 0 if there are no others. Samples that were
    /// cut from one rollout have its index.
    pub namesake: usize,
}

/// The training step of a row; `None` if it is no sample of a training run.
pub fn step_of(row: &Row) -> Option<i64> {
    step_of_metadata(&row.metadata)
}

/// The training step in the metadata of an episode.
pub fn step_of_metadata(metadata: &Object) -> Option<i64> {
    let number = |key: &str| {
        let value = metadata.get(key)?;
        match value {
            Json::Text(text) => text.parse().ok(),
            value => value.as_i64().or_else(|| {
                let number = value.as_f64()?;
                (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
            }),
        }
    };
    number("step").or_else(|| number("iteration"))
}

/// Whether a row is of an evaluation during training.
pub fn is_evaluation(row: &Row) -> bool {
    evaluation(row).is_some()
}

/// The name of the evaluation that a row is of: `gsm8k` for the split `eval/gsm8k`, empty for `eval`. `None` if it is of
/// none.
fn evaluation(row: &Row) -> Option<&str> {
    let split = row.metadata.get("split")?.as_text()?;
    let (word, name) = split.split_once(['/', '_', '-']).unwrap_or((split, ""));
    matches!(word, "eval" | "val" | "validation" | "test").then_some(name)
}

impl Sample {
    /// The sample of a row; `None` without a step.
    pub fn of(row: &Arc<Row>, choice: &RewardChoice) -> Option<Sample> {
        let step = step_of(row)?;
        let group = row.metadata.get("group").filter(|group| !group.is_null());
        // Groups are numbered from 0 in each evaluation of a step.
        let evaluation = evaluation(row).filter(|name| !name.is_empty());
        let group = group.map(|group| match evaluation {
            Some(name) => format!("{name} {}", group.to_display()).into(),
            None => Text::from(group.to_display()),
        });
        let task = row.task.as_ref().map(|task| task.id.clone());
        let reward = match choice {
            RewardChoice::Whole => row.reward,
            RewardChoice::Part(name) => part(row, name),
        };
        Some(Sample {
            row: Arc::clone(row),
            step,
            group: group.or(task).filter(|group| !group.is_empty()),
            reward,
            namesake: 0,
        })
    }

    /// The number or id in its file, otherwise the name of the episode. A name that is only the one of the task is replaced
    /// by the start of the id, which tells samples of a group apart. Those with equal names are numbered.
    pub fn label(&self) -> String {
        match self.namesake {
            0 => self.own_name(),
            number => format!("{} ({number})", self.own_name()),
        }
    }

    /// The label without a number that tells it apart.
    pub(super) fn own_name(&self) -> String {
        /// The number of characters of an id that are shown.
        const SHOWN: usize = 8;
        let row = &self.row;
        let sample = row.metadata.get("sample");
        if let Some(sample) = sample.filter(|sample| !sample.is_null()) {
            return sample.to_display();
        }
        let task = row.task.as_ref().map_or("", |task| &*task.id);
        match row.name.strip_prefix(task) {
            Some(rest) if !task.is_empty() => {
                let id: String = row.rollout().id.chars().take(SHOWN).collect();
                format!("{id}{rest}")
            }
            _ if row.name.trim().is_empty() => row.id.to_string(),
            _ => row.name.to_string(),
        }
    }

    /// The label to show, with its group if that has a short name: "Group 4, sample 9".
    pub fn name(&self, with_group: bool) -> String {
        /// The longest name of a group that is a number or an id, in characters. Others are whole prompts.
        const LONGEST: usize = 12;
        let label = self.label();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let group = self.group.as_deref().unwrap_or_default();
        let is_short = !group.is_empty() && group.chars().count() <= LONGEST;
        let has_group = with_group && is_short;
        let sample = match (is_number(&self.own_name()), has_group) {
            (true, true) => format!("sample {label}"),
            (true, false) => format!("Sample {label}"),
            (false, _) => label,
        };
        match has_group {
            true if is_number(group) => format!("Group {group}, {sample}"),
            true => format!("{group}, {sample}"),
            false => sample,
        }
    }

    /// The value of a measure. NaN is a value; `None` is none.
    pub fn value(&self, measure: &Measure) -> Option<f64> {
        let row = &self.row;
        match measure {
            Measure::Reward => self.reward,
            Measure::Part(name) => part(row, name),
            Measure::Length => TokenColumn::Response.value(row),
            Measure::Turns => (row.steps > 0).then_some(row.steps as f64),
            Measure::TrainedShare => TokenColumn::TrainedShare.value(row),
            Measure::Entropy => TokenColumn::Entropy.value(row),
            Measure::Divergence => TokenColumn::Divergence.value(row),
            Measure::Mismatch => TokenColumn::Mismatch.value(row),
        }
    }

    /// The lowest and the highest advantage: of its tokens, otherwise the one of the sample.
    pub fn advantage(&self) -> Option<(f64, f64)> {
        let figures = self.row.token_figures.as_deref();
        let of_tokens = figures.and_then(|figures| figures.advantage);
        of_tokens.or_else(|| {
            let value = self.row.metadata.get("advantage")?.as_f64()?;
            Some((value, value))
        })
    }

    /// How it ended. Rows of older versions say it in the term of their source only.
    pub fn ending(&self) -> EndingKind {
        if let Some(ending) = self.row.ending {
            return ending;
        }
        let outcome = self.row.outcome.to_lowercase();
        match outcome.rsplit('.').next().unwrap_or_default() {
            "truncated" | "length" => EndingKind::Truncated,
            "aborted" | "failed" | "crashed" | "error" | "timeout" => EndingKind::Crashed,
            "done" | "completed" | "stop" => EndingKind::Done,
            _ => EndingKind::Open,
        }
    }

    /// The number of policies that it was sampled from; `None` if the file does not say.
    pub fn policies(&self) -> Option<usize> {
        policies(&self.row)
    }
}

/// The samples without those that are a further branch of the same rollout.
pub(super) fn rollouts(samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    let mut seen = BTreeSet::new();
    samples.iter().filter(move |sample| {
        let RolloutOf { id, branch } = sample.row.rollout();
        // Ids of other samples need not be unique.
        seen.insert((sample.row.run.as_deref(), id)) || branch == Some(1)
    })
}

/// A numeric score of a row. A truth value counts as 1 or 0.
pub(super) fn part(row: &Row, name: &str) -> Option<f64> {
    let score = row.scores.iter().find(|score| *score.name == *name)?;
    number(&score.value)
}

pub(super) fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Bool(flag) => Some(f64::from(u8::from(*flag))),
        value => value.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;
    use volary_episode::TaskReference;

    use super::*;

    #[test]
    fn labels_tell_samples_of_a_task_apart() {
        let label = |id: &str, name: &str, sample: Json| {
            let row = Row {
                id: id.into(),
                name: name.into(),
                task: Some(TaskReference {
                    dataset: "d".into(),
                    id: "air-5".into(),
                }),
                metadata: object!({ "step": 0, "sample": sample }),
                ..Row::default()
            };
            let sample = Sample::of(&Arc::new(row), &RewardChoice::Whole).unwrap();
            (sample.label(), sample.row.rollout().id.into_owned())
        };
        let pair = |label: &str, rollout: &str| (label.to_owned(), rollout.to_owned());
        assert_eq!(
            label("66049489ceb8-branch-2", "air-5, branch 2", Json::Null),
            pair("66049489, branch 2", "66049489ceb8")
        );
        assert_eq!(label("e", "a name", Json::Null), pair("a name", "e"));
        assert_eq!(label("e", "", Json::Null), pair("e", "e"));
        assert_eq!(label("e", "air-5", 7.into()), pair("7", "e"));
    }

    #[test]
    fn splits_may_name_an_evaluation() {
        let of = |split: &str| {
            let row = Row {
                metadata: object!({ "iteration": 7, "group": 2, "split": split }),
                ..Row::default()
            };
            let is_evaluation = is_evaluation(&row);
            let sample = Sample::of(&Arc::new(row), &RewardChoice::Whole).unwrap();
            (is_evaluation, sample.group.unwrap().to_string())
        };
        for (split, expected, group) in [
            ("train", false, "2"),
            ("eval", true, "2"),
            ("eval/gsm8k", true, "gsm8k 2"),
            ("val_math", true, "math 2"),
            ("test-hard", true, "hard 2"),
            ("evaluated", false, "2"),
            ("train/eval", false, "2"),
        ] {
            assert_eq!(of(split), (expected, group.to_owned()), "{split}");
        }
    }

    #[test]
    fn names_say_what_the_numbers_are() {
        let name = |group: Json, sample: Json, with_group: bool| {
            let row = Row {
                name: "a name".into(),
                metadata: object!({ "step": 0, "group": group, "sample": sample }),
                ..Row::default()
            };
            Sample::of(&Arc::new(row), &RewardChoice::Whole)
                .unwrap()
                .name(with_group)
        };
        assert_eq!(name(4.into(), 9.into(), true), "Group 4, sample 9");
        assert_eq!(name(4.into(), 9.into(), false), "Sample 9");
        assert_eq!(name("air-5".into(), Json::Null, true), "air-5, a name");
        let long = "How many boxes are in the shed?";
        assert_eq!(name(long.into(), 9.into(), true), "Sample 9");
        assert_eq!(name(Json::Null, 9.into(), true), "Sample 9");
    }
}
