//! Reads large files piece by piece: the table row of each episode, and the episode's byte range in the file,
//! so that it can be opened from there later. The file itself is never in memory.
//!
//! - `in_place`: what drives all that follows; `opening`: recognises a file ([`open_in_place`]). `slices`: files of lines, or of one list.
//! - `line_filter`: the lines that a search leaves out. `elements`: the boundaries of list elements, in bytes that arrive in chunks. `growing`: parser of a long element
//!   while it arrives. `reading`: a piece of a file to rows. `packed`: logs in zip files. [`torch_dump`]: rollout dumps.
//!   [`annotated`]: annotations of the traces of a file.
//!
//! Invariants: an episode opened from its byte range is the one that its row describes; memory is bounded by
//! the rows and the longest episode, except for files that can only be recognised as a whole
//! ([`Indexer::is_held`]).

pub mod annotated;
mod elements;
mod growing;
mod in_place;
mod line_filter;
mod opening;
mod packed;
mod reading;
mod slices;
pub mod torch_dump;

use std::ops::Range;

use volary_analysis::search::Document;
use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_episode::episode::Episode;

use super::fields::{FieldMapping, Mappings, Unmapped};
use super::{ImportOutcome, Note};
use elements::Elements;
use growing::Growing;
pub use in_place::{InPlace, LARGE, LARGE_GROWING, LARGE_PACKED, Progress, is_large};
pub use line_filter::LineFilter;
pub use opening::{directory, open as open_in_place};
pub use packed::PackedLog;
use reading::{Kind, Pieces};
pub use reading::{open, open_mapped};
pub use slices::Slices;

/// An episode in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub range: EpisodeRange,
    /// Its share of the file, in bytes.
    pub bytes: u64,
    /// The row of the table.
    pub row: Row,
    /// The texts to search, if they were requested ([`Indexer::keep_texts`]).
    pub texts: Option<Document>,
    /// The episode itself, if it was requested ([`InPlace::keep_episodes`]), or is so long that parsing it again would
    /// take noticeable time. The row has its id and its tags.
    pub episode: Option<Episode>,
}

/// Where an episode is in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRange {
    /// The byte ranges. More than one only in zip files, one per member, and if annotations follow the first one.
    pub parts: Vec<Range<u64>>,
    /// Whether the parts are members of a zip file, each with its header.
    pub packed: bool,
    /// The index among the episodes of these bytes, from 0.
    pub number: usize,
}

impl EpisodeRange {
    /// The total number of bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.end - part.start).sum()
    }
}

/// Indexes a file incrementally, as its bytes arrive.
pub struct Indexer {
    pieces: Pieces,
    state: State,
    /// The bytes that are not part of a finished piece.
    held: Vec<u8>,
    /// Their offset in the file.
    held_at: u64,
    /// The number of them that were scanned.
    seen: usize,
    /// The number of the line in which they start, from 1.
    line: usize,
}

enum State {
    /// Not enough bytes to recognise the format.
    Unknown,
    /// One value per line; each line or group of lines is an episode.
    Lines,
    /// One object that contains a long list.
    Elements(Elements, Option<Box<Growing>>),
    /// Neither: the bytes are buffered, and parsed at the end.
    Held,
}

/// The maximum size in bytes of what is read as a whole.
pub const LARGEST_WHOLE: u64 = 512 << 20;
/// The number of bytes that are examined before a file counts as neither lines nor a list.
const LOOKED_AT: usize = 1 << 16;
/// The size in bytes from which an episode is long.
const LONG: usize = 4 << 20;
/// The size in bytes from which an unfinished element is parsed while it arrives.
const GROWING: usize = 1 << 16;
/// The maximum length of the first line in bytes.
const LONGEST_LINE: usize = 256 << 20;

impl Indexer {
    /// Creates an indexer for a file with this path.
    pub fn new(file: impl Into<Text>) -> Self {
        Indexer {
            pieces: Pieces::new(file.into()),
            state: State::Unknown,
            held: Vec::new(),
            held_at: 0,
            seen: 0,
            line: 1,
        }
    }

    /// Reads a small file of the same folder, which may contain metadata of all episodes of this one. Returns whether
    /// it does.
    pub fn beside(&mut self, bytes: &[u8]) -> bool {
        self.pieces.beside(bytes)
    }

    /// Sets whether the texts of the following episodes are collected for a search.
    pub fn keep_texts(&mut self, wanted: bool) {
        self.pieces.keeps_texts = wanted;
    }

    /// Lets all entries contain their episodes.
    pub fn keep_episodes(&mut self) {
        self.pieces.keeps_episodes = true;
    }

    /// Leaves out lines in which a search cannot find anything.
    pub fn leave_out(&mut self, filter: LineFilter) {
        self.pieces.leave_out(filter);
    }

    /// Sets the mappings for records that no reader recognises. Call this before feeding bytes.
    pub fn map_fields(&mut self, mappings: Mappings) {
        self.pieces.map_fields(mappings);
    }

    /// The mapping by which the file is read; to open its episodes, pass it to [`open_mapped`].
    pub fn fields(&self) -> Option<&FieldMapping> {
        self.pieces.fields()
    }

    /// The first record of a file of lines, if no reader knows it and its members can be mapped.
    pub fn unmapped(&self) -> Option<&Unmapped> {
        self.pieces.unmapped()
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.held.extend_from_slice(chunk);
        if matches!(self.state, State::Unknown) {
            self.recognise(false);
        }
        self.advance();
    }

    /// The unfinished episode, as far as its bytes have arrived, without parts that may be truncated. It may
    /// get another id once it is complete. `None` if nothing of it has arrived, and in files with one episode a
    /// line.
    pub fn partial_episode(&self) -> Option<Episode> {
        let State::Elements(elements, Some(growing)) = &self.state else {
            return None;
        };
        self.pieces.beginning(growing.so_far()?, elements.around())
    }

    /// An indexer that continues if the file grows, and the offset from which on it must be fed. `None` if the format
    /// allows no continuation: only lines do. Call this before [`Indexer::finish`].
    ///
    /// The last piece is read again: it may grow.
    pub fn continued(&self) -> Option<(Indexer, u64)> {
        let State::Lines = self.state else {
            return None;
        };
        let (pieces, at, line) = self.pieces.following(self.held_at, self.line);
        let indexer = Indexer {
            pieces,
            state: State::Lines,
            held: Vec::new(),
            held_at: at,
            seen: 0,
            line,
        };
        Some((indexer, at))
    }

    /// Recognises the format if the bytes so far did not suffice and no others follow. Then [`Indexer::is_held`] is final.
    pub fn recognise_at_end(&mut self) {
        if matches!(self.state, State::Unknown) {
            self.recognise(true);
        }
    }

    /// Ends the input: buffered bytes are parsed as far as possible.
    pub fn finish(&mut self) {
        self.recognise_at_end();
        self.advance();
        match &mut self.state {
            State::Lines => {
                let end = self.held.len();
                self.pieces
                    .line(&self.held, 0..end, self.held_at, self.line);
                self.pieces.end_of_lines();
            }
            State::Elements(elements, growing) => {
                let around = elements.around();
                let end = self.held_at + self.held.len() as u64;
                if let Some(growing) = growing.take() {
                    self.pieces.cut_off();
                    self.pieces.grown(*growing, end, around);
                } else if let Some((bytes, start)) = elements.rest(&self.held) {
                    self.pieces.cut_off();
                    let start = self.held_at + start as u64;
                    self.pieces.element(bytes, start, around);
                }
            }
            State::Unknown | State::Held => {
                let held = std::mem::take(&mut self.held);
                self.pieces.whole(held);
            }
        }
        self.held.clear();
        self.pieces.finish();
    }

    /// Takes the entries found since the last call.
    pub fn take_entries(&mut self) -> Vec<Entry> {
        self.pieces.take_entries()
    }

    /// The episodes of a file that had to be held ([`Indexer::is_held`]), after [`Indexer::finish`]. There are
    /// no entries for them.
    pub fn take_episodes(&mut self) -> Vec<Episode> {
        self.pieces.take_episodes()
    }

    /// Whether the whole file must be in memory, since it is neither lines nor a known list. The bytes so far
    /// are in memory already; stop feeding to avoid more.
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Held)
    }

    /// The notes about the file so far.
    pub fn notes(&self) -> &[Note] {
        self.pieces.notes()
    }

    fn recognise(&mut self, at_end: bool) {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        let start = match self.held.strip_prefix(MARK) {
            Some(_) => MARK.len(),
            None => 0,
        };
        let begun = &self.held[start..];
        let enough = at_end || begun.len() >= LOOKED_AT;
        if let Some(kind) = self.pieces.recognise(begun, at_end) {
            self.state = match kind {
                Kind::Lines => State::Lines,
                Kind::List(key) => State::Elements(Elements::new(key), None),
                Kind::Whole => State::Held,
            };
            self.held.drain(..start);
            self.held_at = start as u64;
        } else if at_end || enough && (begun.contains(&b'\n') || begun.len() > LONGEST_LINE) {
            self.state = State::Held;
        }
    }

    fn advance(&mut self) {
        match &mut self.state {
            State::Lines => self.lines(),
            State::Elements(elements, growing) => {
                let mut done = 0;
                while let Some(range) = elements.next(&self.held, &mut self.seen) {
                    done = range.end;
                    let end = self.held_at + done as u64;
                    let bytes = &self.held[range.clone()];
                    match growing.take() {
                        Some(mut grown) => {
                            grown.feed(bytes);
                            self.pieces.grown(*grown, end, elements.around());
                        }
                        None => {
                            let start = self.held_at + range.start as u64;
                            self.pieces.element(bytes, start, elements.around());
                        }
                    }
                }
                if let Some((bytes, start)) = elements.rest(&self.held)
                    && (growing.is_some() || bytes.len() > GROWING && bytes.first() == Some(&b'{'))
                {
                    let start = self.held_at + start as u64;
                    growing
                        .get_or_insert_with(|| Box::new(Growing::new(start)))
                        .feed(bytes);
                    elements.go_on(self.seen);
                }
                // Outside of elements, the bytes belong to the text around the list.
                let done = elements.release(done, self.seen);
                self.drop_held(done);
            }
            State::Unknown | State::Held => {}
        }
    }

    fn lines(&mut self) {
        let whole = memchr::memrchr(b'\n', &self.held).map_or(0, |last| last + 1);
        if self.pieces.rules_out(&self.held[..whole], self.held_at) {
            self.line += memchr::memchr_iter(b'\n', &self.held[..whole]).count();
            self.seen = self.held.len();
            return self.drop_held(whole);
        }
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &self.held[self.seen..]) {
            let end = self.seen + length;
            self.pieces
                .line(&self.held, start..end, self.held_at, self.line);
            start = end + 1;
            self.seen = start;
            self.line += 1;
        }
        self.seen = self.held.len();
        self.drop_held(start);
    }

    fn drop_held(&mut self, length: usize) {
        self.held.drain(..length);
        if length > LONG {
            // A long piece leaves a large unused capacity.
            self.held.shrink_to_fit();
        }
        self.held_at += length as u64;
        self.seen -= length;
    }
}

/// Indexes a file that is in memory.
pub fn index(file: &str, bytes: &[u8]) -> (Vec<Entry>, Vec<Episode>, Vec<Note>) {
    let mut indexer = Indexer::new(file);
    indexer.feed(bytes);
    indexer.finish();
    let entries = indexer.take_entries();
    let episodes = indexer.take_episodes();
    (entries, episodes, indexer.pieces.outcome().notes)
}

/// Takes the episodes of an import without its notes.
fn episodes(outcome: &mut ImportOutcome) -> Vec<Episode> {
    std::mem::take(&mut outcome.episodes)
}
