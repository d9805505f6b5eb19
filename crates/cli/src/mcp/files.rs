//! The files below the paths of the command, as they are on disk, and which of them are read together.
//!
//! The rules are those of `inputs`: hidden names and links in folders are skipped, the small files of a folder are read
//! together, and so are the two files of a pair. Here they decide what is read again after a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use volary_formats::import::together;

use crate::inputs::TOGETHER;

/// What changes whenever a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// The files, with their stamps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, Stamp>);

impl Files {
    /// Lists the files below paths.
    ///
    /// # Errors
    /// If a path or a folder cannot be read.
    pub fn list(paths: &[PathBuf]) -> Result<Files> {
        let mut files = Files::default();
        for path in paths {
            let data = path
                .metadata()
                .with_context(|| format!("cannot read {}", path.display()))?;
            if data.is_dir() {
                files.add_folder(path)?;
            } else {
                files.add(path.clone(), &data);
            }
        }
        Ok(files)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<()> {
        let unreadable = || format!("cannot read {}", folder.display());
        for entry in fs::read_dir(folder).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            // A file that was deleted meanwhile is no error.
            let Ok(data) = entry.metadata() else {
                continue;
            };
            if data.is_dir() {
                self.add_folder(&entry.path())?;
            } else if data.is_file() {
                self.add(entry.path(), &data);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: PathBuf, data: &fs::Metadata) {
        let stamp = Stamp {
            bytes: data.len(),
            modified: data.modified().ok(),
        };
        self.0.insert(path, stamp);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file that a name in a report means: the file itself, or the archive that contains it.
    pub fn holding(&self, name: &str) -> Option<&Path> {
        let mut paths = Path::new(name).ancestors();
        paths.find_map(|path| self.0.get_key_value(path).map(|(path, _)| path.as_path()))
    }

    /// The files that were added, changed or removed since `earlier`.
    pub fn changed_since(&self, earlier: &Files) -> BTreeSet<PathBuf> {
        let differs = |one: &Files, other: &Files| {
            let differing = one
                .0
                .iter()
                .filter(|(path, stamp)| other.0.get(*path) != Some(*stamp));
            differing
                .map(|(path, _)| path.clone())
                .collect::<BTreeSet<_>>()
        };
        let mut changed = differs(self, earlier);
        changed.extend(differs(earlier, self));
        changed
    }

    /// The files that exist and have to be read to read one of these.
    pub fn read_with(&self, wanted: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let homes: BTreeSet<PathBuf> = wanted.iter().map(|path| home(path)).collect();
        let mut members: BTreeMap<&PathBuf, (u64, Vec<&PathBuf>)> = BTreeMap::new();
        let all: Vec<(PathBuf, &PathBuf, u64)> = self
            .0
            .iter()
            .map(|(path, stamp)| (home(path), path, stamp.bytes))
            .collect();
        for (folder, path, bytes) in &all {
            if homes.contains(folder) {
                let (sum, paths) = members.entry(folder).or_default();
                *sum += bytes;
                paths.push(path);
            }
        }
        let mut read = BTreeSet::new();
        for (bytes, paths) in members.into_values() {
            let others: BTreeSet<PathBuf> = wanted.iter().filter_map(|path| other(path)).collect();
            let is_read = |path: &&&PathBuf| {
                bytes <= TOGETHER || wanted.contains(**path) || others.contains(**path)
            };
            read.extend(paths.iter().filter(is_read).map(|path| (*path).clone()));
        }
        read
    }
}

/// The folder whose files are read together with this one.
fn home(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(path) => together::home(path).into(),
        None => path.parent().unwrap_or(Path::new("")).to_owned(),
    }
}

/// The other file of a pair.
fn other(path: &Path) -> Option<PathBuf> {
    together::other_of(path.to_str()?).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(sizes: &[(&str, u64)]) -> Files {
        let files = sizes.iter().map(|(path, bytes)| {
            let stamp = Stamp {
                bytes: *bytes,
                modified: None,
            };
            (PathBuf::from(path), stamp)
        });
        Files(files.collect())
    }

    fn set(paths: &[&str]) -> BTreeSet<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn changes_are_found() {
        let before = files(&[("r/a", 1), ("r/b", 1), ("r/c", 1)]);
        let after = files(&[("r/a", 1), ("r/b", 2), ("r/d", 1)]);
        assert_eq!(after.changed_since(&before), set(&["r/b", "r/c", "r/d"]));
        assert!(after.changed_since(&after).is_empty());
    }

    #[test]
    fn small_folders_are_read_as_a_whole_and_large_ones_by_file() {
        let small = files(&[("r/a", 1), ("r/b", 1), ("s/c", 1)]);
        assert_eq!(small.read_with(&set(&["r/a"])), set(&["r/a", "r/b"]));
        // A removed file may have been a part of what the others contain.
        assert_eq!(small.read_with(&set(&["r/gone"])), set(&["r/a", "r/b"]));
        let large = files(&[
            ("r/rollout_data/1.pt", TOGETHER),
            ("r/rollout_data/2.pt", 1),
            ("r/train_data/1.pt", 1),
        ]);
        assert_eq!(
            large.read_with(&set(&["r/train_data/1.pt"])),
            set(&["r/rollout_data/1.pt", "r/train_data/1.pt"])
        );
    }

    #[test]
    fn a_name_in_an_archive_belongs_to_the_archive() {
        let files = files(&[("r/a.zip", 1)]);
        assert_eq!(files.holding("r/a.zip/b.json"), Some(Path::new("r/a.zip")));
        assert_eq!(files.holding("r/b"), None);
    }
}
