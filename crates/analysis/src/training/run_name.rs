//! The run that a row belongs to: from the metadata of its source, otherwise from the path of its file.
//!
//! A folder is a run. Folders and files that are named for steps, ranks and kinds of data belong to the folder above
//! them.

use volary_core::json::{Json, Text};

use crate::table::Row;

/// Words that name a kind of data or where it is, and no run.
const GENERIC: [&str; 38] = [
    "annotations",
    "batch",
    "batches",
    "chunk",
    "completion",
    "completions",
    "data",
    "dump",
    "dumped",
    "dumps",
    "effective",
    "epoch",
    "episode",
    "episodes",
    "eval",
    "evals",
    "export",
    "exports",
    "file",
    "global",
    "iteration",
    "jsonl",
    "logs",
    "monitors",
    "rank",
    "results",
    "rollout",
    "rollouts",
    "sample",
    "samples",
    "step",
    "stream",
    "summaries",
    "token",
    "traces",
    "train",
    "val",
    "validation",
];

/// Where a row comes from, as far as it distinguishes runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The run that the source names.
    Named(Text),
    /// A file: its folder, and what remains of its name.
    File { folder: Text, stem: Text },
}

impl Origin {
    /// The run that the source of a row names.
    pub(super) fn named(row: &Row) -> Option<Origin> {
        let run = row.metadata.get("run").filter(|run| !run.is_null())?;
        let name = match run {
            Json::Object(run) => run.get("name").or_else(|| run.get("id"))?,
            other => other,
        };
        let name = name.to_display();
        (!name.is_empty()).then(|| Origin::Named(name.into()))
    }

    pub(super) fn of_path(path: &str) -> Origin {
        let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folders: Vec<&str> = folders.split('/').filter(|name| !name.is_empty()).collect();
        while folders
            .last()
            .is_some_and(|name| remainder(name).is_empty())
        {
            folders.pop();
        }
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        Origin::File {
            folder: folders.join("/").into(),
            stem: remainder(stem).into(),
        }
    }
}

/// A name without numbers and generic words: `train_data_step7` leaves nothing.
fn remainder(name: &str) -> String {
    let is_separator = |sign: char| matches!(sign, '_' | '-' | '.' | ' ');
    let words = name.split(is_separator);
    let kept = words.filter(|word| {
        let word = word.to_ascii_lowercase();
        let word = word.trim_end_matches(|sign: char| sign.is_ascii_digit());
        !word.is_empty() && !GENERIC.contains(&word)
    });
    let kept: Vec<&str> = kept.collect();
    if kept.is_empty() {
        String::new()
    } else {
        // The numbers stay in the name of a run: they may tell it from another one.
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use volary_core::object;

    use super::*;

    fn origin(path: &str) -> (String, String) {
        match Origin::of_path(path) {
            Origin::File { folder, stem } => (folder.to_string(), stem.to_string()),
            Origin::Named(name) => (name.to_string(), String::new()),
        }
    }

    #[test]
    fn folders_of_steps_belong_to_the_folder_above() {
        for (path, folder, stem) in [
            ("slime/rollout_data/0.pt", "slime", ""),
            ("slime/rollout_data/eval_2.pt", "slime", ""),
            ("nemo-rl/train_data_step1.jsonl", "nemo-rl", ""),
            ("prime/rollouts/step_1/rank_0.bin", "prime", ""),
            (
                "tinker/iteration_000001/train_rollout_summaries.jsonl",
                "tinker",
                "",
            ),
            (
                "open/desk_grpo_rollouts_000000.jsonl",
                "open",
                "desk_grpo_rollouts_000000",
            ),
            ("7.jsonl", "", ""),
            ("run-7.jsonl", "", "run-7"),
        ] {
            assert_eq!(origin(path), (folder.to_owned(), stem.to_owned()), "{path}");
        }
    }

    #[test]
    fn a_source_may_name_its_run() {
        let row = Row {
            run: Some("a/b.jsonl".into()),
            metadata: object!({ "run": { "id": "run-1", "name": "desk" } }),
            ..Row::default()
        };
        assert_eq!(Origin::named(&row), Some(Origin::Named("desk".into())));
    }
}
