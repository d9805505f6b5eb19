//! The files of one drop, or the members of one zip. Members are unpacked when they are read, so
//! thousands of frames never lie in memory together.

use std::borrow::Cow;
use std::cell::RefCell;

use volary_core::json::Json;
use volary_core::json::read::ReadError;

use super::InputFile;
use crate::archive::{Archive, ArchiveError, Limits};

/// How much of a file is looked at to recognise it.
const START: usize = 4096;

pub(super) struct Files<'a> {
    files: Vec<File<'a>>,
    archive: Option<RefCell<Archive<'a>>>,
}

struct File<'a> {
    name: String,
    content: Content<'a>,
    open: bool,
}

#[derive(Clone, Copy)]
enum Content<'a> {
    Loose(&'a [u8]),
    Packed(usize),
}

/// Why a file cannot be read as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FileError {
    #[error("{error}")]
    Archive { error: ArchiveError },
    #[error("This is no text: it is not UTF-8.")]
    NotText,
    #[error("This is no JSON: {error}.")]
    NotJson { error: ReadError },
}

impl<'a> Files<'a> {
    pub fn loose(inputs: &[&'a InputFile]) -> Self {
        let file = |input: &&'a InputFile| File {
            name: input.name.clone().unwrap_or_default(),
            content: Content::Loose(&input.bytes),
            open: true,
        };
        Files {
            files: inputs.iter().map(file).collect(),
            archive: None,
        }
    }

    pub fn packed(zip: &'a InputFile, limits: Limits) -> Result<Self, ArchiveError> {
        let archive = Archive::open(&zip.bytes, limits)?;
        let file = |(member, name): (usize, &str)| File {
            name: name.to_owned(),
            content: Content::Packed(member),
            open: !is_litter(name),
        };
        Ok(Files {
            files: archive.names().enumerate().map(file).collect(),
            archive: Some(RefCell::new(archive)),
        })
    }

    /// The files that no format took yet, in order.
    pub fn open(&self) -> Vec<usize> {
        let files = self.files.iter().enumerate();
        files
            .filter(|(_, file)| file.open)
            .map(|(index, _)| index)
            .collect()
    }

    pub fn name(&self, index: usize) -> &str {
        &self.files[index].name
    }

    /// The first few thousand bytes; fewer if the file cannot be unpacked.
    pub fn start(&self, index: usize) -> Cow<'a, [u8]> {
        match (self.files[index].content, &self.archive) {
            (Content::Loose(bytes), _) => Cow::Borrowed(&bytes[..bytes.len().min(START)]),
            (Content::Packed(member), Some(archive)) => {
                Cow::Owned(archive.borrow().start(member, START))
            }
            (Content::Packed(_), None) => Cow::Borrowed(&[]),
        }
    }

    /// Whether a word stands, in double quotes, in the first few thousand bytes.
    pub fn starts_with_quoted(&self, index: usize, word: &str) -> bool {
        let quoted = format!("\"{word}\"");
        self.start(index)
            .windows(quoted.len())
            .any(|window| window == quoted.as_bytes())
    }

    /// Whether the start is all of the file.
    pub fn is_whole(&self, index: usize) -> bool {
        self.start(index).len() < START
    }

    /// Why a file cannot be unpacked.
    pub fn problem(&self, index: usize) -> Option<FileError> {
        // What can be unpacked at least begins.
        if self.archive.is_some() && self.start(index).is_empty() {
            self.text(index).err()
        } else {
            None
        }
    }

    /// Takes a file without reading it.
    pub fn take(&mut self, index: usize) {
        self.files[index].open = false;
    }

    /// Takes a file and reads it as text.
    pub fn take_text(&mut self, index: usize) -> Result<Cow<'a, str>, FileError> {
        self.take(index);
        self.text(index)
    }

    fn text(&self, index: usize) -> Result<Cow<'a, str>, FileError> {
        let text = match (self.files[index].content, &self.archive) {
            (Content::Loose(bytes), _) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            (Content::Packed(member), Some(archive)) => {
                let unpacked = archive.borrow_mut().read(member).transpose()?;
                String::from_utf8(unpacked.unwrap_or_default())
                    .map(Cow::Owned)
                    .ok()
            }
            (Content::Packed(_), None) => None,
        };
        text.ok_or(FileError::NotText)
    }

    /// Reads a file as JSON, without taking it.
    pub fn peek_json(&self, index: usize) -> Result<Json, FileError> {
        let text = self.text(index)?;
        Json::parse(text.trim_start_matches('\u{feff}'))
            .map_err(|error| FileError::NotJson { error })
    }

    /// Takes a file and reads it as JSON.
    pub fn take_json(&mut self, index: usize) -> Result<Json, FileError> {
        self.take(index);
        self.peek_json(index)
    }
}

/// What systems leave in folders.
fn is_litter(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name.ends_with(".DS_Store") || name.ends_with("Thumbs.db")
}
