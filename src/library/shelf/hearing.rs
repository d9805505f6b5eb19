//! What the librarian's answers change.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trace::Episode;
use volary_trace::table::Row;

use super::super::protocol::{Answer, Number};
use super::{Checked, Opened, Shelf};
use crate::playground::incoming::append;
use crate::projection::notice::Notice;
use crate::protocol::Event;
use crate::shell::files;
use crate::shell::lazy::Unloaded;
use crate::shell::worker_link::Report;

/// Rows on their way into the table. With each change the whole table is gone through, so many changes are made
/// into few: what comes is held back until it is a part of what is there.
#[derive(Default)]
pub(super) struct Waiting {
    /// The number of the request that lists what was kept; its rows come in order.
    pub listing: Number,
    /// The ids of all rows.
    known: HashSet<Text>,
    /// What is listed, to stand behind the others.
    back: Vec<Arc<Row>>,
    /// What is new, to stand before them, and what takes the place of a row.
    front: Vec<Arc<Row>>,
    again: BTreeMap<Text, Arc<Row>>,
    /// When the rows in front of the table came, and how many of them came then.
    newest: (Option<f64>, usize),
}

/// As long as there are few rows, all are shown at once.
const FEW: usize = 2000;

impl Waiting {
    /// Takes rows that a request gave; whether they are to be shown now, with so many there already.
    pub fn take(&mut self, number: Number, rows: Vec<Row>, length: usize) -> bool {
        for row in rows {
            let row = Arc::new(row);
            if !self.known.insert(row.id.clone()) {
                self.again.insert(row.id.clone(), row);
            } else if number == self.listing {
                self.back.push(row);
            } else {
                self.front.push(row);
            }
        }
        let held = self.back.len() + self.front.len();
        length < FEW || held * 4 >= length || held == 0
    }

    /// Puts what was held back where it belongs.
    pub fn flush(&mut self, rows: &mut Vec<Arc<Row>>) {
        if !self.again.is_empty() {
            let held = self.front.iter_mut().chain(&mut self.back);
            for row in rows.iter_mut().chain(held) {
                if let Some(newer) = self.again.remove(&row.id) {
                    *row = newer;
                }
            }
            self.again.clear();
        }
        rows.append(&mut self.back);
        let front = std::mem::take(&mut self.front);
        let Some(first) = front.first() else { return };
        // What comes of one reading stands as it came, before what was there when it began.
        if self.newest.0 != first.added {
            self.count_newest(first.added, rows);
        }
        let at = self.newest.1.min(rows.len());
        self.newest.1 += front.len();
        rows.splice(at..at, front);
    }

    fn count_newest(&mut self, added: Option<f64>, rows: &[Arc<Row>]) {
        let same = rows.iter().take_while(|row| row.added == added);
        self.newest = (added, same.count());
    }

    pub fn drop_rows(&mut self, gone: &BTreeSet<&Text>, rows: &mut Vec<Arc<Row>>) {
        self.known.retain(|id| !gone.contains(id));
        self.front.retain(|row| !gone.contains(&row.id));
        self.back.retain(|row| !gone.contains(&row.id));
        rows.retain(|row| !gone.contains(&row.id));
        self.count_newest(self.newest.0, rows);
    }
}

impl Shelf {
    pub(super) fn hear(self, report: Report) {
        match report {
            // Evaluations have workers of their own.
            Report::Handed { .. } => {}
            Report::Made { name, file } => files::download_blob(&name, &file),
            Report::Lost { message } => self.lost(&message),
            Report::Unloaded => self.lost(&Unloaded.to_string()),
            Report::Said(text) => match Answer::read(&text) {
                Some(answer) => self.take(answer),
                None => match Event::read(&text) {
                    Ok(event) => self.take_part(event),
                    Err(error) => self.lost(&error.to_string()),
                },
            },
        }
    }

    fn take(self, answer: Answer) {
        match answer {
            Answer::Progress {
                number,
                doing,
                done,
            } => self.progress(number, doing, done),
            Answer::Added { number, rows } => self.add(number, rows),
            Answer::Listed { .. } => {
                self.flush();
                self.is_listed.set(true);
            }
            Answer::Gone { ids } => self.drop_rows(&ids),
            Answer::Begun { number, row } => {
                let id = row.id.clone();
                let is_more = self.begun.with_untracked(|begun| begun.contains(&id));
                match is_more {
                    true => self.grown.set(Some((id.clone(), id))),
                    false => self.begun.update(|begun| {
                        begun.insert(id);
                    }),
                }
                self.add(number, vec![row]);
            }
            Answer::Grown { id, into, .. } => self.grow(id, into),
            Answer::Unfetched {
                number,
                url,
                reason,
                status,
                answered,
            } => self.unfetched(number, url, reason, status, answered),
            Answer::Read { number, notes } => {
                self.flush();
                self.ended(number);
                self.report.set(notes);
                // Words that are looked for may stand in what was read.
                self.search(&self.wanted.get_untracked());
            }
            Answer::Places { number, places } => self.take_places(number, places),
            Answer::Found { number, matches } => {
                if self.state.with_value(|state| state.search) == number {
                    self.searching.set(None);
                    self.matches.set(Some(Arc::new(matches)));
                }
            }
            Answer::Checked {
                number,
                words,
                step,
            } => {
                if let Some(checked) = self.take_checking(number) {
                    checked(Ok((words.to_string(), step.map(|step| step as usize))));
                }
            }
            Answer::Forgotten { .. } => {}
            Answer::Refused { number, reason } => match self.take_opening(number) {
                Some((_, opened)) => opened(Err(reason.to_string())),
                None if self.take_checking_with(number, &reason) => {}
                None => {
                    self.ended(number);
                    self.notice.set(Some(Notice::new(
                        "Nothing could be imported.",
                        reason.to_string(),
                        "Give a file that one of the known tools wrote. What is in the library is as it was.",
                    )));
                }
            },
            Answer::NotKept { reason } => {
                let was = self
                    .state
                    .try_update_value(|state| std::mem::replace(&mut state.is_unkept, true));
                // Each batch of a reading says so; once is enough.
                if was != Some(true) {
                    self.notice.set(Some(Notice::new(
                        "This can't be kept for the next visit.",
                        reason.to_string(),
                        "It stays until you leave the page. Export what you want to keep.",
                    )));
                }
            }
        }
    }

    fn take_part(self, event: Event) {
        match event {
            Event::Opened { token, head } => self.state.update_value(|state| {
                let known = state.opening.iter_mut().find(|known| known.0 == token);
                if let Some(known) = known {
                    known.1 = Some(head);
                }
            }),
            Event::Stepped {
                token,
                steps,
                patches,
            } => {
                let added = self.state.try_update_value(|state| {
                    let known = state.opening.iter_mut().find(|known| known.0 == token)?;
                    append(known.1.as_mut()?, steps, patches).err()
                });
                if let Some(error) = added.flatten()
                    && let Some((_, opened)) = self.take_opening(token)
                {
                    opened(Err(error.to_string()));
                }
            }
            Event::Finished { token, .. } => {
                if let Some((Some(episode), opened)) = self.take_opening(token) {
                    opened(Ok(episode));
                }
            }
            Event::Panicked { message } => self.lost(&message),
            // Nothing is played here.
            Event::Begun { .. }
            | Event::Refused { .. }
            | Event::Gone { .. }
            | Event::Lost { .. } => {}
        }
    }

    fn take_checking(self, number: Number) -> Option<Checked> {
        self.state
            .try_update_value(|state| {
                let place = state.checking.iter().position(|known| known.0 == number)?;
                Some(state.checking.swap_remove(place).1)
            })
            .flatten()
    }

    /// Tells whoever wanted a check why there is none; false if nobody did.
    fn take_checking_with(self, number: Number, reason: &Text) -> bool {
        self.take_checking(number)
            .map(|checked| checked(Err(reason.to_string())))
            .is_some()
    }

    fn take_opening(self, number: Number) -> Option<(Option<Episode>, Opened)> {
        self.state
            .try_update_value(|state| {
                let place = state.opening.iter().position(|known| known.0 == number)?;
                let (_, episode, opened) = state.opening.swap_remove(place);
                Some((episode, opened))
            })
            .flatten()
    }

    fn progress(self, number: Number, doing: Text, done: Option<f64>) {
        if self.state.with_value(|state| state.search) == number {
            return self.searching.set(Some(doing));
        }
        self.show_progress(number, doing, done);
    }

    pub(super) fn show_progress(self, number: Number, doing: Text, done: Option<f64>) {
        self.readings.update(|readings| {
            let mut readings = readings.iter_mut();
            let reading = readings.find(|reading| reading.number == number);
            if let Some(reading) = reading.filter(|reading| !reading.is_ending) {
                (reading.doing, reading.done) = (doing, done);
            }
        });
    }

    /// What had begun is there as a whole.
    fn grow(self, id: Text, into: Text) {
        self.flush();
        if id != into {
            self.drop_rows(std::slice::from_ref(&id));
        }
        self.begun.update(|begun| {
            begun.remove(&id);
        });
        self.grown.set(Some((id, into)));
    }

    fn add(self, number: Number, added: Vec<Row>) {
        self.tell_arrived(number, &added);
        let length = self.rows.with_untracked(|rows| rows.len());
        let is_due = self
            .state
            .try_update_value(|state| state.waiting.take(number, added, length));
        if is_due == Some(true) {
            self.flush();
        }
    }

    /// Shows what was held back.
    fn flush(self) {
        self.rows.update(|rows| {
            self.state
                .update_value(|state| state.waiting.flush(Arc::make_mut(rows)));
        });
    }

    pub(super) fn drop_rows(self, ids: &[Text]) {
        let gone: BTreeSet<&Text> = ids.iter().collect();
        self.rows.update(|rows| {
            self.state
                .update_value(|state| state.waiting.drop_rows(&gone, Arc::make_mut(rows)));
        });
    }

    /// The librarian is of no more use; the next request starts another one.
    pub(super) fn lost(self, reason: &str) {
        let left = self.state.try_update_value(|state| {
            let opening = std::mem::take(&mut state.opening);
            let checking = std::mem::take(&mut state.checking);
            (state.link.take(), opening, checking)
        });
        let (link, opening, checking) = left.unwrap_or_default();
        for (_, checked) in checking {
            checked(Err(reason.to_owned()));
        }
        // It may be its own handler that runs here, so it goes a little later.
        crate::shell::spawn(async move { drop(link) });
        for (_, _, opened) in opening {
            opened(Err(reason.to_owned()));
        }
        self.readings.set(Vec::new());
        self.begun.set(BTreeSet::new());
        self.searching.set(None);
        self.notice.set(Some(Notice::new(
            "The library's worker broke down.",
            reason.to_owned(),
            "What was kept is still there. Try again with fewer files at once.",
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, added: f64) -> Row {
        Row {
            id: id.into(),
            added: Some(added),
            ..Row::default()
        }
    }

    fn ids(rows: &[Arc<Row>]) -> String {
        rows.iter().map(|row| row.id.to_string()).collect()
    }

    #[test]
    fn the_newest_stand_first_and_in_the_order_of_their_file() {
        let mut waiting = Waiting {
            listing: 1,
            ..Waiting::default()
        };
        let mut rows = Vec::new();
        assert!(waiting.take(1, vec![row("x", 1.0)], 0));
        waiting.flush(&mut rows);
        for (id, again) in [("a", "a"), ("b", "a"), ("c", "b")] {
            waiting.take(2, vec![row(id, 2.0)], rows.len());
            waiting.take(0, vec![row(again, 2.0)], rows.len());
            waiting.flush(&mut rows);
        }
        assert_eq!(ids(&rows), "abcx");
        waiting.take(1, vec![row("y", 0.5)], rows.len());
        waiting.flush(&mut rows);
        assert_eq!(rows.last().map(|row| &*row.id), Some("y"));
    }

    #[test]
    fn many_rows_are_held_back() {
        let mut waiting = Waiting::default();
        let many: Vec<Row> = (0..100).map(|id| row(&id.to_string(), 1.0)).collect();
        assert!(!waiting.take(2, many, 10 * FEW));
        let more: Vec<Row> = (100..6000).map(|id| row(&id.to_string(), 1.0)).collect();
        assert!(waiting.take(2, more, 10 * FEW));
    }
}
