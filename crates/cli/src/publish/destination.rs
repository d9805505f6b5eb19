//! The destination folder of a site: checked before anything is written, built in a sibling folder, and replaced at the
//! end.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The file that lists the files that publish wrote, one path per line.
const WRITTEN: &str = ".volary-published";
/// The number of files at risk that are listed.
const NAMED: usize = 5;

/// The destination of a site. It contains nothing but published files.
#[derive(Debug)]
pub struct Destination {
    /// Canonical; it may not exist.
    folder: PathBuf,
}

impl Destination {
    /// Rejects a folder that contains one of `inputs` or is inside one, and a folder with files that would be lost.
    pub fn find(out: &Path, inputs: &[&Path]) -> Result<Destination> {
        let folder = resolve(out)?;
        for input in inputs {
            let input = resolve(input)?;
            if folder.starts_with(&input) || input.starts_with(&folder) {
                bail!(
                    "{} and {} contain one another; choose another folder with --out",
                    out.display(),
                    input.display()
                );
            }
        }
        let destination = Destination { folder };
        destination.check()?;
        Ok(destination)
    }

    /// Has the site written into a new folder, which then replaces the previous one.
    pub fn fill(&self, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let new = Temporary::beside(&self.folder, "new")?;
        let uncreatable = || format!("cannot make {}", new.0.display());
        fs::create_dir_all(&new.0).with_context(uncreatable)?;
        write(&new.0)?;
        let mut written = files(&new.0)?;
        written.push(WRITTEN.to_owned());
        let list = new.0.join(WRITTEN);
        fs::write(&list, written.join("\n") + "\n")
            .with_context(|| format!("cannot write {}", list.display()))?;
        // Files may have been added while the site was written.
        self.check()?;
        self.swap(&new.0)
    }

    fn swap(&self, new: &Path) -> Result<()> {
        let unwritable = || format!("cannot replace {}", self.folder.display());
        if !self.folder.exists() {
            return fs::rename(new, &self.folder).with_context(unwritable);
        }
        let old = Temporary::beside(&self.folder, "old")?;
        fs::rename(&self.folder, &old.0).with_context(unwritable)?;
        if let Err(error) = fs::rename(new, &self.folder) {
            if fs::rename(&old.0, &self.folder).is_err() {
                let left = old.keep();
                bail!("the previous site was left in {}: {error}", left.display());
            }
            return Err(error).with_context(unwritable);
        }
        Ok(())
    }

    /// Fails if the folder contains anything that publish did not write.
    fn check(&self) -> Result<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        let shown = self.folder.display();
        let list = fs::read_to_string(self.folder.join(WRITTEN)).unwrap_or_default();
        let ours: Vec<&str> = list.lines().collect();
        let mut lost = files(&self.folder)?;
        lost.retain(|name| !ours.contains(&name.as_str()));
        if lost.is_empty() {
            return Ok(());
        }
        let count = lost.len();
        lost.truncate(NAMED);
        bail!(
            "{shown} contains {count} files that publish did not write, such as {}; move them away, or choose another \
             folder with --out",
            lost.join(", ")
        );
    }
}

/// A temporary folder, removed on drop with its contents.
struct Temporary(PathBuf);

impl Temporary {
    /// Next to the destination, on the same file system, so that it can be renamed.
    fn beside(folder: &Path, what: &str) -> Result<Temporary> {
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            bail!("{} cannot be replaced", folder.display());
        };
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{what}-{}", std::process::id()));
        Ok(Temporary(parent.join(hidden)))
    }
}

impl Temporary {
    /// Keeps the folder.
    fn keep(self) -> PathBuf {
        let path = self.0.clone();
        std::mem::forget(self);
        path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may have been renamed; if removal fails, it does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The absolute path of a possibly missing file, without links, `.` and `..`.
fn resolve(path: &Path) -> Result<PathBuf> {
    let whole = std::env::current_dir()
        .context("there is no working directory")?
        .join(path);
    let mut resolved = PathBuf::new();
    for component in whole.components() {
        match component {
            Component::ParentDir => drop(resolved.pop()),
            Component::CurDir => {}
            other => {
                resolved.push(other);
                // A link is resolved before a subsequent `..`.
                match resolved.canonicalize() {
                    Ok(real) => resolved = real,
                    Err(error) if resolved.is_symlink() => {
                        return Err(error)
                            .with_context(|| format!("{} leads nowhere", resolved.display()));
                    }
                    Err(_) => {}
                }
            }
        }
    }
    Ok(resolved)
}

/// The relative paths of all files and links in a folder, with slashes, sorted.
fn files(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new())];
    while let Some((path, within)) = open.pop() {
        let unreadable = || format!("cannot read {}", path.display());
        for entry in fs::read_dir(&path).with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            let inside = format!("{within}{}", entry.file_name().to_string_lossy());
            if entry.file_type().with_context(unreadable)?.is_dir() {
                open.push((entry.path(), format!("{inside}/")))
            } else {
                files.push(inside)
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::super::{TestFolder, copy_text};
    use super::*;

    fn publish(all: &TestFolder, out: &str, text: &str) -> Result<()> {
        Destination::find(&all.path(out), &[&all.path("runs")])?.fill(|site| {
            copy_text(&site.join("trajectories/a.json"), text);
            Ok(())
        })
    }

    fn read(all: &TestFolder, name: &str) -> Option<String> {
        fs::read_to_string(all.path(name)).ok()
    }

    #[test]
    fn a_place_that_overlaps_the_trajectories_is_refused() {
        let all = TestFolder::with("overlap", &["runs/trajectories/a.json", "elsewhere/b"]);
        let input = all.path("runs/trajectories");
        for out in [
            // The folder itself, an ancestor, and descendants.
            "runs/trajectories",
            "runs",
            "",
            "runs/trajectories/site",
            "runs/trajectories/deep/site",
            "elsewhere/../runs",
            "absent/../runs/trajectories/site",
            "runs/trajectories/absent/..",
        ] {
            let found = Destination::find(&all.path(out), &[&input]);
            let error = found.expect_err(out).to_string();
            assert!(error.contains("contain one another"), "{out}: {error}");
        }
        assert!(Destination::find(&all.path("runs/trajectories2"), &[&input]).is_ok());
        assert_eq!(
            read(&all, "runs/trajectories/a.json").as_deref(),
            Some("runs/trajectories/a.json")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_place_that_overlaps_through_a_link_is_refused() {
        use std::os::unix::fs::symlink;
        let all = TestFolder::with("overlap-link", &["runs/deep/a.json"]);
        symlink(all.path("runs"), all.path("link")).unwrap();
        symlink(all.path("runs/deep"), all.path("within")).unwrap();
        symlink(all.path("nowhere"), all.path("broken")).unwrap();
        for out in [
            "link",
            "link/site",
            "within",
            "within/..",
            "within/../site",
            "broken/site",
        ] {
            assert!(
                Destination::find(&all.path(out), &[&all.path("runs")]).is_err(),
                "{out}"
            );
        }
        assert!(Destination::find(&all.path("runs2"), &[&all.path("link")]).is_ok());
        assert!(Destination::find(&all.path("runs/site"), &[&all.path("link")]).is_err());
    }

    #[test]
    fn a_site_is_replaced_by_the_next() {
        let all = TestFolder::with("again", &["runs/a.json"]);
        fs::create_dir(all.path("out")).unwrap();
        publish(&all, "out", "one").unwrap();
        publish(&all, "out", "two").unwrap();
        assert_eq!(
            read(&all, "out/trajectories/a.json").as_deref(),
            Some("two")
        );
        publish(&all, "new/deep", "three").unwrap();
        assert_eq!(
            read(&all, "new/deep/trajectories/a.json").as_deref(),
            Some("three")
        );
        let left = fs::read_dir(&all.0).unwrap().count();
        assert_eq!(left, 3, "new, out and runs");
    }

    #[test]
    fn files_that_publish_did_not_write_are_not_lost() {
        let all = TestFolder::with("foreign", &["runs/a.json", "notes/trajectories/mine.json"]);
        let error = publish(&all, "notes", "one").unwrap_err().to_string();
        assert!(error.contains("trajectories/mine.json"), "{error}");
        assert!(read(&all, "notes/trajectories/mine.json").is_some());
        publish(&all, "out", "one").unwrap();
        copy_text(&all.path("out/.git/config"), "mine");
        assert!(publish(&all, "out", "two").is_err());
        assert_eq!(
            read(&all, "out/trajectories/a.json").as_deref(),
            Some("one")
        );
    }

    #[test]
    fn a_failure_half_way_leaves_the_previous_site() {
        let all = TestFolder::with("failure", &["runs/a.json"]);
        publish(&all, "out", "one").unwrap();
        let destination = Destination::find(&all.path("out"), &[&all.path("runs")]).unwrap();
        let failed = destination.fill(|site| {
            copy_text(&site.join("trajectories/a.json"), "two");
            bail!("the disk is full")
        });
        assert!(failed.is_err());
        assert_eq!(
            read(&all, "out/trajectories/a.json").as_deref(),
            Some("one")
        );
        let left = fs::read_dir(&all.0).unwrap().count();
        assert_eq!(left, 2, "out and runs");
    }
}
