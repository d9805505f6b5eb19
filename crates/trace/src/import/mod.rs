//! Bytes of any known kind to episodes, with a report of what was understood, what was kept as it
//! was, and what could not be read.
//!
//! Files are recognised by what they hold; names only help to order them. Each format is one file
//! here and one line in `FORMATS`. A format takes the files that it understands and leaves the
//! others to the next.
//!
//! - `files`: the files of one drop or one zip, read only when needed. `describe`: what a file
//!   seems to be, for people.
//! - `native`: Volary's own format. `renderer`: Aviary Renderer files.

mod describe;
mod files;
mod native;
mod renderer;

use volary_core::json::Text;

use crate::archive::{ArchiveError, Limits, is_archive};
use crate::episode::Episode;
use files::Files;

/// A file as it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFile {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOutcome {
    /// The episodes; at least one.
    pub episodes: Vec<Episode>,
    /// What there is to say about the files.
    pub notes: Vec<Note>,
}

/// A line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How it went.
    pub level: NoteLevel,
    /// The file; empty where it has no name.
    pub file: Text,
    /// What there is to say.
    pub text: Text,
}

/// How it went with a file, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteLevel {
    /// It was understood.
    Read,
    /// It was not understood, but is kept.
    KeptRaw,
    /// It could not be read, or is missing.
    Unreadable,
}

/// Why nothing was imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// There were no files.
    #[error("There is nothing to import: no file was given.")]
    NoFiles,
    /// No file held an episode.
    #[error("No episode was found. {}{}", seen(.notes), understood())]
    NoEpisode {
        /// What was seen instead.
        notes: Vec<Note>,
    },
}

/// A format that is understood.
struct Format {
    /// What it is called, and how it comes, for people.
    name: &'static str,
    /// Takes the files that it understands and adds what came of them.
    read: fn(&mut Files<'_>, &mut ImportOutcome),
}

const FORMATS: [Format; 2] = [
    Format {
        name: "Volary episodes (JSON, one a line, or zip)",
        read: native::read,
    },
    Format {
        name: "Aviary Renderer files (manifest and frames, together or as zip)",
        read: renderer::read,
    },
];

/// Imports files. Those that are loose are looked at together, the members of each zip too.
pub fn import(inputs: &[InputFile]) -> Result<ImportOutcome, ImportError> {
    import_within(inputs, Limits::default())
}

/// Imports files, with limits for those in zips.
pub fn import_within(inputs: &[InputFile], limits: Limits) -> Result<ImportOutcome, ImportError> {
    if inputs.is_empty() {
        return Err(ImportError::NoFiles);
    }
    let mut outcome = ImportOutcome::default();
    let (zips, loose): (Vec<_>, Vec<_>) = inputs.iter().partition(|file| is_archive(&file.bytes));
    if !loose.is_empty() {
        read_all(Files::loose(&loose), &mut outcome);
    }
    for zip in zips {
        match Files::packed(zip, limits) {
            Ok(files) => read_all(files, &mut outcome),
            Err(error) => outcome.refuse(zip.name.as_deref().unwrap_or_default(), &error),
        }
    }
    if outcome.episodes.is_empty() {
        return Err(ImportError::NoEpisode {
            notes: outcome.notes,
        });
    }
    Ok(outcome)
}

fn read_all(mut files: Files<'_>, outcome: &mut ImportOutcome) {
    for format in FORMATS {
        (format.read)(&mut files, outcome);
    }
    leftovers(&files, outcome);
}

/// Says what the files are that no format took.
fn leftovers(files: &Files<'_>, outcome: &mut ImportOutcome) {
    const MOST: usize = 20;
    let open = files.open();
    for &index in open.iter().take(MOST) {
        let text = match files.problem(index) {
            Some(error) => error.to_string(),
            None => {
                let what = describe::describe(&files.start(index), files.is_whole(index));
                format!("This is {what}, which is not understood.")
            }
        };
        outcome.note(NoteLevel::Unreadable, files.name(index), text);
    }
    if open.len() > MOST {
        let text = format!("And {} more files are not understood.", open.len() - MOST);
        outcome.note(NoteLevel::Unreadable, "", text);
    }
}

impl ImportOutcome {
    fn note(&mut self, level: NoteLevel, file: &str, text: impl Into<Text>) {
        self.notes.push(Note {
            level,
            file: file.into(),
            text: text.into(),
        });
    }

    fn refuse(&mut self, file: &str, error: &dyn std::error::Error) {
        self.note(NoteLevel::Unreadable, file, error.to_string());
    }
}

impl From<ArchiveError> for files::FileError {
    fn from(error: ArchiveError) -> Self {
        files::FileError::Archive { error }
    }
}

fn seen(notes: &[Note]) -> String {
    const MOST: usize = 5;
    let mut text = String::new();
    for note in notes.iter().take(MOST) {
        if !note.file.is_empty() {
            text.push_str(&format!("{}: ", note.file));
        }
        text.push_str(&format!("{} ", note.text));
    }
    match notes.len().saturating_sub(MOST) {
        0 => text,
        more => format!("{text}And {more} more. "),
    }
}

fn understood() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!("Understood are: {}.", names.join("; "))
}
