//! Lists the files that may contain trajectories, streaming while the folders are read.
//!
//! A file with the name of a trajectory is listed without being opened. Other files are listed if their first
//! bytes look like a trajectory, so that a folder of checkpoints and pictures does not have to be read.
//!
//! Invariant: only the names of the current file's ancestors are in memory.

use std::ffi::OsStr;

use serde::Serialize;

use super::beneath::{EntryKind, Folder, Status};
use super::roots::{DEEPEST, Roots, is_shown};
use crate::recognition::{looks_like_dump, looks_like_trajectory, read_head};

/// A larger archive without the extension of one is assumed to be a model's checkpoint, not a log.
const LARGEST_UNNAMED: u64 = 256 << 20;

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ListingLine {
    File {
        /// The displayed path.
        name: String,
        /// The address, relative to `/api/`.
        path: String,
        /// In bytes.
        bytes: u64,
        /// The time of the last modification, in milliseconds since 1970.
        modified: i64,
    },
    /// A file or folder could not be read.
    Problem {
        /// The error message for the user.
        problem: String,
    },
}

/// The reader of the list has disconnected.
#[derive(Debug)]
pub struct Unread;

/// Passes all files to a function, sorted by name.
pub fn list(
    roots: &Roots,
    each: &mut dyn FnMut(ListingLine) -> Result<(), Unread>,
) -> Result<(), Unread> {
    for (number, root) in roots.iter() {
        let mut walk = Walk {
            number,
            label: &root.label,
            each,
        };
        match (Folder::root(&root.folder), &root.file) {
            (Ok(folder), None) => walk.folder(&folder, "", 1)?,
            (Ok(folder), Some(file)) => match folder.status(OsStr::new(file)) {
                Ok(status) => walk.file(file, status)?,
                Err(error) => walk.problem(file, &error.to_string())?,
            },
            (Err(error), _) => walk.problem("", &error.to_string())?,
        }
    }
    Ok(())
}

/// Passes the file at a path in a root, or the files below it, to a function. Does nothing if it is not listed.
pub fn below(
    roots: &Roots,
    number: usize,
    within: &str,
    each: &mut dyn FnMut(ListingLine) -> Result<(), Unread>,
) -> Result<(), Unread> {
    let Some((_, root)) = roots.iter().nth(number) else {
        return Ok(());
    };
    let label = &root.label;
    if let Ok(file) = roots.open(&format!("{number}/{within}")) {
        let Ok(status) = Status::of(&file) else {
            return Ok(());
        };
        let is_listed =
            root.file.is_some() || may_hold_trajectories(within, status.bytes, || read_head(file));
        return match is_listed {
            true => each(file_line(number, label, within, status)),
            false => Ok(()),
        };
    }
    match roots.folder(number, within) {
        Some((folder, depth)) => {
            let mut walk = Walk {
                number,
                label,
                each,
            };
            walk.folder(&folder, &format!("{within}/"), depth + 1)
        }
        None => Ok(()),
    }
}

struct Walk<'a> {
    number: usize,
    label: &'a str,
    each: &'a mut dyn FnMut(ListingLine) -> Result<(), Unread>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder, within: &str, depth: usize) -> Result<(), Unread> {
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => return self.problem(within, &error.to_string()),
        };
        let mut folders = Vec::new();
        for (name, kind) in entries {
            let Some(shown) = name.to_str() else {
                self.problem(
                    &format!("{within}{}", name.to_string_lossy()),
                    "its name is not valid Unicode",
                )?;
                continue;
            };
            if !is_shown(shown) {
                continue;
            }
            match kind {
                EntryKind::Folder => folders.push(name),
                EntryKind::File => {
                    // A file that has been deleted meanwhile is not listed.
                    let Ok(status) = folder.status(&name) else {
                        continue;
                    };
                    let look = || folder.file(&name).ok().and_then(read_head);
                    if may_hold_trajectories(shown, status.bytes, look) {
                        self.file(&format!("{within}{shown}"), status)?;
                    }
                }
                EntryKind::Link | EntryKind::Other => {}
            }
        }
        for name in folders {
            let below = format!("{within}{}/", name.to_string_lossy());
            if depth == DEEPEST {
                self.problem(&below, "it lies too deep")?;
                continue;
            }
            match folder.folder(&name) {
                Ok(folder) => self.folder(&folder, &below, depth + 1)?,
                Err(error) => self.problem(&below, &error.to_string())?,
            }
        }
        Ok(())
    }

    fn file(&mut self, within: &str, status: Status) -> Result<(), Unread> {
        (self.each)(file_line(self.number, self.label, within, status))
    }

    fn problem(&mut self, within: &str, why: &str) -> Result<(), Unread> {
        let name = named(self.label, within);
        let name = match name.as_str() {
            "" => "the folder",
            name => name,
        };
        (self.each)(ListingLine::Problem {
            problem: format!("{name} cannot be read: {why}"),
        })
    }
}

fn file_line(number: usize, label: &str, within: &str, status: Status) -> ListingLine {
    ListingLine::File {
        name: named(label, within),
        path: format!("file/{number}/{within}"),
        bytes: status.bytes,
        modified: i64::try_from(status.modified / 1_000_000).unwrap_or(0),
    }
}

/// The displayed path of a file, unique among all roots.
pub fn named(label: &str, within: &str) -> String {
    match (label, within) {
        ("", within) => within.to_owned(),
        (label, "") => label.to_owned(),
        (label, within) => format!("{label}/{within}"),
    }
}

/// Whether a file is listed. `look` reads its head, if its name is not sufficient.
fn may_hold_trajectories(name: &str, bytes: u64, look: impl FnOnce() -> Option<Vec<u8>>) -> bool {
    if looks_like_trajectory(name) {
        return true;
    }
    let Some(head) = look() else { return false };
    let head = head.as_slice();
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    let is_packed = [b"PK\x03\x04".as_slice(), b"\x1f\x8b", b"\x28\xb5\x2f\xfd"]
        .iter()
        .any(|mark| head.starts_with(mark))
        || head.get(257..262) == Some(b"ustar");
    matches!(first, Some(b'{' | b'['))
        || is_packed && bytes <= LARGEST_UNNAMED
        || looks_like_dump(head)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::publish::TestFolder;

    fn listed(roots: &Roots) -> (Vec<String>, Vec<String>) {
        let (mut files, mut problems) = (Vec::new(), Vec::new());
        list(roots, &mut |line| {
            match line {
                ListingLine::File { path, .. } => files.push(path),
                ListingLine::Problem { problem } => problems.push(problem),
            }
            Ok(())
        })
        .unwrap();
        (files, problems)
    }

    #[test]
    fn files_are_recognised_by_name_or_content() {
        let all = TestFolder::with(
            "view-list",
            &[
                "runs/a.jsonl",
                "runs/.hidden/b.json",
                "runs/.c.json",
                "runs/z.png",
            ],
        );
        fs::write(all.path("runs/log"), " \n{\"messages\": []}").unwrap();
        fs::write(all.path("runs/packed"), "PK\x03\x04").unwrap();
        fs::write(all.path("runs/empty"), "").unwrap();
        fs::create_dir_all(all.path("runs/deep/er")).unwrap();
        fs::write(all.path("runs/deep/er/x y#?.traj"), "").unwrap();
        let roots = Roots::find(&[all.path("runs")]).unwrap();
        let (files, problems) = listed(&roots);
        assert_eq!(
            files,
            [
                "file/0/a.jsonl",
                "file/0/log",
                "file/0/packed",
                "file/0/deep/er/x y#?.traj"
            ]
        );
        assert!(problems.is_empty(), "{problems:?}");
        let below = |within: &str| {
            let mut paths = Vec::new();
            below(&roots, 0, within, &mut |line| {
                if let ListingLine::File { path, .. } = line {
                    paths.push(path);
                }
                Ok(())
            })
            .unwrap();
            paths
        };
        assert_eq!(below("log"), ["file/0/log"]);
        assert_eq!(below("deep"), ["file/0/deep/er/x y#?.traj"]);
        for other in [
            "z.png",
            "empty",
            ".c.json",
            ".hidden",
            "absent",
            "../runs/log",
            "",
        ] {
            assert!(below(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn dumps_of_any_size_are_listed_and_other_large_archives_are_not() {
        let huge = LARGEST_UNNAMED + 1;
        for (name, head, expected) in [
            ("completions_00010.parquet", b"".as_slice(), true),
            (
                "7.pt",
                b"PK\x03\x04\x00\x00 0/data.pkl \0}q rollout_id",
                true,
            ),
            (
                "model.pt",
                b"PK\x03\x04\x00\x00 0/data.pkl \0}q model.layers",
                false,
            ),
        ] {
            let look = || Some(head.to_vec());
            assert_eq!(may_hold_trajectories(name, huge, look), expected, "{name}");
        }
    }

    #[test]
    fn roots_are_distinguished() {
        let all = TestFolder::with("view-roots", &["a/runs/1.json", "b/runs/2.json", "c.json"]);
        let paths = [
            all.path("a/runs"),
            all.path("b/runs"),
            all.path("c.json"),
            all.path("a/runs"),
        ];
        let roots = Roots::find(&paths).unwrap();
        let mut names = Vec::new();
        list(&roots, &mut |line| {
            if let ListingLine::File { name, path, .. } = line {
                names.push(format!("{name} {path}"));
            }
            Ok(())
        })
        .unwrap();
        let expected = [
            "runs (1)/1.json file/0/1.json",
            "runs (2)/2.json file/1/2.json",
            "c.json file/2/c.json",
        ];
        assert_eq!(names, expected);
        assert_eq!(roots.title(), "3 paths");
    }

    #[test]
    fn an_unread_list_ends() {
        let all = TestFolder::with("view-unread", &["runs/a.json", "runs/b.json"]);
        let roots = Roots::find(&[all.path("runs")]).unwrap();
        let mut count = 0;
        let ended = list(&roots, &mut |_| {
            count += 1;
            Err(Unread)
        });
        assert!(ended.is_err() && count == 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_not_listed_or_opened() {
        use std::os::unix::fs::symlink;
        let all = TestFolder::with("view-links", &["runs/a.json", "secret/key.json"]);
        symlink(all.path("secret/key.json"), all.path("runs/b.json")).unwrap();
        symlink(all.path("secret"), all.path("runs/c")).unwrap();
        symlink(all.path("runs/a.json"), all.path("runs/d.json")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(all.path("runs/e.json"))
            .status();
        assert!(made.unwrap().success());
        let roots = Roots::find(&[all.path("runs")]).unwrap();
        assert_eq!(listed(&roots).0, ["file/0/a.json"]);
        for address in ["0/b.json", "0/c/key.json", "0/d.json", "0/e.json", "0/c"] {
            assert!(roots.open(address).is_err(), "{address}");
        }
        assert!(roots.open("0/a.json").is_ok());
    }
}
