//! Lists the files that may contain trajectories, streaming while the folders are read.
//!
//! A file with the name of a trajectory is listed without being opened. Other files are listed if their first
//! bytes look like a trajectory, so that a folder of checkpoints and pictures does not have to be read.
//!
//! Invariant: only the entries of the folders on the way to the current file are in memory.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::sync::Arc;
use std::vec;

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

/// The lines of a list, in order of the names. Each step looks at one entry, and is `None` if that is not listed: so a
/// thread that reads them can stop anywhere.
pub struct Listing {
    roots: Arc<Roots>,
    /// The roots that follow.
    next: Range<usize>,
    /// The root that is being read.
    number: usize,
    /// The open folders, outermost first.
    open: Vec<OpenFolder>,
}

/// A folder whose entries are listed.
struct OpenFolder {
    folder: Folder,
    /// The path in the root, with a slash at the end unless it is empty.
    within: String,
    depth: usize,
    entries: vec::IntoIter<(OsString, EntryKind)>,
    /// The folders among the entries, which follow the files.
    folders: VecDeque<OsString>,
}

impl Listing {
    /// All files.
    pub fn of(roots: &Arc<Roots>) -> Listing {
        Listing {
            roots: Arc::clone(roots),
            next: 0..roots.iter().count(),
            number: 0,
            open: Vec::new(),
        }
    }

    /// The file at a path in a root, or the files below it. Empty if it is not listed.
    pub fn below(roots: &Arc<Roots>, number: usize, within: &str) -> Vec<ListingLine> {
        let Some(root) = roots.get(number) else {
            return Vec::new();
        };
        if let Ok(file) = roots.open(&format!("{number}/{within}")) {
            let Ok(status) = Status::of(&file) else {
                return Vec::new();
            };
            let is_listed = root.file.is_some()
                || may_hold_trajectories(within, status.bytes, || read_head(file));
            let line = is_listed.then(|| file_line(number, &root.label, within, status));
            return line.into_iter().collect();
        }
        let Some((folder, depth)) = roots.folder(number, within) else {
            return Vec::new();
        };
        let mut listing = Listing {
            roots: Arc::clone(roots),
            next: 0..0,
            number,
            open: Vec::new(),
        };
        let problem = listing.enter(folder, format!("{within}/"), depth + 1);
        problem.into_iter().chain(listing.flatten()).collect()
    }

    /// Starts with the next root.
    fn start(&mut self, number: usize) -> Option<ListingLine> {
        self.number = number;
        let root = self.roots.get(number)?;
        match (root.way.open(), &root.file) {
            (Ok(folder), None) => self.enter(folder, String::new(), 1),
            (Ok(folder), Some(file)) => Some(match folder.status(OsStr::new(file)) {
                Ok(status) if status.kind == EntryKind::File => self.file(file, status),
                Ok(_) => self.problem(file, "it is no longer a file"),
                Err(error) => self.problem(file, &error.to_string()),
            }),
            (Err(error), _) => Some(self.problem("", &error.to_string())),
        }
    }

    /// Starts with a folder. The problem if its entries cannot be read.
    fn enter(&mut self, folder: Folder, within: String, depth: usize) -> Option<ListingLine> {
        match folder.entries() {
            Ok(entries) => {
                self.open.push(OpenFolder {
                    folder,
                    within,
                    depth,
                    entries: entries.into_iter(),
                    folders: VecDeque::new(),
                });
                None
            }
            Err(error) => Some(self.problem(&within, &error.to_string())),
        }
    }

    fn file(&self, within: &str, status: Status) -> ListingLine {
        file_line(self.number, self.label(), within, status)
    }

    fn problem(&self, within: &str, why: &str) -> ListingLine {
        let name = named(self.label(), within);
        let name = match name.as_str() {
            "" => "the folder",
            name => name,
        };
        ListingLine::Problem {
            problem: format!("{name} cannot be read: {why}"),
        }
    }

    fn label(&self) -> &str {
        self.roots.get(self.number).map_or("", |root| &root.label)
    }
}

impl Iterator for Listing {
    type Item = Option<ListingLine>;

    fn next(&mut self) -> Option<Option<ListingLine>> {
        let Some(open) = self.open.last_mut() else {
            let number = self.next.next()?;
            return Some(self.start(number));
        };
        if let Some((name, kind)) = open.entries.next() {
            let Some(shown) = name.to_str() else {
                let within = format!("{}{}", open.within, name.to_string_lossy());
                return Some(Some(self.problem(&within, "its name is not valid Unicode")));
            };
            if !is_shown(shown) {
                return Some(None);
            }
            if kind == EntryKind::Folder {
                open.folders.push_back(name);
                return Some(None);
            }
            let status = open.listed(shown, kind);
            let within = format!("{}{shown}", open.within);
            return Some(status.map(|status| self.file(&within, status)));
        }
        let Some(name) = open.folders.pop_front() else {
            self.open.pop();
            return Some(None);
        };
        let within = format!("{}{}/", open.within, name.to_string_lossy());
        let depth = open.depth + 1;
        if depth > DEEPEST {
            return Some(Some(self.problem(&within, "it lies too deep")));
        }
        Some(match open.folder.folder(&name) {
            Ok(folder) => self.enter(folder, within, depth),
            Err(error) => Some(self.problem(&within, &error.to_string())),
        })
    }
}

impl OpenFolder {
    /// The status of an entry that is listed.
    fn listed(&self, name: &str, kind: EntryKind) -> Option<Status> {
        if kind != EntryKind::File {
            return None;
        }
        let entry = OsStr::new(name);
        // A file that has been deleted meanwhile is not listed.
        let status = self.folder.status(entry).ok()?;
        let look = || self.folder.file(entry).ok().and_then(read_head);
        may_hold_trajectories(name, status.bytes, look).then_some(status)
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
    use std::path::PathBuf;

    use super::*;
    use crate::publish::TestFolder;

    fn found(paths: &[PathBuf]) -> Arc<Roots> {
        Arc::new(Roots::find(paths).unwrap())
    }

    fn listed(roots: &Arc<Roots>) -> (Vec<String>, Vec<String>) {
        let (mut files, mut problems) = (Vec::new(), Vec::new());
        for line in Listing::of(roots).flatten() {
            match line {
                ListingLine::File { path, .. } => files.push(path),
                ListingLine::Problem { problem } => problems.push(problem),
            }
        }
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
        let roots = found(&[all.path("runs")]);
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
            let lines = Listing::below(&roots, 0, within).into_iter();
            let paths = lines.filter_map(|line| match line {
                ListingLine::File { path, .. } => Some(path),
                ListingLine::Problem { .. } => None,
            });
            paths.collect::<Vec<_>>()
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
        let roots = found(&paths);
        let mut names = Vec::new();
        for line in Listing::of(&roots).flatten() {
            if let ListingLine::File { name, path, .. } = line {
                names.push(format!("{name} {path}"));
            }
        }
        let expected = [
            "runs (1)/1.json file/0/1.json",
            "runs (2)/2.json file/1/2.json",
            "c.json file/2/c.json",
        ];
        assert_eq!(names, expected);
        assert_eq!(roots.title(), "3 paths");
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
        let roots = found(&[all.path("runs")]);
        assert_eq!(listed(&roots).0, ["file/0/a.json"]);
        for address in ["0/b.json", "0/c/key.json", "0/d.json", "0/e.json", "0/c"] {
            assert!(roots.open(address).is_err(), "{address}");
        }
        assert!(roots.open("0/a.json").is_ok());
    }
}
