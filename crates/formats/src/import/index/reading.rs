//! Parses pieces of a file to rows, and a piece to its episode again.

use std::collections::HashMap;
use std::ops::Range;

use volary_analysis::annotations::tags;
use volary_analysis::search;
use volary_analysis::table::Row;
use volary_core::json::{Json, Object, Text};
use volary_episode::episode::Episode;

use super::super::describe::counted;
use super::growing::Growing;
use super::line_filter::LineFilter;
use super::{Entry, EpisodeRange, episodes, packed, torch_dump};
use crate::import::decode::decode;
use crate::import::fields::{FieldMapping, Mappings, Unmapped};
use crate::import::ids::Ids;
use crate::import::mapped::Mapped;
use crate::import::reader::{Document, Grouping, Line, Reader, Sink};
use crate::import::registry::Chosen;
use crate::import::{ImportOutcome, InputFile, Note, NoteLevel, document, import, registry};
use crate::import::{inspect, verifiers};

/// The name of a file with the annotations of an episode.
const ANNOTATIONS: &str = "annotations.jsonl";

/// How a file is divided into pieces.
pub(super) enum Kind {
    Lines,
    /// A list under a key of one object.
    List(&'static [&'static str]),
    Whole,
}

/// The pieces of a file.
pub(super) struct Pieces {
    file: Text,
    reader: Option<Chosen>,
    mappings: Mappings,
    unmapped: Option<Unmapped>,
    grouping: Grouping,
    outcome: ImportOutcome,
    entries: Vec<Entry>,
    whole: Vec<Episode>,
    ids: Ids,
    /// The lines of the unfinished group, and its byte range. Until a second line follows, the first one is here.
    group: Vec<Line>,
    group_range: Range<u64>,
    /// Whether the file has several records, one per line. They are numbered, and a single one is not.
    is_several: bool,
    log: Option<inspect::Log>,
    /// Metadata for all episodes, from a file next to this one.
    about: Option<Object>,
    found: usize,
    /// The number of times that each loss occurred, and the index of its note.
    losses: HashMap<Text, (usize, usize)>,
    /// The search for which lines are left out.
    filter: Option<LineFilter>,
    /// Whether entries contain the texts of their episodes.
    pub keeps_texts: bool,
    /// Whether all entries contain their episodes.
    pub keeps_episodes: bool,
}

impl Pieces {
    pub fn new(file: Text) -> Self {
        Pieces {
            file,
            reader: None,
            mappings: Mappings::default(),
            unmapped: None,
            grouping: Grouping::EachLine,
            outcome: ImportOutcome::default(),
            entries: Vec::new(),
            whole: Vec::new(),
            ids: Ids::default(),
            group: Vec::new(),
            group_range: 0..0,
            is_several: false,
            log: None,
            about: None,
            found: 0,
            losses: HashMap::new(),
            filter: None,
            keeps_texts: false,
            keeps_episodes: false,
        }
    }

    /// Sets the mappings for records that no reader recognises.
    pub fn map_fields(&mut self, mappings: Mappings) {
        self.mappings = mappings;
    }

    /// The mapping by which the file is read, if there is one.
    pub fn fields(&self) -> Option<&FieldMapping> {
        match &self.reader {
            Some(Chosen::Mapped(mapped)) => Some(&mapped.fields),
            _ => None,
        }
    }

    /// The first record, if no reader recognises it and it can be mapped.
    pub fn unmapped(&self) -> Option<&Unmapped> {
        self.unmapped.as_ref()
    }

    pub fn take_entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    pub fn take_episodes(&mut self) -> Vec<Episode> {
        std::mem::take(&mut self.whole)
    }

    pub fn notes(&self) -> &[Note] {
        &self.outcome.notes
    }

    /// Leaves out lines in which a search cannot find anything, if each line is an episode by itself.
    pub fn leave_out(&mut self, filter: LineFilter) {
        self.filter = Some(filter);
    }

    /// Whether the lines from this offset on can be left out.
    pub fn rules_out(&self, lines: &[u8], at: u64) -> bool {
        let each_line = matches!(self.grouping, Grouping::EachLine) && self.is_several;
        let filter = self.filter.as_ref().filter(|_| each_line);
        filter.is_some_and(|filter| filter.rules_out(lines, at))
    }

    pub fn outcome(self) -> ImportOutcome {
        self.outcome
    }

    /// Reads a file of the same folder. Returns whether it contains metadata of all episodes of this one.
    pub fn beside(&mut self, bytes: &[u8]) -> bool {
        let about = verifiers::about_run(bytes);
        let says = about.is_some();
        self.about = about.or(self.about.take());
        says
    }

    /// Recognises the format from the first bytes; `None` if more are needed.
    pub fn recognise(&mut self, begun: &[u8], at_end: bool) -> Option<Kind> {
        const LINES: usize = 8;
        if inspect::begins_as_log(begun) {
            self.reader = registry::reader("inspect").map(Chosen::Known);
            return Some(Kind::List(&["samples"]));
        }
        let lines: Vec<&[u8]> = begun.split(|byte| *byte == b'\n').take(LINES + 1).collect();
        // The last one may be truncated.
        let whole = if at_end || lines.len() > LINES {
            lines.len().min(LINES)
        } else {
            lines.len() - 1
        };
        let enough = at_end || lines.len() > LINES || begun.len() >= super::LOOKED_AT;
        if whole == 0 || !enough {
            return None;
        }
        let lines = lines.iter().take(whole).enumerate();
        let lines: Vec<Line> = lines
            .filter_map(|(index, line)| {
                let text = std::str::from_utf8(line).ok()?;
                let value = Json::parse(text.trim()).ok()?;
                Some(Line {
                    number: index + 1,
                    value,
                })
            })
            .collect();
        if lines.len() * 2 < whole || lines.is_empty() {
            return Some(Kind::Whole);
        }
        // A single line that is a list is not JSON Lines: it would be parsed completely for each of its episodes.
        if let [only] = lines.as_slice()
            && whole == 1
            && (only.value.as_list().is_some() || only.value.get("simulations").is_some())
        {
            return Some(Kind::Whole);
        }
        let document = Document::Lines(lines);
        let Some(reader) = registry::choose(&document, &self.mappings) else {
            self.unmapped = Unmapped::of(&self.file, &document);
            return None;
        };
        self.grouping = reader.get().grouping(&document);
        self.reader = Some(reader);
        Some(match self.grouping {
            Grouping::Whole => Kind::Whole,
            _ => Kind::Lines,
        })
    }

    /// Handles a complete line.
    pub fn line(&mut self, held: &[u8], range: Range<usize>, held_at: u64, number: usize) {
        let file_range = held_at + range.start as u64..held_at + range.end as u64;
        let bytes = held.get(range).unwrap_or_default();
        if bytes.iter().all(u8::is_ascii_whitespace) || self.rules_out(bytes, file_range.start) {
            return;
        }
        let Some(text) = decode(bytes).map(|decoded| decoded.text) else {
            return self.lost(format!("Line {number} is not text."));
        };
        let read = match document::read(text.trim()) {
            Ok(read) => read,
            Err(error) => return self.lost(format!("Line {number} is not valid JSON: {error}.")),
        };
        for loss in read.losses {
            self.lost(format!("Line {number}: {loss}"));
        }
        let Document::Value(value) = read.document else {
            return;
        };
        match self.grouping {
            Grouping::StartedBy(starts) => {
                if starts(&value) {
                    self.end_of_lines();
                }
                if self.group.is_empty() {
                    self.group_range = file_range.clone();
                }
                self.group_range.end = file_range.end;
                self.group.push(Line { number, value });
            }
            _ => {
                let line = Line { number, value };
                if !self.is_several && self.group.is_empty() {
                    self.group_range = file_range;
                    return self.group.push(line);
                }
                self.is_several = true;
                self.end_of_lines();
                let before = self.entries.len();
                self.read(Document::Lines(vec![line]), file_range.clone());
                let found = &self.entries[before..];
                self.filter
                    .take_if(|filter| filter.is_refuted(bytes, file_range.start, found));
            }
        }
    }

    /// The pieces that follow the finished ones, if the file is divided into lines, with the offset of the first line
    /// that is not in a finished piece and its number. Called before [`Pieces::finish`].
    pub fn following(&self, held_at: u64, line: usize) -> (Pieces, u64, usize) {
        let pieces = Pieces {
            reader: self.reader.clone(),
            mappings: self.mappings.clone(),
            grouping: self.grouping,
            ids: self.ids.clone(),
            about: self.about.clone(),
            found: self.found,
            is_several: self.is_several,
            keeps_texts: self.keeps_texts,
            keeps_episodes: self.keeps_episodes,
            ..Pieces::new(self.file.clone())
        };
        match self.group.first() {
            Some(first) => (pieces, self.group_range.start, first.number),
            None => (pieces, held_at, line),
        }
    }

    /// Ends the group of lines.
    pub fn end_of_lines(&mut self) {
        let mut lines = std::mem::take(&mut self.group);
        let is_alone = matches!(self.grouping, Grouping::EachLine) && !self.is_several;
        let document = match lines.pop() {
            None => return,
            Some(only) if is_alone => Document::Value(only.value),
            Some(last) => {
                lines.push(last);
                Document::Lines(lines)
            }
        };
        self.read(document, self.group_range.clone());
    }

    fn read(&mut self, document: Document, range: Range<u64>) {
        let Some(reader) = self.reader.as_ref().map(Chosen::get) else {
            return;
        };
        let notes = self.outcome.notes.len();
        let size = document.size();
        let mut sink = Sink::new(&mut self.outcome, reader.id(), &self.file).within(size);
        reader.read(document, &mut sink);
        if let Some(about) = &self.about
            && reader.id() == verifiers::RESULTS
        {
            let episodes = self.outcome.episodes.iter_mut();
            episodes.for_each(|episode| verifiers::tell_run(episode, about));
        }
        self.found(&[range], false);
        self.forget_praise(notes);
    }

    /// Parses an element of a log's list.
    pub fn element(&mut self, bytes: &[u8], start: u64, around: &[u8]) {
        let range = start..start + bytes.len() as u64;
        self.sample(range, around, |log, sink| {
            inspect::read_sample(bytes, log, sink);
        });
    }

    /// Finishes a long element that was parsed while it arrived.
    pub fn grown(&mut self, growing: Growing, end: u64, around: &[u8]) {
        let range = growing.start()..end;
        let (sample, losses) = growing.end();
        self.sample(range, around, |log, sink| {
            losses.into_iter().for_each(|loss| sink.lost(loss));
            match sample {
                Ok(sample) => inspect::read_object(sample, log, sink),
                Err(reason) => sink.lost(reason),
            }
        });
    }

    fn sample(
        &mut self,
        range: Range<u64>,
        around: &[u8],
        read: impl FnOnce(&inspect::Log, &mut Sink<'_>),
    ) {
        let log = self
            .log
            .get_or_insert_with(|| inspect::Log::of_start(around));
        let notes = self.outcome.notes.len();
        read(
            log,
            &mut Sink::new(&mut self.outcome, "inspect", &self.file),
        );
        self.found(&[range], false);
        self.forget_praise(notes);
    }

    /// The unfinished episode, as far as its element has arrived.
    pub fn beginning(&self, sample: Object, around: &[u8]) -> Option<Episode> {
        let log = inspect::Log::of_start(around);
        inspect::read_beginning(sample, self.log.as_ref().unwrap_or(&log))
    }

    /// Reads the header of a packed log, with the metadata of its samples.
    pub fn packed_head(&mut self, header: &[u8]) {
        self.reader = registry::reader("inspect").map(Chosen::Known);
        self.log = Some(inspect::Log::of_start(header));
    }

    /// Reads the unpacked members of a sample of a packed log.
    pub fn packed(&mut self, members: Vec<(String, Vec<u8>)>, ranges: &[Range<u64>]) {
        let log = self.log.get_or_insert_default();
        let notes = self.outcome.notes.len();
        let mut sink = Sink::new(&mut self.outcome, "inspect", &self.file);
        inspect::read_members(members, log, &mut sink);
        self.found(ranges, true);
        self.forget_praise(notes);
    }

    /// Reports that the file ends within an element.
    pub fn cut_off(&mut self) {
        let text = "The file is cut off within a sample; the content before it is read.";
        self.lost(text.to_owned());
    }

    /// Reads a file that can be recognised only as a whole.
    pub fn whole(&mut self, bytes: Vec<u8>) {
        let file = InputFile {
            name: Some(self.file.to_string()).filter(|name| !name.is_empty()),
            bytes,
        };
        match import(&[file]) {
            Ok(outcome) => {
                self.found += outcome.episodes.len();
                self.whole = outcome.episodes;
                self.outcome.notes.extend(outcome.notes);
            }
            Err(error) => self.lost(error.to_string()),
        }
    }

    /// Makes rows of the episodes that were just parsed.
    fn found(&mut self, parts: &[Range<u64>], packed: bool) {
        let length: u64 = parts.iter().map(|part| part.end - part.start).sum();
        let is_long = length > super::LONG as u64;
        for (number, episode) in episodes(&mut self.outcome).into_iter().enumerate() {
            let range = EpisodeRange {
                parts: parts.to_vec(),
                packed,
                number,
            };
            self.entry(episode, range, length, is_long);
        }
    }

    fn entry(
        &mut self,
        mut episode: Episode,
        range: EpisodeRange,
        bytes: u64,
        keeps_episode: bool,
    ) {
        let tags = tags::take(&mut episode);
        let mut row = Row::of(&episode, tags);
        row.id = self.ids.free(&row.id);
        self.found += 1;
        self.entries.push(Entry {
            range,
            bytes,
            row,
            texts: self.keeps_texts.then(|| search::Document::of(&episode)),
            episode: (self.keeps_episodes || keeps_episode).then_some(episode),
        });
    }

    /// Adds a sample of a dump, whose share of the file is `bytes`.
    pub fn dumped(&mut self, range: EpisodeRange, bytes: u64, mut read: ImportOutcome) {
        let notes = self.outcome.notes.len();
        self.outcome.notes.append(&mut read.notes);
        for episode in episodes(&mut read) {
            self.entry(episode, range.clone(), bytes, false);
        }
        self.forget_praise(notes);
    }

    /// Removes the notes about success; they are reported once, at the end.
    fn forget_praise(&mut self, from: usize) {
        let notes = self.outcome.notes.split_off(from);
        let losses = notes.into_iter();
        let losses = losses.filter(|note| note.level == NoteLevel::Unreadable);
        losses.for_each(|note| self.note_loss(note));
    }

    pub fn lost(&mut self, text: String) {
        self.note_loss(Note {
            level: NoteLevel::Unreadable,
            file: self.file.clone(),
            text: text.into(),
        });
    }

    /// Adds a note, or counts it if another piece had the same loss.
    fn note_loss(&mut self, mut note: Note) {
        const MOST: usize = 200;
        let notes = &mut self.outcome.notes;
        if let Some((count, index)) = self.losses.get_mut(&note.text) {
            *count += 1;
            note.text = format!("{} ({count} times)", note.text).into();
            if let Some(known) = notes.get_mut(*index) {
                *known = note;
            }
        } else if notes.len() < MOST {
            self.losses.insert(note.text.clone(), (1, notes.len()));
            notes.push(note);
        }
    }

    pub fn finish(&mut self) {
        if let Some(reader) = &self.reader
            && self.found > 0
            && self.whole.is_empty()
        {
            let text = format!(
                "{}: {}.",
                counted(self.found, "episode"),
                reader.get().name()
            );
            self.outcome.note(NoteLevel::Read, &self.file.clone(), text);
        }
    }
}

/// Opens an episode: `parts` are the bytes in its range, `file` is the path of the file. The episode has the id
/// of its row.
pub fn open(file: &str, parts: Vec<Vec<u8>>, range: &EpisodeRange, row: &Row) -> Option<Episode> {
    open_mapped(file, parts, range, row, None)
}

/// Opens an episode of a file that was read with this mapping.
pub fn open_mapped(
    file: &str,
    parts: Vec<Vec<u8>>,
    range: &EpisodeRange,
    row: &Row,
    fields: Option<&FieldMapping>,
) -> Option<Episode> {
    if torch_dump::is_sample(range, &parts) {
        return torch_dump::open_sample(file, &parts, range, row);
    }
    let outcome = match (range.packed, fields) {
        (true, _) => packed::import_sample(file, &parts),
        (false, Some(fields)) => import_record(file, parts.first()?, fields)?,
        (false, None) => {
            let mut parts = parts.into_iter();
            let own = InputFile {
                name: Some(file.to_owned()),
                bytes: parts.next()?,
            };
            let annotations: Vec<Vec<u8>> = parts.collect();
            let annotations = (!annotations.is_empty()).then(|| InputFile {
                name: Some(ANNOTATIONS.to_owned()),
                bytes: annotations.join(&b'\n'),
            });
            let files: Vec<InputFile> = std::iter::once(own).chain(annotations).collect();
            import(&files).ok()?
        }
    };
    let mut episode = outcome.episodes.into_iter().nth(range.number)?;
    episode.id = row.id.clone();
    // It may say the number of the line.
    episode.name = row.name.clone();
    // The row has them.
    tags::take(&mut episode);
    let source = episode.source.as_ref();
    if source.is_some_and(|source| ["inspect", verifiers::RESULTS].contains(&&*source.format)) {
        // The metadata of all samples is elsewhere in the file, or in a sibling file.
        episode.environment = row.environment.clone();
        episode.model = row.model.clone();
        episode.task = row.task.clone();
        for (key, value) in row.metadata.clone() {
            if !episode.metadata.contains_key(&key) {
                episode.metadata.insert(key, value);
            }
        }
    }
    Some(episode)
}

/// Imports a record with a mapping.
fn import_record(file: &str, bytes: &[u8], fields: &FieldMapping) -> Option<ImportOutcome> {
    let mut outcome = ImportOutcome::default();
    let read = document::read(decode(bytes)?.text.trim()).ok()?;
    let reader = Mapped {
        fields: fields.clone(),
    };
    let size = read.document.size();
    let mut sink = Sink::new(&mut outcome, reader.id(), file).within(size);
    reader.read(read.document, &mut sink);
    Some(outcome)
}
