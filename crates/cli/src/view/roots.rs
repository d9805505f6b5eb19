//! The shown files and folders, and the addresses of the files in them.
//!
//! The address of a file is the index of its root and its path in it: `0/deep/a.json`.
//!
//! Invariants: an address refers to a file that was given on the command line, or a file in such a folder. Hidden names
//! and links below the folder have no address. A root that is replaced by a link meanwhile is not read.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::beneath::{Folder, RootFolder};

/// The maximum depth of listed folders.
pub const DEEPEST: usize = 64;

/// The paths given on the command line.
pub struct Roots(Vec<Root>);

/// A file or a folder.
pub struct Root {
    /// The folder, or the parent folder of the file. Canonical. Only its name counts: it is opened through `way`.
    pub folder: PathBuf,
    /// The way to the folder.
    pub way: Arc<RootFolder>,
    /// The name of the file; `None` if the whole folder is shown.
    pub file: Option<String>,
    /// The prefix of displayed paths, unique among the roots; empty if there is only one.
    pub label: String,
}

impl Roots {
    /// Resolves paths, and checks that they can be read.
    pub fn find(paths: &[PathBuf]) -> Result<Roots> {
        let mut roots: Vec<Root> = Vec::new();
        for path in paths {
            let unreadable = || format!("cannot read {}", path.display());
            // A link given on the command line is followed.
            let real = path.canonicalize().with_context(unreadable)?;
            let data = real.metadata().with_context(unreadable)?;
            let way = |folder: &Path| {
                let way = RootFolder::find(folder).with_context(unreadable)?;
                anyhow::Ok(Arc::new(way))
            };
            let root = if data.is_dir() {
                let way = way(&real)?;
                way.open()
                    .and_then(|folder| folder.entries())
                    .with_context(unreadable)?;
                Root {
                    file: None,
                    label: name_of(&real),
                    folder: real,
                    way,
                }
            } else if let (true, Some(folder)) = (data.is_file(), real.parent()) {
                let Some(name) = real.file_name().and_then(OsStr::to_str) else {
                    bail!("the name of {} is not valid Unicode", path.display());
                };
                let way = way(folder)?;
                way.open()
                    .and_then(|folder| folder.file(OsStr::new(name)))
                    .with_context(unreadable)?;
                Root {
                    folder: folder.to_owned(),
                    way,
                    file: Some(name.to_owned()),
                    label: String::new(),
                }
            } else {
                bail!("{} is neither a file nor a folder", path.display());
            };
            if !roots
                .iter()
                .any(|known| (&known.folder, &known.file) == (&root.folder, &root.file))
            {
                roots.push(root);
            }
        }
        let names: Vec<String> = roots.iter().map(|root| root.label.clone()).collect();
        for (number, root) in roots.iter_mut().enumerate() {
            let is_taken = |name: &String| *name == root.label;
            match (
                names.len(),
                names.iter().filter(|name| is_taken(name)).count(),
            ) {
                (1, _) => root.label.clear(),
                (_, 1) => {}
                _ if root.file.is_some() => {}
                _ => root.label = format!("{} ({})", root.label, number + 1),
            }
        }
        Ok(Roots(roots))
    }

    /// The root with an index.
    pub fn get(&self, number: usize) -> Option<&Root> {
        self.0.get(number)
    }

    /// All roots with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Root)> {
        self.0.iter().enumerate()
    }

    /// Whether no path was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The default title of the library.
    pub fn title(&self) -> String {
        match self.0.as_slice() {
            [] => "Trajectories".to_owned(),
            [root] => root.file.clone().unwrap_or_else(|| name_of(&root.folder)),
            roots => format!("{} paths", roots.len()),
        }
    }

    /// Opens the file at an address.
    pub fn open(&self, address: &str) -> io::Result<File> {
        let Some((root, names)) = self.resolve(address) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut folder = root.way.open()?;
        let Some((file, folders)) = names.split_last() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        for name in folders {
            folder = folder.folder(OsStr::new(name))?;
        }
        folder.file(OsStr::new(file))
    }

    /// Opens a folder in a root, and returns its depth; `None` if it is not shown.
    pub fn folder(&self, number: usize, within: &str) -> Option<(Folder, usize)> {
        let address = format!("{number}/{within}");
        let (root, names) = self
            .resolve(&address)
            .filter(|(root, _)| root.file.is_none())?;
        let mut folder = root.way.open().ok()?;
        for name in &names {
            folder = folder.folder(OsStr::new(name)).ok()?;
        }
        Some((folder, names.len()))
    }

    /// The roots that contain a path of the file system, with the relative path in each, if it is shown.
    pub fn within(&self, path: &Path) -> Vec<(usize, String)> {
        let roots = self.iter().filter_map(|(number, root)| {
            let names = path.strip_prefix(&root.folder).ok()?.components();
            let names: Option<Vec<&str>> = names.map(|name| name.as_os_str().to_str()).collect();
            let within = names?.join("/");
            self.resolve(&format!("{number}/{within}"))?;
            Some((number, within))
        });
        roots.collect()
    }

    /// The root of an address and the path segments below it; `None` if the address is invalid.
    fn resolve<'a>(&self, address: &'a str) -> Option<(&Root, Vec<&'a str>)> {
        let (number, path) = address.split_once('/')?;
        let place: usize = number.parse().ok()?;
        let root = self.0.get(place).filter(|_| place.to_string() == number)?;
        let names: Vec<&str> = path.split('/').collect();
        let is_shown = match &root.file {
            // It may be a hidden name: it was given on the command line.
            Some(file) => names == [file.as_str()],
            None => names.len() <= DEEPEST && names.iter().all(|name| is_shown(name)),
        };
        is_shown.then_some((root, names))
    }
}

/// Whether a name in a folder is shown.
pub fn is_shown(name: &str) -> bool {
    // `.`, `..` and hidden names start with a dot. Backslashes and colons are separators on Windows only.
    let is_separator = |letter| letter == '\0' || cfg!(windows) && matches!(letter, '\\' | ':');
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['/'])
        && !name.contains(is_separator)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn roots() -> Roots {
        // Nothing is opened.
        let way = Arc::new(RootFolder::find(Path::new("/")).unwrap());
        let root = |folder: &str, file: Option<&str>| Root {
            folder: folder.into(),
            way: Arc::clone(&way),
            file: file.map(str::to_owned),
            label: String::new(),
        };
        Roots(vec![root("/runs", None), root("/logs", Some(".a.json"))])
    }

    #[test]
    fn an_address_names_what_is_shown() {
        let roots = roots();
        let found = |address| {
            roots
                .resolve(address)
                .map(|(root, names)| (root.folder.clone(), names.join("|")))
        };
        let is = |folder: &str, names: &str| Some((folder.into(), names.to_owned()));
        assert_eq!(found("0/a.json"), is("/runs", "a.json"));
        assert_eq!(
            found("0/deep er/ü?#%2e.json"),
            is("/runs", "deep er|ü?#%2e.json")
        );
        assert_eq!(found("1/.a.json"), is("/logs", ".a.json"));
        for wrong in [
            "",
            "0",
            "/",
            "0/",
            "0//a",
            "0/.",
            "0/..",
            "0/../a",
            "0/a/../b",
            "0/a/.b",
            "0/.git/x",
            "2/a",
            "-1/a",
            "+0/a",
            "00/a",
            "1/b.json",
            "1/x/.a.json",
            "1/../logs/.a.json",
            "0/a\0b",
            "0/a/",
            " 0/a",
            "99999999999999999999999/a",
        ] {
            assert_eq!(found(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn paths_that_are_shown_are_found() {
        let roots = roots();
        let within = |path: &str| roots.within(Path::new(path));
        assert_eq!(within("/runs/a/b.json"), [(0, "a/b.json".to_owned())]);
        assert_eq!(within("/logs/.a.json"), [(1, ".a.json".to_owned())]);
        for other in [
            "/runs",
            "/runs/.a",
            "/runs/.git/a",
            "/logs/b.json",
            "/runs2/a",
            "/",
        ] {
            assert!(within(other).is_empty(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn no_address_leaves_its_root(address in "[01]?/?([./a~\\\\\0:%2e]{0,4}/){0,5}[./a\0]{0,5}") {
            let roots = roots();
            if let Some((root, names)) = roots.resolve(&address) {
                let path = names.iter().fold(root.folder.clone(), |path, name| path.join(name));
                // Purely by name: no segment leads upwards or to a root.
                prop_assert!(path.starts_with(&root.folder));
                let below = path.strip_prefix(&root.folder).unwrap();
                prop_assert_eq!(below.components().count(), names.len());
                prop_assert!(below.components().all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert!(!address.contains('\0'));
            }
        }
    }
}
