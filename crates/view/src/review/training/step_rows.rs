//! The steps of a run as rows of a table, with those of a second run below them. Pure.

use std::collections::BTreeSet;

use crate::route::TrainingPlace;
use crate::training::{column_decimals, column_text, spread_text};
use volary_analysis::training::{Measure, StepSummary, TrainingRun};
use volary_core::quantity::count_text;

use super::shown_run::ShownRun;

/// The maximum number of steps that are listed.
const MOST_LISTED: usize = 500;

/// The rows of a table of steps, with its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRows {
    /// The titles after the step's own.
    pub columns: Vec<String>,
    pub rows: Vec<StepRow>,
    /// The rewards that bars span, with 0.
    pub range: (f64, f64),
    /// The number of steps that are not listed.
    pub left_out: usize,
}

/// A step of one of the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRow {
    pub name: String,
    /// The address of the step.
    pub href: String,
    /// Whether it is of the second run.
    pub is_beside: bool,
    pub mean_reward: Option<f64>,
    /// The figures in the order of columns: the reward comes first.
    pub figures: Vec<String>,
}

/// A run with what is common to its rows.
struct Side<'a> {
    shown: &'a ShownRun,
    place: TrainingPlace,
    is_beside: bool,
}

impl StepRows {
    /// The rows of a run at a place, next to those of another one.
    pub fn of(shown: &ShownRun, beside: Option<&ShownRun>, here: &TrainingPlace) -> StepRows {
        let own = Side {
            shown,
            place: here.clone(),
            is_beside: false,
        };
        let beside = beside.map(|beside| Side {
            shown: beside,
            // The first run becomes the one to compare with.
            place: TrainingPlace {
                run: beside.id.clone(),
                with: Some(shown.id.clone()),
                ..TrainingPlace::default()
            },
            is_beside: true,
        });
        let sides: Vec<Side<'_>> = std::iter::once(own).chain(beside).collect();
        let runs = || sides.iter().map(|side| &side.shown.run);
        let measures = measures(runs());
        let numbers = runs().flat_map(|run| run.steps.iter().map(|step| step.step));
        let numbers: BTreeSet<i64> = numbers.collect();
        let ranges = runs().filter_map(|run| run.range(&Measure::Reward));
        let range = ranges.fold((0.0_f64, 0.0_f64), |(low, high), (from, to)| {
            (low.min(from), high.max(to))
        });
        let listed = numbers.iter().take(MOST_LISTED);
        let rows = listed.flat_map(|number| {
            let known = sides.iter().filter_map(|side| {
                let at = side.shown.run.index_of(*number)?;
                Some(side.row(at, &measures))
            });
            known.collect::<Vec<_>>()
        });
        StepRows {
            rows: rows.collect(),
            range,
            left_out: numbers.len().saturating_sub(MOST_LISTED),
            columns: {
                let counts = ["Samples", "Groups", "No variance", "Truncated", "Aborted"];
                let first = std::iter::once("Reward").chain(counts).map(str::to_owned);
                let measures = measures.iter().map(|(measure, _)| measure.title());
                first.chain(measures).collect()
            },
        }
    }
}

/// The measures after the reward that some run has, with the number of decimals of their means.
fn measures<'a>(runs: impl Iterator<Item = &'a TrainingRun> + Clone) -> Vec<(Measure, usize)> {
    let mut measures: Vec<Measure> = Vec::new();
    for measure in runs.clone().flat_map(|run| run.measures.iter().skip(1)) {
        if !measures.contains(measure) {
            measures.push(measure.clone());
        }
    }
    let measures = measures.into_iter().map(|measure| {
        let means = runs.clone().flat_map(|run| {
            let steps = 0..run.steps.len().min(MOST_LISTED);
            steps.filter_map(|at| run.spread(at, &measure)?.mean)
        });
        let decimals = column_decimals(means);
        (measure, decimals)
    });
    measures.collect()
}

impl Side<'_> {
    fn row(&self, at: usize, measures: &[(Measure, usize)]) -> StepRow {
        let run = &self.shown.run;
        let step = &run.steps[at];
        let reward = run
            .spread(at, &Measure::Reward)
            .copied()
            .unwrap_or_default();
        let place = TrainingPlace {
            step: Some(step.step),
            ..self.place.clone()
        };
        let means = measures.iter().map(|(measure, decimals)| {
            let mean = run.spread(at, measure).and_then(|spread| spread.mean);
            match mean {
                Some(mean) if !measure.is_share() => column_text(mean, *decimals),
                mean => spread_text(mean, None, measure.is_share()),
            }
        });
        let first = spread_text(reward.mean, reward.deviation, false);
        let counts = counts(step);
        StepRow {
            name: if self.is_beside {
                format!("Step {}, {}", step.step, self.shown.title)
            } else {
                format!("Step {}", step.step)
            },
            href: place.to_hash(),
            is_beside: self.is_beside,
            mean_reward: reward.mean,
            figures: std::iter::once(first).chain(counts).chain(means).collect(),
        }
    }
}

/// The counts of a step. Whether groups of one vary is not known.
fn counts(step: &StepSummary) -> [String; 5] {
    let uniform = step
        .uniform_share()
        .map_or("–".to_owned(), |_| count_text(step.uniform_groups()));
    [
        count_text(step.samples.len()),
        count_text(step.group_count()),
        uniform,
        count_text(step.truncated),
        count_text(step.aborted),
    ]
}

#[cfg(test)]
mod tests {
    use volary_analysis::table::Row;

    use super::super::shown_run::tests::{row, shown};
    use super::*;

    fn figures(rows: &StepRows) -> Vec<(&str, &str, &str)> {
        let rows = rows.rows.iter();
        rows.map(|row| (&*row.name, &*row.figures[0], &*row.figures[3]))
            .collect()
    }

    #[test]
    fn a_run_alone_has_a_row_for_each_step() {
        let run = shown([
            row(1, 0, 0, Some(0.5)),
            row(1, 0, 1, Some(0.5)),
            row(3, 0, 0, Some(-1.0)),
        ]);
        let here = TrainingPlace {
            run: "grpo".to_owned(),
            ..TrainingPlace::default()
        };
        let rows = StepRows::of(&run, None, &here);
        // One sample in a group cannot vary.
        assert_eq!(
            figures(&rows),
            [("Step 1", "0.5 ± 0.0", "1"), ("Step 3", "-1.0", "–")]
        );
        assert_eq!(rows.range, (-1.0, 0.5));
        assert_eq!(rows.rows[1].href, "#/review?run=grpo&step=3");
        assert_eq!(rows.left_out, 0);
    }

    #[test]
    fn steps_of_a_second_run_follow_those_of_the_first() {
        let second = shown(
            [row(2, 0, 0, Some(0.25)), row(3, 0, 0, Some(2.0))].map(|row| Row {
                run: Some("ppo".into()),
                steps: 7,
                ..row
            }),
        );
        let first = shown([row(1, 0, 0, Some(0.5)), row(2, 0, 0, Some(1.0))]);
        let rows = StepRows::of(&first, Some(&second), &TrainingPlace::default());
        let names: Vec<&str> = rows.rows.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["Step 1", "Step 2", "Step 2, ppo", "Step 3, ppo"]);
        assert_eq!(rows.range, (0.0, 2.0));
        let beside = &rows.rows[2];
        assert!(beside.is_beside);
        assert_eq!(beside.href, "#/review?run=ppo&step=2&with=grpo");
        // The turns are known of the second run only.
        assert_eq!(rows.columns.last().map(String::as_str), Some("Turns"));
        assert_eq!(beside.figures.last().map(String::as_str), Some("7.0"));
        let own = rows.rows[1].figures.last();
        assert_eq!(own.map(String::as_str), Some("–"));
    }

    #[test]
    fn a_long_run_is_cut() {
        let most = i64::try_from(MOST_LISTED).expect("a small number");
        let run = shown((0..most + 3).map(|step| row(step, 0, 0, None)));
        let rows = StepRows::of(&run, None, &TrainingPlace::default());
        assert_eq!((rows.rows.len(), rows.left_out), (MOST_LISTED, 3));
    }
}
