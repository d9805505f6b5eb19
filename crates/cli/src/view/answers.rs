//! The answers of models that `volary ask` keeps next to the files: `.volary/answers.jsonl` in each shown folder.
//!
//! Invariant: they are only read. What the lines contain is the page's business.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use volary_ask::cache::FILE;

use super::failure::Failure;
use super::json_lines::LINES;
use super::notes::FOLDER;
use super::roots::Roots;
use super::served::View;

/// The maximum size of all files, in bytes.
const LARGEST: u64 = 256 << 20;

/// `GET /api/answers`
pub async fn read(State(view): State<View>) -> Result<Response, Failure> {
    let roots = Arc::clone(&view.roots);
    let read = view.disk.run(move || lines(&roots)).await;
    let lines = read.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => Failure::Slow,
        io::ErrorKind::ResourceBusy => Failure::Busy,
        _ => Failure::Unreadable("The file of answers cannot be read. Look at its permissions."),
    })?;
    if lines.is_empty() {
        return Err(Failure::NotFound);
    }
    Ok((LINES, lines).into_response())
}

/// Whether there are any.
pub async fn are_there(view: &View) -> bool {
    let roots = Arc::clone(&view.roots);
    let found = view.disk.run(move || Ok(!files(&roots).is_empty())).await;
    found.unwrap_or_default()
}

fn lines(roots: &Roots) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for file in files(roots) {
        let left = LARGEST.saturating_sub(lines.len() as u64);
        file.take(left).read_to_end(&mut lines)?;
        // The last line may have been written in part.
        if lines.last().is_some_and(|last| *last != b'\n') {
            lines.push(b'\n');
        }
    }
    Ok(lines)
}

/// The files in the order of the folders. No link is followed.
fn files(roots: &Roots) -> Vec<File> {
    let mut known = BTreeSet::new();
    let roots = roots
        .iter()
        .filter(|(_, root)| known.insert(root.folder.clone()));
    let files = roots.filter_map(|(_, root)| {
        let folder = root.way.open().ok()?.folder(OsStr::new(FOLDER)).ok()?;
        folder.file(OsStr::new(FILE)).ok()
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::publish::TestFolder;

    #[test]
    fn the_files_of_all_folders_are_read_once() {
        let all = TestFolder::with("answers", &["one/a.json", "two/b.json"]);
        let roots = |names: &[&str]| {
            let paths: Vec<_> = names.iter().map(|name| all.path(name)).collect();
            Roots::find(&paths).unwrap()
        };
        assert!(files(&roots(&["one"])).is_empty());
        for (folder, text) in [("one", "1\n2"), ("two", "3\n")] {
            fs::create_dir(all.path(folder).join(FOLDER)).unwrap();
            fs::write(all.path(folder).join(FOLDER).join(FILE), text).unwrap();
        }
        assert_eq!(lines(&roots(&["one", "two"])).unwrap(), b"1\n2\n3\n");
        // Next to a file, as the command keeps them.
        assert_eq!(lines(&roots(&["one/a.json", "one"])).unwrap(), b"1\n2\n");
    }
}
