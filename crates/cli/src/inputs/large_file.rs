//! A large file on the disk, which is read in place: the whole file is never in memory.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::ready;
use volary_analysis::annotations::tags;
use volary_core::json::Text;
use volary_episode::Episode;
use volary_formats::import::index::{Entry, InPlace, Progress, is_large, open_in_place};
use volary_formats::import::{Note, resolve_links};
use volary_formats::read_at::{ReadAt, ReadBytes, ReadError};
use volary_parquet::is_parquet;

use super::batches::Reading;
use super::groups::Group;

/// A large file that is being read.
pub struct LargeFile {
    reader: Box<dyn InPlace>,
    /// The least number of bytes of a part.
    part: u64,
}

/// A part of a large file.
pub enum Part {
    /// The next episodes of the file, and the number of bytes that they were read from. The last message has the notes about the
    /// file.
    Episodes {
        episodes: Vec<Episode>,
        bytes: u64,
        end: Option<Vec<Note>>,
    },
    /// The file can only be read as a whole. No part precedes this one.
    Whole,
}

impl LargeFile {
    /// Opens the file of a group. `None` if there are several files, if the file is small, or if it must be read as a whole.
    pub fn open(group: &Group, reading: &Reading<'_>) -> Option<LargeFile> {
        let [path] = group.files.as_slice() else {
            return None;
        };
        // Errors are reported when it is read as a whole.
        let mut file = File::open(group.root.join(path)).ok()?;
        let size = file.metadata().ok()?.len();
        let mut start = Vec::new();
        file.by_ref().take(4).read_to_end(&mut start).ok()?;
        if !is_large(size, &start, false) || is_parquet(&start) {
            return None;
        }
        let file = DiskFile {
            name: path.to_string_lossy().into(),
            size,
            file: RefCell::new(file),
        };
        let mut reader = now(open_in_place(Rc::new(file), reading.mappings.clone())).ok()??;
        reader.keep_episodes();
        if let Some(filter) = &reading.filter {
            reader.leave_out(filter.clone());
        }
        Some(LargeFile {
            reader,
            part: reading.batch,
        })
    }

    /// Reads the next part.
    pub fn next_part(&mut self) -> Result<Part, ReadError> {
        let (mut episodes, mut bytes) = (Vec::new(), 0);
        let mut add = |entries: Vec<Entry>| {
            for entry in entries {
                bytes += entry.bytes;
                episodes.extend(episode_of(entry));
            }
            bytes
        };
        let notes = loop {
            let progress = now(self.reader.next())?;
            match progress {
                Progress::Whole => return Ok(Part::Whole),
                Progress::More if add(self.reader.take_entries()) < self.part => {}
                Progress::More => break None,
                Progress::End => {
                    self.reader.finish();
                    add(self.reader.take_entries());
                    break Some(self.reader.notes());
                }
            }
        };
        resolve_links(&mut episodes);
        Ok(Part::Episodes {
            episodes,
            bytes,
            end: notes,
        })
    }
}

/// The episode of an entry, with the id and the tags of its row.
fn episode_of(entry: Entry) -> Option<Episode> {
    let mut episode = entry.episode?;
    episode.id = entry.row.id;
    tags::put(&mut episode, entry.row.tags);
    Some(episode)
}

/// The output of a future that reads a file of the disk, which waits for nothing.
fn now<T>(work: impl Future<Output = Result<T, ReadError>>) -> Result<T, ReadError> {
    let waits = || Err(ReadError::refused("The file cannot be read in place."));
    work.now_or_never().unwrap_or_else(waits)
}

/// Reads ranges by the system's position in the file, which each read sets.
struct DiskFile {
    name: Text,
    size: u64,
    file: RefCell<File>,
}

impl DiskFile {
    fn bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut file = self.file.borrow_mut();
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(range.start))?;
        let length = range.end.saturating_sub(range.start);
        file.by_ref().take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

impl ReadAt for DiskFile {
    fn name(&self) -> Text {
        self.name.clone()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, range: Range<u64>) -> ReadBytes<'_> {
        let bytes = self.bytes(range).map_err(ReadError::refused);
        ready(bytes).boxed_local()
    }
}
