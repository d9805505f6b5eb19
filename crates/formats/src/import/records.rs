//! Formats in which each record is a separate episode, or several: one record per line, or the elements of a list. A
//! record is recognised by its members.

use volary_core::json::{Json, Object};

use super::describe::counted;
use super::reader::{Confidence, Document, Line, Reader, Sink};

/// A format of records. A reader of such a format is a constant of this type.
pub(super) struct Records {
    /// The short name.
    pub id: &'static str,
    /// The display name, with the type of file.
    pub name: &'static str,
    /// The name of the file in the report: "verl rollouts".
    pub title: &'static str,
    /// A record with its article: "a rollout".
    pub record: &'static str,
    /// The confidence if the members match.
    pub confidence: Confidence,
    /// Whether a value is a record of this format.
    pub is: fn(&Json) -> bool,
    /// Reads a record: its members and its number in the file, from 1.
    pub read: fn(Object, usize, &mut Sink<'_>),
}

impl Reader for Records {
    fn id(&self) -> &'static str {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn recognise(&self, document: &Document) -> Confidence {
        if document.samples().any(self.is) {
            self.confidence
        } else {
            Confidence::No
        }
    }

    fn read(&self, document: Document, sink: &mut Sink<'_>) {
        let before = sink.episodes();
        for Line { number, value } in document.into_records() {
            let is_record = (self.is)(&value);
            match value {
                Json::Object(object) if is_record => (self.read)(object, number, sink),
                _ => sink.lost(format!("Line {number} is not {}.", self.record)),
            }
        }
        let count = sink.episodes() - before;
        sink.understood(format!("{}: {}.", self.title, counted(count, "episode")));
    }
}
