//! The exchange of notes with the file of a server (`volary view --notes`): notes on the rows of that server are read from
//! there and written there.
//!
//! Invariants: nothing is written before the file was read once, and only notes on the server's rows are. At most one
//! read and one write are in progress. A change during a read is followed by another read; a change during a write is
//! written after it. What the server refused is sent again with the next change of a note, or once the file was read
//! again: rows that arrive meanwhile do not repeat it.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use volary_analysis::annotations::{Annotations, sidecar};
use volary_analysis::table::Row;
use volary_core::json::{Json, Text};

use crate::library::PUBLISHED;
use crate::notice::Notice;

/// The notes and rows of the page at the time of an event.
#[derive(Clone, Copy, Debug)]
pub struct Ours<'a> {
    pub notes: &'a Annotations,
    pub rows: &'a [Arc<Row>],
}

/// The response to a request, as status and body, or why there is none.
pub type NotesResponse = Result<(u16, String), String>;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The server keeps notes in the file at this address.
    Found(Text),
    /// Somebody wrote to the file, possibly this page.
    FileChanged,
    NotesChanged,
    /// Rows arrived or left, which decides which notes are the server's.
    RowsChanged,
    /// The response to [`Effect::Read`].
    Read(NotesResponse),
    /// The response to [`Effect::Write`].
    Written(NotesResponse),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Fetch the file, and report [`Event::Read`].
    Read(Text),
    /// Send these notes, and report [`Event::Written`].
    Write {
        url: Text,
        notes: Annotations,
    },
    /// Add these notes of others to the page's.
    Merge(Annotations),
    Show(Notice),
}

/// The state of the exchange.
#[derive(Debug, Default)]
pub struct NotesSync {
    /// The address of the file, once it is known.
    url: Option<Text>,
    reading: Reading,
    writing: Writing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Reading {
    #[default]
    Idle,
    InProgress,
    /// The file changed since the read in progress began.
    Outdated,
}

#[derive(Debug, Default)]
enum Writing {
    /// The file was never read.
    #[default]
    Unread,
    /// No write is in progress. `refused` is what the last write could not store.
    Idle {
        theirs: Annotations,
        refused: Annotations,
    },
    InProgress {
        theirs: Annotations,
        sent: Annotations,
    },
}

impl NotesSync {
    pub fn update(&mut self, event: Event, ours: Ours<'_>) -> Vec<Effect> {
        match event {
            Event::Found(url) => {
                self.url = Some(url);
                self.read().into_iter().collect()
            }
            Event::FileChanged => self.read().into_iter().collect(),
            Event::NotesChanged => {
                self.forgive();
                self.write(ours).into_iter().collect()
            }
            Event::RowsChanged => self.write(ours).into_iter().collect(),
            Event::Read(response) => {
                let is_outdated = mem::take(&mut self.reading) == Reading::Outdated;
                let mut effects = match notes_of(response) {
                    Ok(theirs) => self.take(theirs, ours),
                    Err(why) => vec![Effect::Show(Notice::new(
                        "The notes next to the files cannot be read.",
                        why,
                        "Notes stay in this browser. Reload the page to try again.",
                    ))],
                };
                if is_outdated {
                    effects.extend(self.read());
                }
                effects
            }
            Event::Written(response) => self.written(response, ours).into_iter().collect(),
        }
    }

    fn read(&mut self) -> Option<Effect> {
        let url = self.url.clone()?;
        self.reading = match self.reading {
            Reading::Idle => Reading::InProgress,
            Reading::InProgress | Reading::Outdated => {
                self.reading = Reading::Outdated;
                return None;
            }
        };
        Some(Effect::Read(url))
    }

    /// Adds what the file has, which may lack what was written since it was read.
    fn take(&mut self, read: Annotations, ours: Ours<'_>) -> Vec<Effect> {
        let news = read.newer_than(ours.notes);
        match &mut self.writing {
            Writing::Unread => {
                self.writing = Writing::Idle {
                    theirs: read,
                    refused: Annotations::default(),
                };
            }
            Writing::Idle { theirs, .. } | Writing::InProgress { theirs, .. } => {
                theirs.merge(read);
            }
        }
        self.forgive();
        let merge = (news != Annotations::default()).then_some(Effect::Merge(news));
        merge.into_iter().chain(self.write(ours)).collect()
    }

    /// Allows to send again what was refused.
    fn forgive(&mut self) {
        if let Writing::Idle { refused, .. } = &mut self.writing {
            *refused = Annotations::default();
        }
    }

    /// Writes the versions that the file lacks, unless a write is in progress or they were just refused.
    fn write(&mut self, ours: Ours<'_>) -> Option<Effect> {
        let url = self.url.clone()?;
        let Writing::Idle { theirs, refused } = &self.writing else {
            return None;
        };
        let newer = of_server(ours.notes.newer_than(theirs), ours.rows);
        if newer == Annotations::default() || newer == *refused {
            return None;
        }
        if let Writing::Idle { theirs, .. } = mem::take(&mut self.writing) {
            self.writing = Writing::InProgress {
                theirs,
                sent: newer.clone(),
            };
        }
        Some(Effect::Write { url, notes: newer })
    }

    fn written(&mut self, response: NotesResponse, ours: Ours<'_>) -> Option<Effect> {
        let (mut theirs, sent) = match mem::take(&mut self.writing) {
            Writing::InProgress { theirs, sent } => (theirs, sent),
            other => {
                self.writing = other;
                return None;
            }
        };
        let (refused, notice) = match body_of(response) {
            Ok(_) => {
                theirs.merge(sent);
                (Annotations::default(), None)
            }
            Err(why) => {
                let notice = Notice::new(
                    "The note cannot be written next to the files.",
                    why,
                    "It is stored in this browser, and written with the next change.",
                );
                (sent, Some(notice))
            }
        };
        self.writing = Writing::Idle { theirs, refused };
        match notice {
            // What changed meanwhile may be refused for the same reason: it waits for the next change.
            Some(notice) => Some(Effect::Show(notice)),
            None => self.write(ours),
        }
    }
}

/// Those of these ids whose rows are published by the server.
pub fn published<'a>(ids: &BTreeSet<&'a Text>, rows: &[Arc<Row>]) -> BTreeSet<&'a Text> {
    let rows = rows.iter();
    let theirs = rows.filter(|row| row.origin.as_deref() == Some(PUBLISHED));
    theirs.filter_map(|row| ids.get(&row.id).copied()).collect()
}

/// The notes on rows of the server.
fn of_server(notes: Annotations, rows: &[Arc<Row>]) -> Annotations {
    let annotated = notes.iter_all().map(|note| &note.episode).collect();
    let theirs = published(&annotated, rows);
    let notes = notes.iter_all();
    let kept = notes.filter(|note| theirs.contains(&note.episode));
    kept.cloned().collect()
}

fn notes_of(response: NotesResponse) -> Result<Annotations, String> {
    let body = body_of(response)?;
    let reading = sidecar::read(&body).map_err(|error| error.to_string())?;
    Ok(reading.annotations)
}

/// The body of a successful response, or why there is none, in the server's words if it gave some.
fn body_of(response: NotesResponse) -> Result<String, String> {
    let (status, body) = response?;
    if (200..300).contains(&status) {
        return Ok(body);
    }
    let why = Json::parse(&body).ok();
    let why = why.and_then(|why| Some(why.get("error")?.as_text()?.to_string()));
    Err(why.unwrap_or_else(|| format!("The server answered {status}.")))
}

#[cfg(test)]
mod tests;
