//! Which files belong together, by their names: the page and the command group files by these rules.
//!
//! A trainer divides its data among folders: what was sampled and what became of it, traces and their annotations. Only
//! files that are read together are joined.
//!
//! Files of Volary's own format are read one by one ([`is_read_alone`]): their episodes do not name their file. A file that is
//! large by [`super::index::is_large`] is read in pieces, alone too, unless it is one of a pair.
//!
//! Names are relative paths with `/`. Invariant: of the two files of a pair, the first is sorted before the second.

use volary_episode::native;

/// The folders of slime's dumps of the same steps.
const DUMPS: [&str; 2] = ["rollout_data", "train_data"];
/// The folders of prime-rl's traces, all of them and those that were trained on.
const COPIES: [&str; 2] = ["all", "effective"];
/// The folder of prime-rl's traces and their annotations, and what is in it.
const TRACES: &str = "traces";
const BELOW_TRACES: [&str; 2] = ["stream", "annotations"];
/// The folders of EvalScope's predictions and of their reviews. Each has a folder for each model.
const SAMPLES: [&str; 2] = ["predictions", "reviews"];

/// The folder whose files are read together with a file.
pub fn home(name: &str) -> &str {
    trial(name).unwrap_or_else(|| home_of_folder(split(name).0))
}

/// The folder of the trial of Terminal-Bench that a recording, a screen or a log of a turn belongs to.
fn trial(name: &str) -> Option<&str> {
    let (folder, file) = split(name);
    let (around, own) = split(folder);
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| file.ends_with(ending));
    match own {
        "sessions" if ends_with(&[".cast", ".log"]) => Some(around),
        "panes" if ends_with(&[".txt"]) => Some(around),
        _ if own.starts_with("episode-") && split(around).1 == "agent-logs" => {
            Some(split(around).0)
        }
        _ => None,
    }
}

fn home_of_folder(folder: &str) -> &str {
    let (parent, name) = split(folder);
    if DUMPS.contains(&name) {
        return parent;
    }
    if COPIES.contains(&name) {
        // `step_4/train/all`: a trace may be in `effective` of a later step.
        let step = above(folder).find(|above| is_step(split(above).1));
        return step.map_or(parent, |step| split(step).0);
    }
    if SAMPLES.contains(&split(parent).1) {
        return split(parent).0;
    }
    let mut below = folder;
    for above in above(folder) {
        if split(above).1 == TRACES && BELOW_TRACES.contains(&split(below).1) {
            return above;
        }
        below = above;
    }
    folder
}

/// The file that is read together with this one and precedes it: the rollout dump of a training dump, all traces of a step
/// for those that were trained on, the predictions of reviews.
pub fn first_of(name: &str) -> Option<String> {
    in_other_folder(name, 1, 0)
}

/// The other file of a pair, whichever this one is.
pub fn other_of(name: &str) -> Option<String> {
    first_of(name).or_else(|| in_other_folder(name, 0, 1))
}

/// Whether a file may be the first of a pair.
pub fn is_first(name: &str) -> bool {
    in_other_folder(name, 0, 1).is_some()
}

/// Whether a file has traces of prime-rl, all of a step or those that were trained on.
pub fn is_copy(name: &str) -> bool {
    COPIES.contains(&split(split(name).0).1)
}

/// Whether a file has samples of EvalScope, predictions or their reviews.
pub fn is_sample(name: &str) -> bool {
    let model = split(name).0;
    SAMPLES.contains(&split(split(model).0).1)
}

/// Whether a folder has one folder for each model, and its name says what the files in these are.
pub fn has_models(name: &str) -> bool {
    SAMPLES.contains(&name)
}

/// Whether a file is in Volary's own format, by its first bytes.
pub fn is_read_alone(bytes: &[u8]) -> bool {
    const HEAD: usize = 200;
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    memchr::memmem::find(head, native::FORMAT.as_bytes()).is_some()
}

/// Whether the name of a folder says where in a run its files belong: the step, or the kind of the data.
pub fn says_run_position(name: &str) -> bool {
    const KINDS: [&str; 8] = [
        "eval",
        "evals",
        "evaluation",
        "rollouts",
        "train",
        "val",
        "valid",
        "validation",
    ];
    // Such as `eval_3`.
    let kind = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '_');
    name.contains("step_")
        || name.contains("iteration_")
        || DUMPS.contains(&name)
        || COPIES.contains(&name)
        || KINDS.contains(&kind)
}

/// The name of the file in the other folder of a pair of folders.
fn in_other_folder(name: &str, from: usize, to: usize) -> Option<String> {
    let (folder, file) = split(name);
    let (around, own) = split(folder);
    let other = |pair: &[&'static str; 2]| (pair[from] == own).then_some(pair[to]);
    if let Some(other) = [DUMPS, COPIES].iter().find_map(other) {
        return Some(joined(around, &[other, file]));
    }
    // `reviews/MODEL/DATASET.jsonl`: the folder of a model is between.
    let (around, samples) = split(around);
    (SAMPLES[from] == samples).then(|| joined(around, &[SAMPLES[to], own, file]))
}

/// A path without its last part, and that part.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn joined(around: &str, parts: &[&str]) -> String {
    let parts = parts.join("/");
    if around.is_empty() {
        parts
    } else {
        format!("{around}/{parts}")
    }
}

/// The folders above a folder, from the inside.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        folder.rsplit_once('/').map(|(parent, _)| parent)
    })
    .skip(1)
}

/// Whether a folder of a run is named like that of a step: `step_4`.
fn is_step(name: &str) -> bool {
    name.strip_prefix("step_")
        .is_some_and(|step| step.parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_trainers_belong_together() {
        for (folder, expected) in [
            ("run/rollout_data", "run"),
            ("run/train_data", "run"),
            ("rollout_data", ""),
            ("step_1/train/effective", ""),
            ("run/rollouts/step_1/train/all", "run/rollouts"),
            ("mine/all", "mine"),
            ("file/traces/stream", "file/traces"),
            ("file/traces/annotations/trainer", "file/traces"),
            ("file/traces", "file/traces"),
            ("file/traces/other", "file/traces/other"),
            ("run/predictions/model-a", "run"),
            ("reviews/model-a", ""),
            ("run/predictions", "run/predictions"),
            ("", ""),
        ] {
            let file = joined(folder, &["file.jsonl"]);
            assert_eq!(home(&file), expected, "{folder}");
        }
    }

    #[test]
    fn recordings_belong_to_their_trial() {
        for (file, expected) in [
            ("run/count/1-of-1/sessions/agent.cast", "run/count/1-of-1"),
            ("sessions/agent.log", ""),
            ("trial/panes/post-agent.txt", "trial"),
            ("trial/agent-logs/episode-0/prompt.txt", "trial"),
            ("trial/results.json", "trial"),
            // Sessions of other agents.
            ("agent/sessions/2026.jsonl", "agent/sessions"),
            ("mine/episode-0/prompt.txt", "mine/episode-0"),
        ] {
            assert_eq!(home(file), expected, "{file}");
        }
    }

    #[test]
    fn episodes_of_the_own_format_are_read_alone() {
        let own = format!("{{\"format\": \"{}\"}}", native::FORMAT);
        assert!(is_read_alone(own.as_bytes()) && !is_read_alone(b"{}"));
        assert!(!is_read_alone(
            &[vec![b' '; 200], own.into_bytes()].concat()
        ));
    }

    #[test]
    fn files_of_a_pair_have_the_same_name() {
        for (first, second) in [
            ("run/rollout_data/3.pt", "run/train_data/3.pt"),
            ("rollout_data/3.pt", "train_data/3.pt"),
            ("1/train/all/traces.jsonl", "1/train/effective/traces.jsonl"),
            ("run/predictions/m/b.jsonl", "run/reviews/m/b.jsonl"),
            ("predictions/m/b.jsonl", "reviews/m/b.jsonl"),
        ] {
            assert!(first < second);
            assert_eq!(first_of(second).as_deref(), Some(first));
            assert_eq!(first_of(first), None);
            assert_eq!(other_of(first).as_deref(), Some(second));
            assert_eq!(other_of(second).as_deref(), Some(first));
            assert!(is_first(first) && !is_first(second));
        }
        for none in [
            "3.pt",
            "run/my_train_data/3.pt",
            "train_data/deep/3.pt",
            "reviews/b.jsonl",
            "predictions/m/deep/b.jsonl",
        ] {
            assert_eq!(other_of(none), None, "{none}");
        }
        assert!(is_copy("1/train/all/traces.jsonl") && !is_copy("run/reviews/m/b.jsonl"));
        assert!(is_sample("run/reviews/m/b.jsonl") && !is_sample("rollout_data/3.pt"));
    }
}
