//! The reader's notes on an embedded episode. The surrounding page keeps them: the view stores nothing.

use serde::{Deserialize, Serialize};
use volary_core::json::Text;

/// A note, or a label without a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Unique among the notes of the episode.
    pub id: Text,
    /// The step that it is about; 0 is the start.
    pub step: usize,
    #[serde(default)]
    pub text: Text,
    /// Empty for none.
    #[serde(default)]
    pub label: Text,
}

/// The notes on the shown episode, by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmbedNotes(Vec<Note>);

impl EmbedNotes {
    /// The notes, in the order of their steps.
    pub fn list(&self) -> &[Note] {
        &self.0
    }

    /// Adds a note, with white space around its texts removed. Returns it; `None` if it says nothing.
    pub fn add(&mut self, note: Note) -> Option<Note> {
        let note = Note {
            text: note.text.trim().into(),
            label: note.label.trim().into(),
            ..note
        };
        let is_empty = note.text.is_empty() && note.label.is_empty();
        (!is_empty).then(|| {
            self.put(note.clone());
            note
        })
    }

    /// Removes a note, and returns it.
    pub fn remove(&mut self, id: &str) -> Option<Note> {
        let place = self.0.iter().position(|note| &*note.id == id)?;
        Some(self.0.remove(place))
    }

    fn put(&mut self, note: Note) {
        self.0.retain(|known| known.id != note.id);
        let place = self.0.partition_point(|known| known.step <= note.step);
        self.0.insert(place, note);
    }
}

impl FromIterator<Note> for EmbedNotes {
    /// Of several notes with one id, the last one counts.
    fn from_iter<I: IntoIterator<Item = Note>>(notes: I) -> EmbedNotes {
        let mut all = EmbedNotes::default();
        for note in notes {
            all.put(note);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(id: &str, step: usize, text: &str) -> Note {
        Note {
            id: id.into(),
            step,
            text: text.into(),
            ..Note::default()
        }
    }

    #[test]
    fn notes_are_sorted_by_step_and_unique() {
        let mut notes: EmbedNotes = [note("a", 2, "x"), note("b", 0, "y"), note("a", 1, "z")]
            .into_iter()
            .collect();
        let added = notes.add(note("c", 1, " after "));
        assert_eq!(added.map(|note| note.text), Some("after".into()));
        let ids: Vec<&str> = notes.list().iter().map(|note| &*note.id).collect();
        assert_eq!(ids, ["b", "a", "c"]);
        assert_eq!(notes.add(note("d", 1, " \n")), None);
        let label = Note {
            label: " loops".into(),
            ..note("e", 3, "")
        };
        assert_eq!(
            notes.add(label).map(|note| note.label),
            Some("loops".into())
        );
        assert_eq!(notes.remove("a").map(|note| note.step), Some(1));
        assert_eq!(notes.remove("a"), None);
        assert_eq!(notes.list().len(), 3);
    }
}
