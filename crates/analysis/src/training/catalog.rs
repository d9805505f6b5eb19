//! The training runs among the rows of a table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use volary_core::json::Text;

use super::run_name::Origin;
use super::sample::{is_evaluation, step_of};
use crate::table::Row;

/// The rows of a run, or of the evaluations during it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRows {
    /// The name, unique within the catalog.
    pub name: Text,
    /// Whether these are evaluations.
    pub is_evaluation: bool,
    pub rows: Vec<Arc<Row>>,
    /// The number of different steps.
    pub steps: usize,
}

/// The runs of rows, those of training first, each kind in the order of names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    pub runs: Vec<RunRows>,
}

/// Finds runs incrementally.
#[derive(Clone, Debug, Default)]
pub struct CatalogBuilder {
    found: BTreeMap<(bool, Origin), Found>,
    /// The path of the last row and what follows from it: rows of a file are neighbours.
    last: Option<(Text, Origin)>,
    /// The name of a run whose files are in no folder and have no names.
    unnamed: Option<Text>,
}

#[derive(Clone, Debug, Default)]
struct Found {
    rows: Vec<Arc<Row>>,
    steps: BTreeSet<i64>,
}

impl Found {
    fn extend(&mut self, other: Found) {
        self.rows.extend(other.rows);
        self.steps.extend(other.steps);
    }
}

impl CatalogBuilder {
    /// Sets the name of the folder that contains all files, if there is one: their paths do not have it.
    #[must_use]
    pub fn within(mut self, folder: Option<Text>) -> Self {
        self.unnamed = folder.filter(|folder| !folder.trim().is_empty());
        self
    }

    /// Adds a row; one without a step is skipped.
    pub fn add(&mut self, row: &Arc<Row>) {
        let Some(step) = step_of(row) else { return };
        let origin = self.origin(row);
        let key = (is_evaluation(row), origin);
        let found = self.found.entry(key).or_default();
        found.rows.push(Arc::clone(row));
        found.steps.insert(step);
    }

    fn origin(&mut self, row: &Row) -> Origin {
        if let Some(named) = Origin::named(row) {
            return named;
        }
        let path = row.run.clone().unwrap_or_default();
        match &self.last {
            Some((last, origin)) if *last == path => origin.clone(),
            _ => {
                let origin = Origin::of_path(&path);
                self.last = Some((path, origin.clone()));
                origin
            }
        }
    }

    /// Returns the runs. Files of a folder are several runs only if at least two of them have several steps each:
    /// otherwise they are parts of one.
    pub fn done(self) -> Catalog {
        let mut named: BTreeMap<(bool, Text), Found> = BTreeMap::new();
        let mut folders: BTreeMap<(bool, Text), Vec<(Text, Found)>> = BTreeMap::new();
        for ((is_evaluation, origin), found) in self.found {
            match origin {
                Origin::Named(name) => {
                    named
                        .entry((is_evaluation, name))
                        .or_default()
                        .extend(found);
                }
                Origin::File { folder, stem } => {
                    folders
                        .entry((is_evaluation, folder))
                        .or_default()
                        .push((stem, found));
                }
            }
        }
        for ((is_evaluation, folder), files) in folders {
            let is_several = files
                .iter()
                .filter(|(_, found)| found.steps.len() > 1)
                .count()
                > 1;
            let only = match files.as_slice() {
                [(stem, _)] => Some(stem.clone()),
                _ => None,
            };
            for (stem, found) in files {
                let name = match (is_several, folder.is_empty()) {
                    (true, true) => stem,
                    (true, false) if stem.is_empty() => folder.clone(),
                    (true, false) => format!("{folder}/{stem}").into(),
                    (false, true) => only.clone().unwrap_or_default(),
                    (false, false) => folder.clone(),
                };
                let name = if name.is_empty() {
                    self.unnamed.clone().unwrap_or_else(|| "Run".into())
                } else {
                    name
                };
                named
                    .entry((is_evaluation, name))
                    .or_default()
                    .extend(found);
            }
        }
        let runs = named
            .into_iter()
            .map(|((is_evaluation, name), found)| RunRows {
                name,
                is_evaluation,
                steps: found.steps.len(),
                rows: found.rows,
            });
        Catalog {
            runs: runs.collect(),
        }
    }
}

impl Catalog {
    /// The catalog of rows, found at once.
    pub fn of(rows: &[Arc<Row>]) -> Catalog {
        Catalog::within(None, rows)
    }

    /// The catalog of rows whose files are all in this folder.
    pub fn within(folder: Option<Text>, rows: &[Arc<Row>]) -> Catalog {
        let mut builder = CatalogBuilder::default().within(folder);
        rows.iter().for_each(|row| builder.add(row));
        builder.done()
    }

    /// The run with this id.
    pub fn run(&self, id: &str) -> Option<&RunRows> {
        self.runs.iter().find(|run| run.id() == id)
    }

    /// The run that a row belongs to.
    pub fn run_with(&self, row: &str) -> Option<&RunRows> {
        let has = |run: &&RunRows| run.rows.iter().any(|known| *known.id == *row);
        self.runs.iter().find(has)
    }

    /// The run to show first: the one of training with the most steps.
    pub fn first(&self) -> Option<&RunRows> {
        let worth = |run: &&RunRows| (!run.is_evaluation, run.steps, run.rows.len());
        // Of equal ones, the first.
        self.runs.iter().rev().max_by_key(worth)
    }
}

impl RunRows {
    /// The id in addresses: the name, with a sign before it for evaluations.
    pub fn id(&self) -> String {
        if self.is_evaluation {
            format!("eval:{}", self.name)
        } else {
            self.name.to_string()
        }
    }

    /// The name for display.
    pub fn title(&self) -> String {
        if self.is_evaluation {
            format!("{} (evaluation)", self.name)
        } else {
            self.name.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    fn row(id: &str, path: &str, step: i64) -> Arc<Row> {
        Arc::new(Row {
            id: id.into(),
            run: Some(path.into()),
            metadata: object!({ "step": step }),
            ..Row::default()
        })
    }

    fn names(rows: &[Arc<Row>]) -> Vec<(String, usize, usize)> {
        let catalog = Catalog::of(rows);
        let runs = catalog.runs.iter();
        runs.map(|run| (run.id(), run.rows.len(), run.steps))
            .collect()
    }

    #[test]
    fn files_of_steps_are_one_run() {
        let rows = [
            row("a", "slime/rollout_data/0.pt", 0),
            row("b", "slime/rollout_data/1.pt", 1),
            row("c", "slime/rollout_data/1.pt", 1),
        ];
        assert_eq!(names(&rows), [("slime".to_owned(), 3, 2)]);
    }

    #[test]
    fn files_with_several_steps_each_are_several_runs() {
        let rows = [
            row("a", "one.jsonl", 0),
            row("b", "one.jsonl", 1),
            row("c", "two.jsonl", 0),
            row("d", "two.jsonl", 1),
        ];
        assert_eq!(
            names(&rows),
            [("one".to_owned(), 2, 2), ("two".to_owned(), 2, 2)]
        );
        assert_eq!(names(&rows[..3]), [("Run".to_owned(), 3, 2)]);
        assert_eq!(names(&rows[..2]), [("one".to_owned(), 2, 2)]);
    }

    #[test]
    fn a_run_at_the_root_has_the_name_of_its_folder() {
        let rows = [row("a", "0.pt", 0), row("b", "rollout_data/1.pt", 1)];
        assert_eq!(names(&rows), [("Run".to_owned(), 2, 2)]);
        let name = |folder: &str, rows: &[Arc<Row>]| {
            let catalog = Catalog::within(Some(folder.into()), rows);
            catalog.runs[0].id()
        };
        assert_eq!(name("desk-grpo", &rows), "desk-grpo");
        assert_eq!(name(" ", &rows), "Run");
        // Files and folders with names of their own keep them.
        assert_eq!(name("runs", &[row("a", "desk/0.pt", 0)]), "desk");
        assert_eq!(name("runs", &[row("a", "desk.jsonl", 0)]), "desk");
    }

    #[test]
    fn evaluations_are_apart_and_other_rows_are_skipped() {
        let mut evaluation = Row::clone(&row("b", "slime/eval_0.pt", 0));
        evaluation.metadata.insert("split", "eval");
        let rows = [
            row("a", "slime/0.pt", 0),
            Arc::new(evaluation),
            Arc::new(Row::default()),
        ];
        let catalog = Catalog::of(&rows);
        let ids: Vec<String> = catalog.runs.iter().map(RunRows::id).collect();
        assert_eq!(ids, ["slime", "eval:slime"]);
        assert_eq!(catalog.first().map(RunRows::id).as_deref(), Some("slime"));
        assert_eq!(
            catalog.run_with("b").map(RunRows::title).as_deref(),
            Some("slime (evaluation)")
        );
        assert_eq!(Catalog::of(&[]).first(), None);
    }
}
