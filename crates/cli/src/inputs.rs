//! Reads the trajectories under paths, in any format that the page supports.
//!
//! Some formats spread one episode over several files of a folder, so the small files of a folder are read together.
//! Symbolic links in folders are not followed, and names that begin with a dot are skipped.
//!
//! - `groups`: the files that are read together. `batches`: the work on all files, on several threads. `large_file`: a file
//!   that is read in place.

mod batches;
mod groups;
mod large_file;

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use volary_analysis::search::Query;
use volary_episode::Episode;
use volary_formats::archive::Limits;
use volary_formats::import::fields::{FieldMapping, Mappings};
use volary_formats::import::index::LineFilter;
use volary_formats::import::together::is_read_alone;
use volary_formats::import::{ImportError, InputFile, Note, NoteLevel, import_mapped};
use volary_parquet::{is_parquet, read_rows};

use batches::Reading;
use groups::{Group, groups};

/// The maximum size in bytes of files of a folder that are read together; in larger folders each file is read
/// separately.
pub const TOGETHER: u64 = 64 << 20;

/// The maximum size in bytes of the rows of a Parquet file as JSON.
pub const LARGEST_PARQUET: usize = 2 << 30;

/// The report about the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The number of files that were read.
    pub files: usize,
    /// The number of episodes found.
    pub episodes: usize,
    /// Data that was preserved without being understood, files of other kinds, and data that could not be read.
    pub notes: Vec<Remark>,
}

/// A line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    pub file: String,
    /// Whether data could not be read. Otherwise it was preserved without being understood, or is in a file of another kind
    /// in a folder.
    pub is_loss: bool,
    pub text: String,
}

impl Report {
    /// Whether data could not be read.
    pub fn has_losses(&self) -> bool {
        self.notes.iter().any(|note| note.is_loss)
    }

    /// Prints the notes to standard error.
    pub fn print(&self) {
        for note in &self.notes {
            let file = match note.file.as_str() {
                "" => String::new(),
                file => format!("{file}: "),
            };
            eprintln!("{}", super::output::plain(&format!("{file}{}", note.text)));
        }
    }

    /// Adds a remark about lost data.
    pub fn add_loss(&mut self, file: &str, text: String) {
        self.notes.push(Remark {
            file: file.to_owned(),
            is_loss: true,
            text,
        });
    }

    fn add(&mut self, group: &Group, notes: &[Note]) {
        // A folder may contain other files than trajectories; a file that the user named should be one.
        let is_loss = |note: &Note| match note.level {
            NoteLevel::Unreadable => true,
            NoteLevel::Unsupported => group.named.contains(Path::new(&*note.file)),
            NoteLevel::Read | NoteLevel::KeptRaw => false,
        };
        let notes = notes.iter().filter(|note| note.level != NoteLevel::Read);
        self.notes.extend(notes.map(|note| Remark {
            file: group.shown(&note.file),
            is_loss: is_loss(note),
            text: note.text.to_string(),
        }));
    }
}

/// Reads the mappings of unknown records from a file.
pub fn mappings(file: Option<&Path>) -> Result<Mappings> {
    let Some(file) = file else {
        return Ok(Mappings::default());
    };
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    let fields: FieldMapping = serde_json::from_str(&text)
        .with_context(|| format!("{shown} is not a mapping of fields"))?;
    if !fields.is_usable() {
        bail!("{shown} must map messages, prompt or answer");
    }
    Ok(Mappings::for_all(fields))
}

/// Reads all trajectories and passes each to `each`, with the file that it was read from.
pub fn read(paths: &[PathBuf], each: impl FnMut(&str, Episode) -> Result<()>) -> Result<Report> {
    read_mapped(paths, &Mappings::default(), each)
}

/// Like [`read`], with mappings for records that no reader recognises.
pub fn read_mapped(
    paths: &[PathBuf],
    mappings: &Mappings,
    mut each: impl FnMut(&str, Episode) -> Result<()>,
) -> Result<Report> {
    read_batches(
        paths,
        mappings,
        None,
        &|episodes| episodes,
        &mut |episodes| {
            let mut episodes = episodes.into_iter();
            episodes.try_for_each(|(file, episode): (String, _)| each(&file, episode))
        },
    )
}

/// Reads all trajectories in batches. `work` gets those of a batch, with the files that they were read from, on any
/// thread; `each` gets its results, in the order of the files. Lines of large files are left out if they lack the words
/// of `query`.
pub fn read_batches<T: Send>(
    paths: &[PathBuf],
    mappings: &Mappings,
    query: Option<&Query>,
    work: &(dyn Fn(Vec<(String, Episode)>) -> T + Sync),
    each: &mut dyn FnMut(T) -> Result<()>,
) -> Result<Report> {
    let groups = groups(paths)?;
    let progress = progress(groups.iter().map(|group| group.files.len()).sum());
    let reading = Reading::of(mappings, query.and_then(LineFilter::of));
    let report = batches::read(groups, &reading, &progress, work, each)?;
    progress.finish_and_clear();
    if report.episodes == 0 {
        report.print();
        bail!("no trajectory was found");
    }
    Ok(report)
}

/// Imports the files of a folder together, and passes each episode to `each`, with the name of the file that it was read
/// from; it may be empty. Returns the notes about the files.
pub fn import_files(
    files: Vec<InputFile>,
    mappings: &Mappings,
    each: &mut dyn FnMut(&str, Episode) -> Result<()>,
) -> Result<Vec<Note>> {
    let mut all = Vec::new();
    let files = files.into_iter();
    let files: Vec<InputFile> = files
        .filter_map(|file| with_parquet_as_lines(file, &mut all))
        .collect();
    let (alone, together): (Vec<InputFile>, Vec<InputFile>) = files
        .into_iter()
        .partition(|file| is_read_alone(&file.bytes));
    let mut inputs: Vec<Vec<InputFile>> = alone.into_iter().map(|file| vec![file]).collect();
    inputs.push(together);
    for files in inputs.into_iter().filter(|files| !files.is_empty()) {
        match import_mapped(&files, Limits::default(), mappings) {
            Ok(outcome) => {
                all.extend(outcome.notes);
                let only = match files.as_slice() {
                    [file] => file.name.as_deref(),
                    _ => None,
                };
                for episode in outcome.episodes {
                    let file = episode.source.as_ref().map(|source| &*source.file);
                    let file = file.filter(|file| !file.is_empty()).or(only);
                    let file = file.unwrap_or_default().to_owned();
                    each(&file, episode)?;
                }
            }
            Err(ImportError::NoEpisode { notes, .. }) => all.extend(notes),
            Err(_) => {}
        }
    }
    Ok(all)
}

/// Converts a Parquet file to JSON Lines, and returns other files unchanged. What cannot be read is noted.
fn with_parquet_as_lines(file: InputFile, notes: &mut Vec<Note>) -> Option<InputFile> {
    if !is_parquet(&file.bytes) {
        return Some(file);
    }
    let mut note = |text: String| {
        notes.push(Note {
            level: NoteLevel::Unreadable,
            file: file.name.as_deref().unwrap_or_default().into(),
            text: text.into(),
        });
    };
    match read_rows(file.bytes, LARGEST_PARQUET) {
        Ok(rows) => {
            let is_empty = rows.count == 0;
            let no_rows = || "This Parquet file has no rows.".to_owned();
            let loss = rows.loss.or_else(|| is_empty.then(no_rows));
            loss.into_iter().for_each(&mut note);
            (!is_empty).then(|| InputFile {
                bytes: rows.lines.into_bytes(),
                ..file
            })
        }
        Err(error) => {
            note(error.to_string());
            None
        }
    }
}

/// A progress bar on a terminal, otherwise nothing.
fn progress(files: usize) -> ProgressBar {
    if files < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{pos} of {len} files {wide_bar}");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
