//! Reads large files of lines in batches. Batches are independent of each other, so that threads can read several at
//! once; the file is never in memory.
//!
//! Invariants: the episodes of all batches are those of the file as a whole, and their ids differ once they passed
//! [`Ids`] in order. Links between episodes are only completed within a batch.

use std::collections::HashMap;

use volary_core::json::Text;
use volary_episode::episode::Episode;

use super::document::{filled, lines_of};
use super::fields::Mappings;
use super::reader::{Document, Sink};
use super::registry::Chosen;
use super::{ImportOutcome, Note, NoteLevel, decode, index, links};

/// A file of lines, each of which is an episode or several.
pub struct LineReader {
    file: Text,
    reader: Chosen,
}

/// Whether a line is wanted.
pub type Wanted<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// The ids that episodes have already.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    /// The number of times that each id was assigned.
    taken: HashMap<Text, usize>,
}

/// What a batch contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Their ids may be those of episodes of other batches: see [`Ids`].
    pub episodes: Vec<Episode>,
    /// What was not understood, or could not be read.
    pub notes: Vec<Note>,
}

impl LineReader {
    /// Recognises a file from its first bytes. `None` if it can only be read as a whole, or if they do not suffice.
    pub fn of(file: &str, begun: &[u8], mappings: &Mappings) -> Option<LineReader> {
        Some(LineReader {
            file: file.into(),
            reader: index::reader_of_lines(begun, mappings)?,
        })
    }

    /// Reads whole lines, at least two unless the file has only one: a record of its own is named in another way.
    /// `first` is the number of the first line, from 1; `is_end` says whether the last one ends the file. Lines that
    /// are not `wanted` are skipped.
    pub fn read(
        &self,
        lines: &[u8],
        first: usize,
        is_end: bool,
        wanted: Option<&Wanted<'_>>,
    ) -> Batch {
        let mut outcome = ImportOutcome::default();
        let Some(decoded) = decode::decode(lines) else {
            outcome.note(
                NoteLevel::Unreadable,
                &self.file,
                format!("The lines from {first} on are not text."),
            );
            return Batch {
                episodes: Vec::new(),
                notes: outcome.notes,
            };
        };
        let all = filled(&decoded.text).map(|(number, line)| (first + number - 1, line));
        let read = match wanted {
            None => lines_of(all, is_end),
            Some(wanted) => lines_of(some(all, wanted).into_iter(), is_end),
        };
        for loss in read.losses {
            outcome.note(NoteLevel::Unreadable, &self.file, loss);
        }
        let reader = self.reader.get();
        let size = read.document.size();
        if let Document::Lines(lines) = &read.document
            && !lines.is_empty()
        {
            let mut sink = Sink::new(&mut outcome, reader.id(), &self.file).within(size);
            reader.read(read.document, &mut sink);
        }
        links::resolve(&mut outcome.episodes);
        outcome.notes.retain(|note| note.level != NoteLevel::Read);
        Batch {
            episodes: outcome.episodes,
            notes: outcome.notes,
        }
    }
}

/// The wanted lines. A single one is accompanied by another one.
fn some<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    wanted: &Wanted<'_>,
) -> Vec<(usize, &'a str)> {
    let mut other = None;
    let mut some = Vec::new();
    for line in lines {
        if wanted(line.1.as_bytes()) {
            some.push(line)
        } else {
            other = Some(line)
        }
    }
    if let ([_], Some(other)) = (some.as_slice(), other) {
        some.push(other);
        some.sort_by_key(|(number, _)| *number);
    }
    some
}

impl Ids {
    /// Makes ids differ: later duplicates get a number.
    pub fn make_differ(&mut self, episodes: &mut [Episode]) {
        for episode in episodes {
            episode.id = self.free(&episode.id);
        }
    }

    /// The id, or if an earlier episode has it, the id with a number. It is taken from now on.
    pub(super) fn free(&mut self, first: &Text) -> Text {
        let mut id = first.clone();
        let mut number = self.taken.get(first).copied().unwrap_or_default();
        while self.taken.contains_key(&id) {
            number += 1;
            id = format!("{first} ({})", number + 1).into();
        }
        self.taken.insert(first.clone(), number);
        self.taken.entry(id.clone()).or_default();
        id
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InputFile, import};
    use super::*;

    fn file() -> String {
        let line = |number: usize| match number {
            7 => "{\"messages\": [{oops}\n".to_owned(),
            _ => format!(
                "{{\"id\": \"task-{}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Say {number}.\"}}]}}\n",
                number % 5
            ),
        };
        let mut text: String = (1..=20).map(line).collect();
        // The last one is cut off.
        text.truncate(text.len() - 6);
        text
    }

    #[test]
    fn batches_have_the_episodes_of_the_file() {
        let text = file();
        let whole = import(&[InputFile {
            name: Some("a/run.jsonl".to_owned()),
            bytes: text.clone().into_bytes(),
        }])
        .unwrap();
        let reader = LineReader::of("a/run.jsonl", text.as_bytes(), &Mappings::default()).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for size in [2, 3, 9, 20] {
            let mut ids = Ids::default();
            let (mut episodes, mut notes) = (Vec::new(), Vec::new());
            let mut first = 1;
            for some in lines.chunks(size) {
                let is_end = first + some.len() > lines.len();
                let mut batch = reader.read(some.concat().as_bytes(), first, is_end, None);
                ids.make_differ(&mut batch.episodes);
                episodes.extend(batch.episodes);
                notes.extend(batch.notes);
                first += some.len();
            }
            assert_eq!(episodes, whole.episodes, "{size}");
            let losses = whole
                .notes
                .iter()
                .filter(|note| note.level != NoteLevel::Read);
            assert_eq!(notes, losses.cloned().collect::<Vec<_>>(), "{size}");
        }
    }

    #[test]
    fn lines_are_skipped_but_counted() {
        let text = file();
        let reader = LineReader::of("run.jsonl", text.as_bytes(), &Mappings::default()).unwrap();
        let all = reader.read(text.as_bytes(), 1, true, None);
        let wanted = |line: &[u8]| memchr::memmem::find(line, b"Say 12.").is_some();
        let some = reader.read(text.as_bytes(), 1, true, Some(&wanted));
        assert!(some.episodes.len() < 3);
        let expected = all
            .episodes
            .iter()
            .find(|episode| episode.start == some.episodes[0].start);
        assert_eq!(Some(&some.episodes[0]), expected);
    }

    #[test]
    fn other_files_are_read_as_a_whole() {
        let bare = "{\"role\": \"user\", \"content\": \"Hi\"}\n".repeat(20);
        for text in ["{\n\"messages\": []\n}\n", "some text\n", &bare] {
            let text = text.repeat(4_000);
            assert!(LineReader::of("x", text.as_bytes(), &Mappings::default()).is_none());
        }
    }
}
