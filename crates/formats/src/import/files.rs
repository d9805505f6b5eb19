//! The files of one drop, folder or archive. Members of zip files are unpacked when they are read, so that thousands of
//! frames are never in memory at the same time.
//!
//! Invariants: names are relative paths with slashes; paths that leave their folder are rejected when the files are
//! collected.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use memchr::memmem;
use volary_core::json::Json;
use volary_core::json::read::ReadError;

use super::decode::{Decoded, decode};
use super::document::{self, DocumentRead};
use super::memory::{Memory, TooMuchMemory};
use super::{ImportOutcome, InputFile, NoteLevel};
use crate::archive::{Archive, ArchiveError, Limits};

/// The number of bytes at the start of a file that are used to recognise it.
const START: usize = 4096;

/// A set of files that were imported together.
pub(crate) struct Files<'a> {
    /// The container, such as the path of an archive; empty for dropped files.
    container: String,
    files: Vec<File<'a>>,
    /// The indices of all files, sorted by name: archives may have tens of thousands.
    sorted: OnceCell<Vec<usize>>,
    archive: Option<RefCell<Archive<'a>>>,
    memory: Memory,
}

struct File<'a> {
    name: String,
    content: Content<'a>,
    open: bool,
    /// Whether the memory of its values is taken: it is parsed again, but not kept twice.
    counted: Cell<bool>,
}

enum Content<'a> {
    Loose(Cow<'a, [u8]>),
    Packed(usize),
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FileError {
    #[error("{error}")]
    Archive { error: ArchiveError },
    #[error("This is not a text file: it is not UTF-8.")]
    NotText,
    #[error("This is not valid JSON: {error}.")]
    NotJson { error: ReadError },
    #[error("{error}")]
    TooMuchMemory { error: TooMuchMemory },
}

impl From<ArchiveError> for FileError {
    fn from(error: ArchiveError) -> Self {
        FileError::Archive { error }
    }
}

impl<'a> Files<'a> {
    /// Dropped files.
    pub fn loose(inputs: &'a [InputFile], outcome: &mut ImportOutcome) -> Self {
        let mut files = Files::new("", outcome);
        for input in inputs {
            let name = input.name.as_deref().unwrap_or_default();
            files.add(name, Content::Loose(Cow::Borrowed(&input.bytes)), outcome);
        }
        files
    }

    /// The members of a zip file.
    pub fn packed(
        name: &str,
        bytes: &'a [u8],
        limits: Limits,
        left: Rc<Cell<usize>>,
        outcome: &mut ImportOutcome,
    ) -> Result<Self, ArchiveError> {
        let archive = Archive::open_within(bytes, limits, left)?;
        let mut files = Files::new(name, outcome);
        if archive.is_cut() {
            let text = "This zip file is cut off or damaged: the directory at its end is missing. \
                 The files that were found are read; others may be missing.";
            outcome.note(NoteLevel::Unreadable, name, text);
        }
        for (member, name) in archive.names().enumerate() {
            files.add(name, Content::Packed(member), outcome);
        }
        files.archive = Some(RefCell::new(archive));
        Ok(files)
    }

    /// Files that are unpacked already.
    pub fn unpacked(
        name: &str,
        members: Vec<(String, Vec<u8>)>,
        outcome: &mut ImportOutcome,
    ) -> Files<'static> {
        let mut files = Files::new(name, outcome);
        for (name, bytes) in members {
            files.add(&name, Content::Loose(Cow::Owned(bytes)), outcome);
        }
        files
    }

    fn new(container: &str, outcome: &ImportOutcome) -> Self {
        Files {
            container: container.to_owned(),
            files: Vec::new(),
            sorted: OnceCell::new(),
            archive: None,
            memory: outcome.memory.clone(),
        }
    }

    fn add(&mut self, name: &str, content: Content<'a>, outcome: &mut ImportOutcome) {
        let Some(name) = relative(name) else {
            let text = "Its path leads outside its folder, so it is not read.";
            return outcome.note(NoteLevel::Unreadable, name, text);
        };
        let open = !is_litter(&name);
        self.files.push(File {
            name,
            content,
            open,
            counted: Cell::new(false),
        });
    }

    /// The path of the containing archive; empty for dropped files.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Whether the files are the members of a PyTorch file.
    pub fn is_torch(&self) -> bool {
        let mut names = self.files.iter().map(|file| file.name.as_str());
        names.any(|name| name == "data.pkl" || name.ends_with("/data.pkl"))
    }

    /// The files that no reader has taken, in order.
    pub fn open(&self) -> Vec<usize> {
        let files = self.files.iter().enumerate();
        files
            .filter(|(_, file)| file.open)
            .map(|(index, _)| index)
            .collect()
    }

    /// Whether no reader has taken a file.
    pub fn is_open(&self, index: usize) -> bool {
        self.files.get(index).is_some_and(|file| file.open)
    }

    /// The file with a path, if no reader has taken it.
    pub fn find(&self, name: &str) -> Option<usize> {
        let mut found = self
            .from(name)
            .take_while(|index| self.name(*index) == name);
        found.find(|index| self.is_open(*index))
    }

    /// The files that no reader has taken whose path begins like this, in order.
    pub fn below(&self, start: &str) -> Vec<usize> {
        let found = self.from(start);
        let found = found.take_while(|index| self.name(*index).starts_with(start));
        let mut found: Vec<usize> = found.filter(|index| self.is_open(*index)).collect();
        found.sort_unstable();
        found
    }

    /// All files from this name on, by name.
    fn from(&self, name: &str) -> impl Iterator<Item = usize> {
        let sorted = self.sorted.get_or_init(|| {
            let mut sorted: Vec<usize> = (0..self.files.len()).collect();
            sorted.sort_by_key(|index| self.name(*index));
            sorted
        });
        let start = sorted.partition_point(|index| self.name(*index) < name);
        sorted.iter().skip(start).copied()
    }

    /// The path of a file.
    pub fn name(&self, index: usize) -> &str {
        &self.files[index].name
    }

    /// The first [`START`] bytes; fewer if the file cannot be unpacked.
    pub fn start(&self, index: usize) -> Cow<'_, [u8]> {
        match (&self.files[index].content, &self.archive) {
            (Content::Loose(bytes), _) => Cow::Borrowed(&bytes[..bytes.len().min(START)]),
            (Content::Packed(member), Some(archive)) => {
                Cow::Owned(archive.borrow().start(*member, START))
            }
            (Content::Packed(_), None) => Cow::Borrowed(&[]),
        }
    }

    /// Whether a word occurs in double quotes within the first [`START`] bytes.
    pub fn starts_with_quoted(&self, index: usize, word: &str) -> bool {
        let quoted = format!("\"{word}\"");
        memmem::find(&self.start(index), quoted.as_bytes()).is_some()
    }

    /// Whether the start is the whole file.
    pub fn is_whole(&self, index: usize) -> bool {
        self.start(index).len() < START
    }

    /// The reason why a file cannot be unpacked; `None` if it can.
    pub fn problem(&self, index: usize) -> Option<FileError> {
        // A file that can be unpacked has a non-empty start.
        if self.archive.is_some() && self.start(index).is_empty() {
            self.bytes(index).err().map(|(error, _)| error)
        } else {
            None
        }
    }

    /// Marks a file as taken without reading it.
    pub fn take(&mut self, index: usize) {
        self.files[index].open = false;
    }

    /// Takes a file and returns its bytes. An error contains the bytes that precede the damage.
    pub fn take_bytes(&mut self, index: usize) -> Result<Cow<'_, [u8]>, (FileError, Vec<u8>)> {
        self.take(index);
        self.bytes(index)
    }

    /// The bytes of a file, without taking it. An error contains the bytes that precede the damage.
    pub fn bytes(&self, index: usize) -> Result<Cow<'_, [u8]>, (FileError, Vec<u8>)> {
        match (&self.files[index].content, &self.archive) {
            (Content::Loose(bytes), _) => Ok(Cow::Borrowed(bytes)),
            (Content::Packed(member), Some(archive)) => {
                let read = archive.borrow().read_partly(*member);
                let read = read.unwrap_or_else(|| Ok(Vec::new()));
                read.map(Cow::Owned)
                    .map_err(|(error, bytes)| (error.into(), bytes))
            }
            (Content::Packed(_), None) => Ok(Cow::Borrowed(&[])),
        }
    }

    fn text(&self, index: usize) -> Result<Cow<'_, str>, FileError> {
        let decoded = match self.bytes(index).map_err(|(error, _)| error)? {
            Cow::Borrowed(bytes) => decode(bytes).map(|decoded| decoded.text),
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) if !text.starts_with('\u{feff}') => Some(Cow::Owned(text)),
                Ok(text) => Some(Cow::Owned(text.trim_start_matches('\u{feff}').to_owned())),
                Err(error) => {
                    let decoded = decode(error.as_bytes());
                    decoded.map(|decoded| Cow::Owned(decoded.text.into_owned()))
                }
            },
        };
        decoded.ok_or(FileError::NotText)
    }

    /// Takes the memory that the values of a file will take, once.
    fn count(&self, index: usize, text: &str) -> Result<(), FileError> {
        let counted = &self.files[index].counted;
        if !counted.get() {
            let taken = self.memory.take_json(text.as_bytes());
            taken.map_err(|error| FileError::TooMuchMemory { error })?;
            counted.set(true);
        }
        Ok(())
    }

    /// Reads a file as one JSON value, without taking it.
    pub fn peek_json(&self, index: usize) -> Result<Json, FileError> {
        let text = self.text(index)?;
        self.count(index, &text)?;
        Json::parse(&text).map_err(|error| FileError::NotJson { error })
    }

    /// Takes a file and returns its text, in any encoding that is recognised.
    pub fn take_text(&mut self, index: usize) -> Result<String, FileError> {
        let text = self.text(index)?.into_owned();
        self.take(index);
        Ok(text)
    }

    /// Takes a file and parses it as one JSON value. Truncated or malformed JSON is an error; see
    /// [`Files::read_document`] for a tolerant parser.
    pub fn take_json(&mut self, index: usize) -> Result<Json, FileError> {
        self.take(index);
        self.peek_json(index)
    }

    /// Parses as much of a file as possible, as one JSON value or as one per line, without taking the file.
    pub fn read_document(&self, index: usize) -> Result<DocumentRead, FileError> {
        let (bytes, problem) = match self.bytes(index) {
            Ok(bytes) => (bytes, None),
            Err((error, bytes)) if !bytes.is_empty() => (Cow::Owned(bytes), Some(error)),
            Err((error, _)) => return Err(error),
        };
        // If nothing useful was unpacked, the reason is the unpacking error.
        let refused = |error| problem.clone().unwrap_or(error);
        let decoded = decode(&bytes).ok_or_else(|| refused(FileError::NotText))?;
        let Decoded { text, remark } = decoded;
        self.count(index, &text)?;
        let read = document::read(&text);
        let mut read = read.map_err(|error| refused(FileError::NotJson { error }))?;
        if let Some(remark) = remark {
            read.remarks.push(remark.to_owned());
        }
        if let Some(problem) = problem {
            read.losses.push(problem.to_string());
        }
        Ok(read)
    }
}

/// Normalizes a path to slashes, without `.`; `None` if it leads out of its folder.
fn relative(name: &str) -> Option<String> {
    let name = name.replace('\\', "/");
    let has_drive = name.as_bytes().get(1) == Some(&b':') && name.as_bytes().get(2) == Some(&b'/');
    if name.starts_with('/') || has_drive || name.contains('\0') {
        return None;
    }
    let parts: Vec<&str> = name
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    (!parts.contains(&"..")).then(|| parts.join("/"))
}

/// Whether a file is metadata of an operating system.
fn is_litter(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    name.starts_with("__MACOSX/")
        || file.starts_with("._")
        || matches!(file, ".DS_Store" | "Thumbs.db")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_found_by_name_and_below_a_folder() {
        let names = ["b/2", "b/1", "a", "b/2", "bc", "b"];
        let members = names.map(|name| (name.to_owned(), Vec::new()));
        let mut files = Files::unpacked("", members.into(), &mut ImportOutcome::default());
        assert_eq!(files.find("b/2"), Some(0));
        files.take(0);
        assert_eq!((files.find("b/2"), files.find("b/3")), (Some(3), None));
        assert_eq!(files.below("b/"), [1, 3]);
        assert_eq!(files.below(""), [1, 2, 3, 4, 5]);
        assert!(files.below("c").is_empty());
    }

    #[test]
    fn paths_stay_within_their_folder() {
        for (name, expected) in [
            ("a.json", Some("a.json")),
            ("./x//y.json", Some("x/y.json")),
            ("x\\y.json", Some("x/y.json")),
            ("..a/b..", Some("..a/b..")),
            ("../a.json", None),
            ("x/../../a", None),
            ("x\\..\\a", None),
            ("/etc/passwd", None),
            ("C:\\a.json", None),
            ("a\0b", None),
        ] {
            assert_eq!(relative(name).as_deref(), expected, "{name}");
        }
    }
}
