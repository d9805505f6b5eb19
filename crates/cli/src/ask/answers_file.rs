//! The file with the answers, next to the trajectories.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use volary_ask::cache::{AnswerCache, AnswerRecord, FILE};

/// The folder of Volary's own files.
const FOLDER: &str = ".volary";

/// An open file of answers.
pub struct AnswersFile {
    path: PathBuf,
    file: Option<File>,
    cache: AnswerCache,
    damaged: Vec<String>,
}

impl AnswersFile {
    /// Reads the answers. A file that does not exist is created with the first answer.
    pub fn open(chosen: Option<&Path>, paths: &[PathBuf]) -> Result<AnswersFile> {
        let path = match chosen {
            Some(path) => path.to_owned(),
            None => beside(paths),
        };
        let text = match fs::read(&path) {
            // A line with invalid UTF-8 is damaged, the others are not.
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let (cache, damaged) =
            AnswerCache::read(&text).with_context(|| format!("cannot read {}", path.display()))?;
        let damaged = damaged.iter().map(|line| {
            format!(
                "{}: line {} was skipped, because {}",
                path.display(),
                line.line,
                line.reason
            )
        });
        Ok(AnswersFile {
            damaged: damaged.collect(),
            path,
            file: None,
            cache,
        })
    }

    /// What could not be read, for a person.
    pub fn damaged(&self) -> &[String] {
        &self.damaged
    }

    pub fn cache(&self) -> &AnswerCache {
        &self.cache
    }

    pub fn take_cache(&mut self) -> AnswerCache {
        std::mem::take(&mut self.cache)
    }

    /// Appends an answer in one write, so that two commands at one time do not mix their lines.
    pub fn append(&mut self, record: &AnswerRecord) -> Result<()> {
        let shown = self.path.display().to_string();
        let file = match self.file.take() {
            Some(file) => file,
            None => open(&self.path).with_context(|| format!("cannot write {shown}"))?,
        };
        let line = record.to_line() + "\n";
        let file = self.file.insert(file);
        file.write_all(line.as_bytes())
            .with_context(|| format!("cannot write {shown}"))
    }
}

/// Opens a file to append. A last line that was written in part is ended, so that it is the only damaged one.
fn open(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

/// The file in the first folder, or in the folder of the first file.
fn beside(paths: &[PathBuf]) -> PathBuf {
    let first = paths.first().map_or(Path::new("."), PathBuf::as_path);
    let folder = if first.is_dir() {
        first
    } else {
        first.parent().unwrap_or(Path::new("."))
    };
    folder.join(FOLDER).join(FILE)
}
