//! The folder of a conversion that writes one file for each episode.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::output::plain;

/// Files that are written into one folder. Invariant: no two have the same name, also where file systems ignore case.
pub struct OutputFolder {
    path: PathBuf,
    names: FileNames,
}

impl OutputFolder {
    /// Makes the folder, unless it exists.
    pub fn create(path: &Path) -> Result<OutputFolder> {
        fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(OutputFolder {
            path: path.to_owned(),
            names: FileNames::default(),
        })
    }

    /// Writes the file of an episode, and returns its path.
    pub fn write(&mut self, name: &str, ending: &str, bytes: &[u8]) -> Result<String> {
        let stem = self.names.free(name);
        write(&self.path.join(format!("{stem}.{ending}")), bytes)
    }
}

/// Writes a file, and returns its path.
pub fn write(file: &Path, bytes: &[u8]) -> Result<String> {
    replace(file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(plain(&file.to_string_lossy()))
}

/// Like `fs::write`, except that a file that exists becomes shorter after it is written. Linux (ext4) writes a file that
/// became empty to the disk when it is closed: a second conversion into a folder would take ten times as long.
fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let options = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .clone();
    let mut file = options.open(file)?;
    let before = file.metadata()?.len();
    let written = file.write_all(bytes);
    if before > bytes.len() as u64 {
        // If the disk is full, nothing of the content before follows what could be written.
        let end = file.stream_position()?;
        let cut = file.set_len(end);
        return written.and(cut);
    }
    written
}

/// The names of files that are taken.
#[derive(Default)]
struct FileNames {
    /// By names in lower case: the last number with which the name was made different.
    taken: HashMap<String, usize>,
}

impl FileNames {
    /// An unused file name for an episode, safe for any episode name.
    fn free(&mut self, name: &str) -> String {
        const LONGEST: usize = 80;
        let is_safe = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        let safe: String = name
            .chars()
            .map(|letter| if is_safe(letter) { letter } else { '-' })
            .take(LONGEST)
            .collect();
        let stem = match safe.trim_matches(['-', '.']) {
            "" => "episode",
            stem => stem,
        };
        let Some(mut number) = self.taken.get(&stem.to_lowercase()).copied() else {
            self.taken.insert(stem.to_lowercase(), 1);
            return stem.to_owned();
        };
        let free = loop {
            number += 1;
            let free = format!("{stem}-{number}");
            if !self.taken.contains_key(&free.to_lowercase()) {
                break free;
            }
        };
        self.taken.insert(stem.to_lowercase(), number);
        self.taken.insert(free.to_lowercase(), 1);
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_differ() {
        let mut names = FileNames::default();
        let mut free = |name: &str| names.free(name);
        for (name, expected) in [
            ("a b", "a-b"),
            ("A/b", "A-b-2"),
            ("../../etc/passwd", "etc-passwd"),
            ("..", "episode"),
            ("", "episode-2"),
            ("a b", "a-b-3"),
            ("a-b-5", "a-b-5"),
            ("a-b-3", "a-b-3-2"),
            ("a b", "a-b-4"),
            ("a b", "a-b-6"),
        ] {
            assert_eq!(free(name), expected, "{name}");
        }
        assert_eq!(free(&"x".repeat(300)).len(), 80);
    }

    #[test]
    fn a_file_is_replaced_by_a_shorter_one() {
        let file = std::env::temp_dir().join(format!("volary-replaced-{}", std::process::id()));
        for text in ["long text", "short", "", "longer"] {
            replace(&file, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        fs::remove_file(&file).unwrap();
    }
}
