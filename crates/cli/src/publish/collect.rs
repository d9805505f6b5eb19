//! Collects the files of a folder to publish. Symbolic links are not followed: their targets may be anywhere.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::recognition::{looks_like_dump, looks_like_trajectory, read_head};

/// The files of a folder: relative paths with slashes, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The published files, with their sizes in bytes.
    pub files: Vec<(String, u64)>,
    /// Files that do not look like trajectories; in `files` as well with `--all`.
    others: Vec<String>,
    /// Symbolic links, pipes and the like, which are never published.
    links: Vec<String>,
}

impl Collected {
    /// Lists a folder recursively, except for names that begin with a dot.
    pub fn of(folder: &Path, all: bool) -> Result<Collected> {
        let mut collected = Collected::default();
        let mut open = vec![(folder.to_owned(), String::new())];
        while let Some((path, within)) = open.pop() {
            let unreadable = || format!("cannot read {}", path.display());
            for entry in fs::read_dir(&path).with_context(unreadable)? {
                let entry = entry.with_context(unreadable)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with('.') {
                    continue;
                }
                let inside = format!("{within}{name}");
                // The metadata of the entry itself, not of a link's target.
                let data = entry.metadata().with_context(unreadable)?;
                if data.is_dir() {
                    open.push((entry.path(), format!("{inside}/")));
                } else if data.is_file() {
                    let head = || read_head(fs::File::open(entry.path()).ok()?);
                    let is_dump = || head().is_some_and(|head| looks_like_dump(&head));
                    let is_other = !looks_like_trajectory(&name) && !is_dump();
                    if is_other {
                        collected.others.push(inside.clone());
                    }
                    if all || !is_other {
                        collected.files.push((inside, data.len()));
                    }
                } else {
                    collected.links.push(inside);
                }
            }
        }
        collected.files.sort();
        collected.others.sort();
        collected.links.sort();
        Ok(collected)
    }

    /// The names of files that are not published.
    pub fn left_out(&self, all: bool) -> impl Iterator<Item = &String> {
        let others: &[String] = if all { &[] } else { &self.others };
        self.links.iter().chain(others)
    }

    /// The report for the user before publishing.
    pub fn report(&self, all: bool) -> String {
        let mut report = String::new();
        let mut list = |title: &str, names: &[String]| {
            if !names.is_empty() {
                // Writing to a string cannot fail. Names are quoted, because they may contain anything.
                let _ = writeln!(report, "{title}");
                for name in names {
                    let _ = writeln!(report, "  {name:?}");
                }
            }
        };
        list("Not published, because they are links:", &self.links);
        let title = if all {
            "These do not look like trajectories and are published too, because of --all:"
        } else {
            "Not published, because they do not look like trajectories (--all includes them):"
        };
        list(title, &self.others);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::super::TestFolder;
    use super::*;

    fn names(collected: &Collected) -> Vec<&str> {
        collected.files.iter().map(|(name, _)| &**name).collect()
    }

    #[test]
    fn other_files_are_listed_and_published_only_when_asked_for() {
        let files = ["runs/a.json", "runs/b/C.EVAL", "runs/id_rsa", "runs/.env"];
        let folder = TestFolder::with("others", &files);
        let usual = Collected::of(&folder.path("runs"), false).unwrap();
        assert_eq!(names(&usual), ["a.json", "b/C.EVAL"]);
        let sizes: Vec<u64> = usual.files.iter().map(|(_, bytes)| *bytes).collect();
        assert_eq!(sizes, [11, 13]);
        let report = usual.report(false);
        assert!(
            report.contains("Not published") && report.contains("\"id_rsa\""),
            "{report}"
        );
        fs::write(folder.path("runs/7.pt"), b"\x80\x02}(X\x0a\0\0\0rollout_id").unwrap();
        fs::write(folder.path("runs/model.pt"), b"\x80\x02}(X\x05\0\0\0layer").unwrap();
        let dumps = Collected::of(&folder.path("runs"), false).unwrap();
        assert_eq!(names(&dumps), ["7.pt", "a.json", "b/C.EVAL"]);
        fs::remove_file(folder.path("runs/7.pt")).unwrap();
        fs::remove_file(folder.path("runs/model.pt")).unwrap();
        let all = Collected::of(&folder.path("runs"), true).unwrap();
        assert_eq!(names(&all), ["a.json", "b/C.EVAL", "id_rsa"]);
        let report = all.report(true);
        assert!(
            report.contains("are published too") && report.contains("\"id_rsa\""),
            "{report}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_and_reported() {
        use std::os::unix::fs::symlink;
        let folder = TestFolder::with("links", &["runs/a.json", "secret/key.json"]);
        symlink(folder.path("secret/key.json"), folder.path("runs/b.json")).unwrap();
        symlink(folder.path("secret"), folder.path("runs/c")).unwrap();
        symlink(folder.path("nowhere"), folder.path("runs/d.json")).unwrap();
        for all in [false, true] {
            let collected = Collected::of(&folder.path("runs"), all).unwrap();
            assert_eq!(names(&collected), ["a.json"]);
            let report = collected.report(all);
            for name in ["b.json", "c", "d.json"] {
                assert!(report.contains(&format!("  {name:?}\n")), "{report}");
            }
        }
    }
}
