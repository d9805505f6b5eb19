//! Notes next to the files: `.volary/notes.jsonl` in the first shown folder, if the user chose `--notes`.
//!
//! Each line is a version of a note; of several versions the last one wins ([`volary_analysis::annotations`]). Lines are
//! only appended, so that two views of one folder, and people who merge the file, lose nothing.
//!
//! Invariants: this is the only file that `volary view` writes. Versions are appended under a lock. A write that fails
//! leaves the file as it was, and a line that was cut off by a crash is skipped.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use volary_analysis::annotations::{Annotations, sidecar};

use super::beneath::{RootFolder, Status};
use super::roots::Roots;

/// The folder of the file, below the shown one…
pub const FOLDER: &str = ".volary";
/// …and its name.
pub const FILE: &str = "notes.jsonl";

/// The file of notes. It is created with the first note.
#[derive(Clone)]
pub struct NotesFile {
    /// The folder that contains the folder of notes.
    folder: PathBuf,
    way: Arc<RootFolder>,
}

impl NotesFile {
    /// The file in the first folder, or next to the first file.
    pub fn of(roots: &Roots) -> Result<NotesFile> {
        let first = roots.iter().next();
        let (_, root) = first.context("notes are kept next to files, and none was given")?;
        Ok(NotesFile {
            folder: root.folder.clone(),
            way: Arc::clone(&root.way),
        })
    }

    /// The paths whose changes mean that notes were written: the file, and its folder while that is new.
    pub fn paths(&self) -> [PathBuf; 2] {
        let folder = self.folder.join(FOLDER);
        [folder.join(FILE), folder]
    }

    /// The status of the file; `None` if it cannot be read.
    pub fn status(&self) -> Option<Status> {
        let folder = self.way.open().ok()?.folder(OsStr::new(FOLDER)).ok()?;
        folder.status(OsStr::new(FILE)).ok()
    }

    /// All notes; none if there is no file.
    pub fn read(&self) -> io::Result<Annotations> {
        let folder = self.way.open()?.folder(OsStr::new(FOLDER));
        match folder.and_then(|folder| folder.file(OsStr::new(FILE))) {
            Ok(mut file) => read(&mut file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Annotations::default()),
            Err(error) => Err(error),
        }
    }

    /// Appends the versions that the file lacks. Returns their number.
    pub fn append(&self, notes: Annotations) -> io::Result<usize> {
        let folder = self.way.open()?.make_folder(OsStr::new(FOLDER))?;
        let mut file = folder.append_to(OsStr::new(FILE))?;
        // Some network disks know no locks.
        let is_locked = file.lock().is_ok();
        let appended = append(&mut file, notes);
        if is_locked {
            let _ = file.unlock();
        }
        appended
    }
}

fn read(file: &mut File) -> io::Result<Annotations> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(sidecar::read_lines(&String::from_utf8_lossy(&bytes)).annotations)
}

fn append(file: &mut File, notes: Annotations) -> io::Result<usize> {
    let known = read(file)?;
    let new = notes.newer_than(&known);
    let before = file.seek(SeekFrom::End(0))?;
    let mut text = sidecar::to_lines(&new);
    if text.is_empty() {
        return Ok(0);
    }
    if before > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.insert(0, '\n');
        }
    }
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_data());
    if let Err(error) = written {
        // Without the lines that were written in part.
        let _ = file.set_len(before);
        return Err(error);
    }
    Ok(new.iter_all().count())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use volary_analysis::annotations::Annotation;

    use super::*;
    use crate::publish::TestFolder;

    fn file(all: &TestFolder) -> NotesFile {
        NotesFile::of(&Roots::find(&[all.path("runs")]).unwrap()).unwrap()
    }

    fn note(id: &str, text: &str, revision: u64) -> Annotations {
        Annotations::from_iter([Annotation {
            id: id.into(),
            episode: "e".into(),
            text: text.into(),
            revision,
            ..Annotation::default()
        }])
    }

    #[test]
    fn versions_are_appended_and_the_last_one_is_read() {
        let all = TestFolder::with("notes", &["runs/a.json"]);
        let notes = file(&all);
        assert_eq!(notes.read().unwrap(), Annotations::default());
        assert!(
            !all.path("runs/.volary").exists(),
            "reading creates nothing"
        );
        assert_eq!(notes.append(note("1", "first", 1)).unwrap(), 1);
        // Another view of the folder, which has an older and a newer version.
        let other = file(&all);
        assert_eq!(other.append(note("1", "older", 0)).unwrap(), 0);
        assert_eq!(other.append(note("1", "second", 2)).unwrap(), 1);
        assert_eq!(notes.append(note("1", "second", 2)).unwrap(), 0);
        let read = notes.read().unwrap();
        assert_eq!(&*read.get("1").unwrap().text, "second");
        let text = fs::read_to_string(all.path("runs/.volary/notes.jsonl")).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn two_views_write_at_once() {
        let all = TestFolder::with("notes-two", &["runs/a.json"]);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let notes = file(&all);
                scope.spawn(move || {
                    for number in 0..25 {
                        let id = format!("{writer}-{number}");
                        assert_eq!(notes.append(note(&id, "text", 1)).unwrap(), 1);
                    }
                });
            }
        });
        assert_eq!(file(&all).read().unwrap().iter().count(), 100);
    }

    #[test]
    fn a_line_that_was_cut_off_is_skipped() {
        let all = TestFolder::with("notes-cut", &["runs/a.json"]);
        let notes = file(&all);
        notes.append(note("1", "first", 1)).unwrap();
        let path = all.path("runs/.volary/notes.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{{\"id\": \"2\", \"epi")).unwrap();
        assert_eq!(notes.append(note("3", "third", 1)).unwrap(), 1);
        let read = notes.read().unwrap();
        let ids: Vec<&str> = read.iter().map(|note| &*note.id).collect();
        assert_eq!(ids, ["1", "3"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_elsewhere() {
        use std::os::unix::fs::symlink;
        let all = TestFolder::with("notes-links", &["runs/a.json", "other/notes.jsonl"]);
        let notes = file(&all);
        symlink(all.path("other"), all.path("runs/.volary")).unwrap();
        assert!(notes.append(note("1", "x", 1)).is_err() && notes.read().is_err());
        fs::remove_file(all.path("runs/.volary")).unwrap();
        fs::create_dir(all.path("runs/.volary")).unwrap();
        let link = all.path("runs/.volary/notes.jsonl");
        symlink(all.path("other/notes.jsonl"), &link).unwrap();
        assert!(notes.append(note("1", "x", 1)).is_err());
        let other = fs::read_to_string(all.path("other/notes.jsonl")).unwrap();
        assert_eq!(other, "other/notes.jsonl");
    }
}
