//! Looks for changes in folders that report none.
//!
//! Any difference counts, of size, times and number of a file: the clock of another machine may jump back or be ahead,
//! and files that are written twice within a moment may have equal times. A folder that cannot be read, because the
//! network is gone, has its last known files until it can be read again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::beneath::{EntryKind, Folder, Status};
use super::notes::NotesFile;
use super::roots::{DEEPEST, Roots, is_shown};

/// A changed path; `None` if it is unknown.
pub type Touched = Option<PathBuf>;

/// Polls some of the roots until the receiver is dropped.
pub fn poll(
    roots: &Arc<Roots>,
    polled: Vec<usize>,
    notes: Option<NotesFile>,
    interval: Duration,
    send: Sender<Touched>,
) {
    let roots = Arc::clone(roots);
    std::thread::spawn(move || {
        let mut known = Snapshot::default().next(&roots, &polled, notes.as_ref());
        loop {
            std::thread::sleep(interval);
            let next = known.next(&roots, &polled, notes.as_ref());
            for path in known.changes(&next) {
                if send.send(Some(path)).is_err() {
                    return;
                }
            }
            known = next;
        }
    });
}

/// The files of the polled roots.
#[derive(Debug, Default)]
struct Snapshot(BTreeMap<PathBuf, Status>);

impl Snapshot {
    /// The files as they are now.
    fn next(&self, roots: &Roots, polled: &[usize], notes: Option<&NotesFile>) -> Snapshot {
        let mut next = Snapshot::default();
        for root in polled.iter().filter_map(|number| roots.get(*number)) {
            match (root.way.open(), &root.file) {
                (Ok(folder), None) => next.add(self, &folder, &root.folder, 1),
                (Ok(folder), Some(file)) => {
                    next.add_file(self, &folder, OsStr::new(file), root.folder.join(file));
                }
                (Err(error), _) => next.keep(self, &root.folder, &error),
            }
        }
        if let Some((status, [path, _])) =
            notes.and_then(|file| Some((file.status()?, file.paths())))
        {
            next.0.insert(path, status);
        }
        next
    }

    /// Adds the files of a folder.
    fn add(&mut self, before: &Snapshot, folder: &Folder, path: &PathBuf, depth: usize) {
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => return self.keep(before, path, &error),
        };
        for (name, kind) in entries {
            if !name.to_str().is_some_and(is_shown) {
                continue;
            }
            let path = path.join(&name);
            match kind {
                EntryKind::File => self.add_file(before, folder, &name, path),
                EntryKind::Folder if depth < DEEPEST => match folder.folder(&name) {
                    Ok(folder) => self.add(before, &folder, &path, depth + 1),
                    Err(error) => self.keep(before, &path, &error),
                },
                EntryKind::Folder | EntryKind::Link | EntryKind::Other => {}
            }
        }
    }

    fn add_file(&mut self, before: &Snapshot, folder: &Folder, name: &OsStr, path: PathBuf) {
        match folder.status(name) {
            Ok(status) => drop(self.0.insert(path, status)),
            Err(error) => self.keep(before, &path, &error),
        }
    }

    /// Adds what was known at a path and below it, unless there is nothing anymore.
    fn keep(&mut self, before: &Snapshot, path: &PathBuf, error: &io::Error) {
        if matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ) {
            return;
        }
        let known = before.0.range(path.clone()..);
        let below = known.take_while(|(known, _)| known.starts_with(path));
        self.0
            .extend(below.map(|(path, status)| (path.clone(), *status)));
    }

    /// The paths that are new, different or gone in the next snapshot.
    fn changes(&self, next: &Snapshot) -> Vec<PathBuf> {
        let written = next.0.iter();
        let written = written.filter(|(path, status)| self.0.get(*path) != Some(status));
        let gone = self.0.keys().filter(|path| !next.0.contains_key(*path));
        written.map(|(path, _)| path).chain(gone).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::mpsc;
    use std::time::SystemTime;

    use super::*;
    use crate::publish::TestFolder;

    fn set_time(path: &Path, time: SystemTime) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }

    #[test]
    fn every_change_is_found_whatever_the_clock_says() {
        let all = TestFolder::with("polling", &["runs/a.json", "runs/deep/b.json"]);
        let roots = Arc::new(Roots::find(&[all.path("runs")]).unwrap());
        let (a, b) = (all.path("runs/a.json"), all.path("runs/deep/b.json"));
        let mut known = Snapshot::default().next(&roots, &[0], None);
        let mut changes = || {
            let next = known.next(&roots, &[0], None);
            let changes = known.changes(&next);
            known = next;
            changes
        };
        assert!(changes().is_empty());
        let now = SystemTime::now();
        let hour = Duration::from_secs(3600);
        // Ahead, back again, and long ago.
        for time in [now + 24 * hour, now, now - 9000 * hour] {
            set_time(&a, time);
            assert_eq!(changes(), std::slice::from_ref(&a), "{time:?}");
            assert!(changes().is_empty());
        }
        // Longer, at the same time.
        let time = fs::metadata(&b).unwrap().modified().unwrap();
        fs::write(&b, "appended to").unwrap();
        set_time(&b, time);
        assert_eq!(changes(), std::slice::from_ref(&b));
        // Another file with the size and the time of this one takes its place.
        let next = all.path("next");
        fs::write(&next, "APPENDED TO").unwrap();
        set_time(&next, time);
        fs::rename(&next, &b).unwrap();
        #[cfg(unix)]
        assert_eq!(changes(), std::slice::from_ref(&b));
        fs::remove_file(&b).unwrap();
        fs::write(all.path("runs/c.json"), "").unwrap();
        assert_eq!(changes(), [all.path("runs/c.json"), b]);
        fs::remove_dir_all(all.path("runs")).unwrap();
        assert_eq!(changes(), [a, all.path("runs/c.json")]);
    }

    #[test]
    fn a_network_that_is_gone_changes_nothing() {
        let all = TestFolder::with("polling-gone", &["runs/a.json", "runs/deep/b.json"]);
        let roots = Arc::new(Roots::find(&[all.path("runs")]).unwrap());
        let known = Snapshot::default().next(&roots, &[0], None);
        for (gone, kept) in [
            (io::ErrorKind::StaleNetworkFileHandle, 2),
            (io::ErrorKind::HostUnreachable, 2),
            (io::ErrorKind::PermissionDenied, 2),
            (io::ErrorKind::NotFound, 0),
        ] {
            let mut next = Snapshot::default();
            next.keep(&known, &all.path("runs"), &gone.into());
            assert_eq!(next.0.len(), kept, "{gone}");
        }
        let mut next = Snapshot::default();
        next.keep(&known, &all.path("runs/deep"), &io::Error::other("gone"));
        assert_eq!(
            next.0.into_keys().collect::<Vec<_>>(),
            [all.path("runs/deep/b.json")]
        );
    }

    #[test]
    fn changes_are_sent_until_nobody_listens() {
        let all = TestFolder::with("polling-live", &["runs/a.json"]);
        let roots = Arc::new(Roots::find(&[all.path("runs")]).unwrap());
        let (send, receive) = mpsc::channel();
        poll(&roots, vec![0], None, Duration::from_millis(5), send);
        let mut number = 0;
        let touched = loop {
            number += 1;
            fs::write(all.path("runs/a.json"), "x".repeat(number)).unwrap();
            if let Ok(touched) = receive.recv_timeout(Duration::from_millis(20)) {
                break touched;
            }
        };
        assert_eq!(touched, Some(all.path("runs/a.json")));
    }
}
