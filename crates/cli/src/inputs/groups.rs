//! The files that are read together: those of a folder, and of folders of trainers that belong to each other.
//!
//! A trainer divides its data among folders: what was sampled and what became of it, traces and their annotations. Only files
//! that are read together are joined.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::TOGETHER;

/// Files that are read together.
pub(super) struct Group {
    /// The folder that the user named, or the folder of the file that the user named.
    pub root: PathBuf,
    /// Paths relative to the root. Formats may use them: an absolute path would look like one that leaves its archive.
    pub files: Vec<PathBuf>,
    /// Those that the user named themselves, instead of their folder.
    pub named: BTreeSet<PathBuf>,
    /// Their size.
    pub bytes: u64,
}

impl Group {
    /// A path as the user would type it.
    pub fn shown(&self, name: &str) -> String {
        match name {
            "" => String::new(),
            name => self.root.join(name).to_string_lossy().into_owned(),
        }
    }
}

/// The files under paths, those of a folder in one group unless they are large.
pub(super) fn groups(paths: &[PathBuf]) -> Result<Vec<Group>> {
    let mut folders: BTreeMap<(PathBuf, PathBuf), Vec<(PathBuf, u64)>> = BTreeMap::new();
    let mut named = BTreeSet::new();
    for path in paths {
        let data = path
            .metadata()
            .with_context(|| format!("cannot read {}", path.display()))?;
        if data.is_dir() {
            let (root, within) = above(path);
            collect(&root, &within, &mut folders)?;
        } else if let (true, Some(name)) = (data.is_file(), path.file_name()) {
            let (root, within) = above(path.parent().unwrap_or(Path::new("")));
            let name = within.join(name);
            named.insert(root.join(&name));
            let files = folders.entry((root, home(&within))).or_default();
            files.push((name, data.len()));
        } else {
            bail!("{} is not a file", path.display());
        }
    }
    let mut groups = Vec::new();
    for ((root, _), mut files) in folders {
        files.sort();
        files.dedup();
        let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        let parts = if bytes <= TOGETHER {
            vec![files]
        } else {
            pairs(files)
        };
        groups.extend(parts.into_iter().map(|files| {
            let bytes = files.iter().map(|(_, bytes)| bytes).sum();
            let files: Vec<PathBuf> = files.into_iter().map(|(path, _)| path).collect();
            let is_named = |path: &&PathBuf| named.contains(&root.join(path));
            Group {
                root: root.clone(),
                named: files.iter().filter(is_named).cloned().collect(),
                files,
                bytes,
            }
        }));
    }
    Ok(groups)
}

/// The folders of slime's dumps of the same steps.
const DUMPS: [&str; 2] = ["rollout_data", "train_data"];
/// The folders of prime-rl's traces, those that were trained on and all of them.
const COPIES: [&str; 2] = ["all", "effective"];
/// The folder of prime-rl's traces and their annotations, and what is in it.
const TRACES: &str = "traces";
const BELOW_TRACES: [&str; 2] = ["stream", "annotations"];

/// The folders of EvalScope's predictions and of their reviews. Each has a folder for each model.
const SAMPLES: [&str; 2] = ["predictions", "reviews"];

/// The last part of a path; empty if it is not text.
fn name_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// Whether a folder of a run is named like that of a step: `step_4`.
fn is_step(name: &str) -> bool {
    name.strip_prefix("step_")
        .is_some_and(|step| step.parse::<u64>().is_ok())
}

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    names.contains(&name_of(path))
}

/// The folder whose files are read together with those of a folder.
fn home(folder: &Path) -> PathBuf {
    if is_one_of(folder, &DUMPS) {
        return folder.parent().unwrap_or(folder).to_owned();
    }
    if is_one_of(folder, &COPIES) {
        // `step_4/train/all`: a trace may be in `effective` of a later step.
        let mut above = folder.ancestors().skip(1);
        let next_to_it = above.next().unwrap_or(folder);
        let step = above.find(|above| is_step(name_of(above)));
        return step.and_then(Path::parent).unwrap_or(next_to_it).to_owned();
    }
    if let Some(samples) = folder.parent()
        && is_one_of(samples, &SAMPLES)
    {
        return samples.parent().unwrap_or(samples).to_owned();
    }
    let mut above = folder.ancestors().skip(1).zip(folder.ancestors());
    let traces =
        above.find(|(above, below)| is_one_of(above, &[TRACES]) && is_one_of(below, &BELOW_TRACES));
    traces.map_or(folder, |(traces, _)| traces).to_owned()
}

/// A folder that the user named, divided so that files of a folder next to it can be read with its own, and that its name is
/// part of theirs if it says the step of the run or the kind of the data.
fn above(folder: &Path) -> (PathBuf, PathBuf) {
    if let (Some(samples), Some(model)) = (folder.parent(), folder.file_name())
        && is_one_of(samples, &SAMPLES)
        && let Some(run) = samples.parent()
    {
        return (run.to_owned(), Path::new(name_of(samples)).join(model));
    }
    match (folder.parent(), folder.file_name()) {
        (Some(parent), Some(name)) if says_place(name) => (parent.to_owned(), name.into()),
        (_, None) => above_unnamed(folder).unwrap_or_else(|| (folder.to_owned(), PathBuf::new())),
        _ => (folder.to_owned(), PathBuf::new()),
    }
}

/// Like [`above`], for a path without the name of its folder, such as `.`. The empty path is the working directory.
fn above_unnamed(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let real = Path::new(".").join(folder).canonicalize().ok()?;
    let name = real.file_name().filter(|name| says_place(name))?;
    Some((folder.join(".."), name.into()))
}

/// Whether the name of a folder says where in a run its files belong: the step, or the kind of the data.
fn says_place(name: &OsStr) -> bool {
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
    let name = name.to_str().unwrap_or_default();
    // Such as `eval_3`.
    let kind = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '_');
    name.contains("step_")
        || name.contains("iteration_")
        || DUMPS.contains(&name)
        || COPIES.contains(&name)
        || KINDS.contains(&kind)
}

/// Divides the files of a large group: each is read separately, except for two of the same step, rollout and training
/// dump, or both copies of traces, and for predictions with their reviews.
fn pairs(files: Vec<(PathBuf, u64)>) -> Vec<Vec<(PathBuf, u64)>> {
    let mut parts: Vec<Vec<(PathBuf, u64)>> = Vec::new();
    let mut places: BTreeMap<PathBuf, usize> = BTreeMap::new();
    // Both firsts are sorted before their seconds.
    for (path, bytes) in files {
        let place = first_of(&path).and_then(|first| places.get(&first));
        match place.and_then(|place| parts.get_mut(*place)) {
            Some(part) => part.push((path, bytes)),
            None => {
                places.insert(path.clone(), parts.len());
                parts.push(vec![(path, bytes)]);
            }
        }
    }
    parts
}

/// The file that is read together with this one: the rollout dump of a training dump, all traces of a step for those that
/// were trained on, the predictions of reviews.
fn first_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let [predictions, reviews] = SAMPLES;
    if let (Some(samples), Some(model)) = (folder.parent(), folder.file_name())
        && is_one_of(samples, &[reviews])
    {
        let folder = samples.parent()?.join(predictions).join(model);
        return Some(folder.join(path.file_name()?));
    }
    let [first, _] = [DUMPS, COPIES]
        .into_iter()
        .find(|[_, second]| is_one_of(folder, &[second]))?;
    Some(folder.parent()?.join(first).join(path.file_name()?))
}

/// Collects the files of a folder below a root, recursively.
fn collect(
    root: &Path,
    within: &Path,
    folders: &mut BTreeMap<(PathBuf, PathBuf), Vec<(PathBuf, u64)>>,
) -> Result<()> {
    let folder = root.join(within);
    let unreadable = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(&folder).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // The metadata of the entry itself, not of a link's target.
        let data = entry.metadata().with_context(unreadable)?;
        if data.is_dir() {
            collect(root, &within.join(name), folders)?;
        } else if data.is_file() {
            let folder = (root.to_owned(), home(within));
            let files = folders.entry(folder).or_default();
            files.push((within.join(name), data.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_trainers_belong_together() {
        let cases = [
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
        ];
        for (folder, expected) in cases {
            assert_eq!(home(Path::new(folder)), Path::new(expected), "{folder}");
        }
        let named = above(Path::new("/run/train_data"));
        assert_eq!(named, (PathBuf::from("/run"), PathBuf::from("train_data")));
        assert_eq!(above(Path::new("/run")).1, PathBuf::new());
        let (root, within) = above(Path::new("/run/reviews/model-a"));
        assert_eq!(root, Path::new("/run"));
        assert_eq!(within, Path::new("reviews/model-a"));
        assert_eq!(above(Path::new("/trains-of-my-test")).1, PathBuf::new());
        assert_eq!(above(Path::new("/run/eval_3")).1, PathBuf::from("eval_3"));
        let steps = above(Path::new("run/val_step_10_epoch_2")).1;
        assert_eq!(steps, PathBuf::from("val_step_10_epoch_2"));
    }

    #[test]
    fn a_path_without_a_name_has_that_of_its_folder() {
        let run = std::env::temp_dir().join(format!("volary-groups-{}", std::process::id()));
        let step = run.join("val_step_10_epoch_2");
        fs::create_dir_all(&step).unwrap();
        for (folder, expected) in [
            (step.join("../val_step_10_epoch_2/."), true),
            (step.join(".."), false),
        ] {
            let (root, within) = above(&folder);
            assert_eq!(within == Path::new("val_step_10_epoch_2"), expected);
            assert_eq!(
                root.join(&within).canonicalize().unwrap(),
                folder.canonicalize().unwrap()
            );
        }
        fs::remove_dir_all(&run).unwrap();
    }

    #[test]
    fn the_files_of_a_step_stay_together_in_a_large_run() {
        let names = [
            "1/train/all/traces.jsonl",
            "1/train/effective/traces.jsonl",
            "2/train/effective/traces.jsonl",
            "predictions/m/b.jsonl",
            "reviews/m/a.jsonl",
            "reviews/m/b.jsonl",
            "rollout_data/1.pt",
            "rollout_data/2.pt",
            "rollout_data/eval_1.pt",
            "train_data/1.pt",
            "train_data/3.pt",
        ];
        let parts = pairs(names.map(|name| (PathBuf::from(name), 9)).into());
        let parts = parts.into_iter();
        let parts: Vec<Vec<PathBuf>> = parts
            .map(|part| part.into_iter().map(|(path, _)| path).collect())
            .collect();
        let expected: [&[&str]; 8] = [
            &["1/train/all/traces.jsonl", "1/train/effective/traces.jsonl"],
            &["2/train/effective/traces.jsonl"],
            &["predictions/m/b.jsonl", "reviews/m/b.jsonl"],
            &["reviews/m/a.jsonl"],
            &["rollout_data/1.pt", "train_data/1.pt"],
            &["rollout_data/2.pt"],
            &["rollout_data/eval_1.pt"],
            &["train_data/3.pt"],
        ];
        let expected = expected.map(|part| part.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(parts, expected);
    }
}
