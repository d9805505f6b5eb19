//! The report of an import: its notes as lines. Pure.
//!
//! Invariant: its size does not grow with the number of files. The files of each step of a training run say the same.

use volary_core::json::Text;
use volary_formats::import::{Note, NoteLevel};

/// The maximum number of lines.
const MOST_LINES: usize = 50;
/// The maximum number of notes that are kept, so that those that matter most are among them.
const MOST_KEPT: usize = 1_000;

/// The notes on the files of an import.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// A note that several files have is kept once, with the number of other files.
    told: Vec<(Note, usize)>,
    /// The number of further notes.
    left_out: usize,
}

impl Report {
    pub fn add(&mut self, note: Note) {
        self.add_times(note, 0);
    }

    fn add_times(&mut self, note: Note, others: usize) {
        let is_same = |(known, _): &(Note, usize)| {
            known.level == note.level && known.text == note.text && known.file != note.file
        };
        match self.told.iter().position(is_same) {
            Some(at) => self.told[at].1 += others + 1,
            None if self.told.len() < MOST_KEPT => self.told.push((note, others)),
            None => self.left_out += others + 1,
        }
    }

    /// Adds the notes of another report.
    pub fn append(&mut self, other: Report) {
        self.left_out += other.left_out;
        for (note, others) in other.told {
            self.add_times(note, others);
        }
    }

    /// Whether something was understood.
    pub fn has_read(&self) -> bool {
        self.told
            .iter()
            .any(|(note, _)| note.level == NoteLevel::Read)
    }

    /// A line for each note. Notes on unreadable data come first, because they matter most.
    pub fn lines(mut self) -> Vec<Text> {
        self.told.sort_by_key(|(note, _)| match note.level {
            NoteLevel::Unreadable => 0,
            NoteLevel::Unsupported => 1,
            NoteLevel::KeptRaw => 2,
            NoteLevel::Read => 3,
        });
        let first = self.told.first().map(|(note, _)| note.file.clone());
        let is_first =
            |(note, others): &(Note, usize)| *others == 0 && Some(&note.file) == first.as_ref();
        // With one file, its name is not repeated.
        let of_one = self.told.iter().all(is_first);
        let hidden = self.left_out + self.told.len().saturating_sub(MOST_LINES);
        let lines = self.told.into_iter().take(MOST_LINES);
        let lines = lines.map(|(note, others)| {
            let Note { file, text, .. } = note;
            match others {
                _ if of_one || file.is_empty() => text,
                0 => format!("{file}: {text}").into(),
                1 => format!("{file} and 1 other file: {text}").into(),
                others => format!("{file} and {others} other files: {text}").into(),
            }
        });
        let more = (hidden > 0).then(|| format!("{hidden} more notes are not listed.").into());
        lines.chain(more).collect()
    }
}

impl Extend<Note> for Report {
    fn extend<I: IntoIterator<Item = Note>>(&mut self, notes: I) {
        notes.into_iter().for_each(|note| self.add(note));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(level: NoteLevel, file: &str, text: &str) -> Note {
        Note {
            level,
            file: file.into(),
            text: text.into(),
        }
    }

    fn report(notes: impl IntoIterator<Item = Note>) -> Report {
        let mut report = Report::default();
        report.extend(notes);
        report
    }

    #[test]
    fn what_could_not_be_read_comes_first() {
        let told = report([
            note(NoteLevel::Read, "a", "3 samples"),
            note(NoteLevel::Unreadable, "b", "It is cut off."),
        ]);
        assert!(told.has_read());
        let expected = ["b: It is cut off.", "a: 3 samples"].map(Text::from);
        assert_eq!(told.lines(), expected);
    }

    #[test]
    fn the_only_file_is_not_named() {
        let told = report([
            note(NoteLevel::KeptRaw, "a", "3 samples"),
            note(NoteLevel::KeptRaw, "a", "1 metadata file"),
        ]);
        assert!(!told.has_read());
        assert_eq!(
            told.lines(),
            ["3 samples", "1 metadata file"].map(Text::from)
        );
    }

    #[test]
    fn what_several_files_say_is_one_line() {
        let of = |files: &[&str], text: &str| {
            let notes = files.iter().map(|file| note(NoteLevel::Read, file, text));
            report(notes.collect::<Vec<_>>())
        };
        let mut told = of(&["0.pt", "1.pt"], "256 samples");
        told.append(of(&["2.pt", "3.pt"], "256 samples"));
        told.append(of(&["4.pt", "5.pt"], "255 samples"));
        let expected = [
            "0.pt and 3 other files: 256 samples",
            "4.pt and 1 other file: 255 samples",
        ];
        assert_eq!(told.lines(), expected.map(Text::from));
        let one_text = of(&["0.pt", "1.pt"], "256 samples");
        assert_eq!(
            one_text.lines(),
            ["0.pt and 1 other file: 256 samples".into()]
        );
    }

    #[test]
    fn a_note_without_a_file_stays_as_it_is() {
        let told = report([
            note(NoteLevel::Unreadable, "", "Cancelled."),
            note(NoteLevel::Read, "a", "3 samples"),
        ]);
        assert_eq!(told.lines(), ["Cancelled.", "a: 3 samples"].map(Text::from));
    }

    #[test]
    fn what_is_not_listed_is_counted() {
        let files = (0..MOST_KEPT + 7)
            .map(|at| note(NoteLevel::Read, &format!("{at}"), &format!("line {at}")));
        let lines = report(files).lines();
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(&*lines[MOST_LINES], "957 more notes are not listed.");
    }
}
