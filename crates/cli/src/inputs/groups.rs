//! The files that are read together: those of a folder, and those of other folders that belong to them, as [`together`]
//! says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use volary_formats::import::together;

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
    let mut folders: BTreeMap<(PathBuf, String), Vec<(PathBuf, u64)>> = BTreeMap::new();
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
            let home = together::home(&slashed(&name)).to_owned();
            let files = folders.entry((root, home)).or_default();
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

/// The last part of a path; empty if it is not text.
fn name_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// A relative path with `/`, as [`together`] has them.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// A folder that the user named, divided so that files of a folder next to it can be read with its own, and that its name is
/// part of theirs if it says the step of the run or the kind of the data.
fn above(folder: &Path) -> (PathBuf, PathBuf) {
    if let (Some(samples), Some(model)) = (folder.parent(), folder.file_name())
        && together::has_models(name_of(samples))
        && let Some(run) = samples.parent()
    {
        return (run.to_owned(), Path::new(name_of(samples)).join(model));
    }
    match (folder.parent(), folder.file_name()) {
        (Some(parent), Some(_)) if together::says_run_position(name_of(folder)) => {
            (parent.to_owned(), name_of(folder).into())
        }
        (_, None) => above_unnamed(folder).unwrap_or_else(|| (folder.to_owned(), PathBuf::new())),
        _ => (folder.to_owned(), PathBuf::new()),
    }
}

/// Like [`above`], for a path without the name of its folder, such as `.`. The empty path is the working directory.
fn above_unnamed(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let real = Path::new(".").join(folder).canonicalize().ok()?;
    let name = Some(name_of(&real)).filter(|name| together::says_run_position(name))?;
    Some((folder.join(".."), name.into()))
}

/// Divides the files of a large group: each is read separately, except for two of the same step, rollout and training
/// dump, or both copies of traces, and for predictions with their reviews.
fn pairs(files: Vec<(PathBuf, u64)>) -> Vec<Vec<(PathBuf, u64)>> {
    let mut parts: Vec<Vec<(PathBuf, u64)>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (path, bytes) in files {
        let name = slashed(&path);
        let place = together::first_of(&name).and_then(|first| places.get(&first));
        match place.and_then(|place| parts.get_mut(*place)) {
            Some(part) => part.push((path, bytes)),
            None => {
                places.insert(name, parts.len());
                parts.push(vec![(path, bytes)]);
            }
        }
    }
    parts
}

/// Collects the files of a folder below a root, recursively.
fn collect(
    root: &Path,
    within: &Path,
    folders: &mut BTreeMap<(PathBuf, String), Vec<(PathBuf, u64)>>,
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
            let file = within.join(name);
            let home = together::home(&slashed(&file)).to_owned();
            let files = folders.entry((root.to_owned(), home)).or_default();
            files.push((file, data.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_folder_belongs_to_its_files() {
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
