//! The page's side of the library: readings in progress, the rows of the table, and the handling of the worker's
//! events.
//!
//! - [`readings`]: readings in progress. [`row_batcher`]: rows waiting to enter the table. [`live`]: files that change.
//!
//! Invariants: a row that was dropped is in no later batch. A late event of a finished reading changes no other
//! reading.

pub mod live;
pub mod readings;
pub mod row_batcher;

use std::collections::BTreeSet;
use std::sync::Arc;

use volary_core::json::Text;
use volary_protocol::RequestId;
use volary_protocol::library::{Event, Unfetched, UnmappedFile};
use volary_trajectory::table::Row;

use self::readings::{Reading, ReadingNumber, Readings};
use self::row_batcher::{RowBatcher, RowThrottle};
use crate::notice::Notice;

/// The rows of the table, newest first.
pub type Rows = Arc<Vec<Arc<Row>>>;

/// An effect for the page to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Show these rows in the table.
    Rows(Rows),
    /// Show these readings.
    Readings(Vec<Reading>),
    /// Show the remarks of the last reading.
    Report(Vec<Text>),
    /// Show that all stored rows are listed.
    Listed,
    /// Mark these trajectories as partially read.
    Partial(BTreeSet<Text>),
    /// A trajectory grew: its previous id, and its current id.
    Grown(Text, Text),
    /// Notify the waiter of a trajectory of a reading, with its id; `None` if there is no such trajectory.
    Arrived(ReadingNumber, Option<Text>),
    /// Show an error.
    Notify(Notice),
    /// Offer to map the members of these files to fields.
    OfferMapping(Vec<UnmappedFile>),
    /// Diagnose why a file could not be fetched, and show the cause.
    Explain(Unfetched),
    /// Save the attached files under this name.
    Save(Text),
    /// Repeat the current search, which may match new trajectories.
    SearchAgain,
    /// Index the texts of all trajectories for search.
    Index,
    /// Call [`Library::woken`] after this many seconds.
    Wake(f64),
}

/// The state of the library. Times are in seconds of any monotonic clock.
#[derive(Debug, Default)]
pub struct Library {
    rows: Rows,
    batcher: RowBatcher,
    throttle: RowThrottle,
    readings: Readings,
    partial: BTreeSet<Text>,
    /// Whether the table is visible. Its search needs all texts indexed.
    is_shown: bool,
    /// Whether the worker holds trajectories that the browser did not store.
    has_unstored: bool,
    /// Whether the last reading found a file whose members can be mapped to fields.
    offers_mapping: bool,
}

impl Library {
    /// Starts a reading. `doing` describes it for the user.
    pub fn begin(&mut self, doing: &str) -> (ReadingNumber, Vec<Effect>) {
        let number = self.readings.begin(doing);
        (number, vec![self.shown_readings()])
    }

    /// Stores the request id of a reading, by which it can be cancelled.
    pub fn sent(&mut self, number: ReadingNumber, request: RequestId) {
        self.readings.sent(number, request);
    }

    /// Waits for the trajectory of a reading at `place`, counted from 1. [`Effect::Arrived`] follows, once.
    pub fn wait(&mut self, number: ReadingNumber, place: usize) {
        self.readings.wait(number, place);
    }

    /// Cancels a reading. Returns the request to cancel, if it was sent.
    pub fn cancel(&mut self, number: ReadingNumber) -> (Option<RequestId>, Vec<Effect>) {
        let request = self.readings.cancel(number);
        (request, vec![self.shown_readings()])
    }

    /// Whether to terminate the worker because a cancelled reading did not stop in time. Not if that loses trajectories
    /// that only the worker holds.
    pub fn must_end_worker(&self, number: ReadingNumber) -> bool {
        let mut readings = self.readings.list().iter();
        readings.any(|reading| reading.number == number) && !self.has_unstored
    }

    /// Ends a reading after all its events were handled.
    pub fn end(&mut self, number: ReadingNumber) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.readings.end(number) {
            effects.push(Effect::Arrived(number, None));
        }
        effects.push(self.shown_readings());
        effects
    }

    /// Handles an event of a reading; a reading that is not shown has the number 0.
    pub fn handle_reading(&mut self, number: ReadingNumber, event: Event, now: f64) -> Vec<Effect> {
        match event {
            Event::Progress { doing, done } => {
                self.readings.progress(number, doing, done);
                vec![self.shown_readings()]
            }
            Event::Added { rows } => {
                let mut effects = self.arrived(number, &rows);
                effects.extend(self.add(rows, now));
                effects
            }
            Event::Begun { row } => {
                let id = row.id.clone();
                let mut effects = match self.partial.insert(id.clone()) {
                    true => vec![Effect::Partial(self.partial.clone())],
                    false => vec![Effect::Grown(id.clone(), id)],
                };
                let rows = vec![*row];
                effects.extend(self.arrived(number, &rows));
                effects.extend(self.add(rows, now));
                effects
            }
            Event::Unfetched(unfetched) => {
                let is_awaited = self.readings.stop_waiting(number);
                let missing = is_awaited.then_some(Effect::Arrived(number, None));
                missing
                    .into_iter()
                    .chain([Effect::Explain(unfetched)])
                    .collect()
            }
            Event::Read { notes } => {
                self.offers_mapping = false;
                let mut effects = self.flush(now);
                effects.extend(self.end(number));
                // A reading that is not shown keeps the last report unless it has remarks of its own.
                if number != 0 || !notes.is_empty() {
                    effects.push(Effect::Report(notes));
                }
                effects.push(Effect::SearchAgain);
                effects.extend(self.index());
                effects
            }
            Event::Unmapped { files } => {
                self.offers_mapping = true;
                vec![Effect::OfferMapping(files)]
            }
            Event::Refused { reason } => {
                let mut effects = self.end(number);
                // An offered mapping describes the file and the next action already.
                if !std::mem::take(&mut self.offers_mapping) {
                    effects.push(Effect::Notify(Notice::new(
                        "Nothing could be imported.",
                        reason.to_string(),
                        "Choose a file from a supported tool. The library is unchanged.",
                    )));
                }
                effects
            }
            event => self.handle(event, now),
        }
    }

    /// Handles an event that belongs to no reading.
    pub fn handle(&mut self, event: Event, now: f64) -> Vec<Effect> {
        match event {
            Event::Added { rows } | Event::Changed { rows } => self.add(rows, now),
            Event::Listed => {
                let mut effects = self.flush(now);
                effects.push(Effect::Listed);
                effects
            }
            Event::Gone { ids } => self.drop_rows(&ids),
            Event::Grown { id, into } => {
                let mut effects = self.flush(now);
                if id != into {
                    effects.extend(self.drop_rows(std::slice::from_ref(&id)));
                }
                if self.partial.remove(&id) {
                    effects.push(Effect::Partial(self.partial.clone()));
                }
                effects.push(Effect::Grown(id, into));
                effects
            }
            Event::File { name } => vec![Effect::Save(name)],
            Event::NotRead { reason } => vec![Effect::Notify(Notice::new(
                "The stored library cannot be read.",
                reason.to_string(),
                "Nothing was changed. Reload the page. New imports are still shown.",
            ))],
            Event::Notice { what, why, advice } => {
                vec![Effect::Notify(Notice::new(&*what, &*why, &*advice))]
            }
            // Every batch of a reading reports this; notify once.
            Event::NotKept { reason } => match std::mem::replace(&mut self.has_unstored, true) {
                true => Vec::new(),
                false => vec![Effect::Notify(Notice::new(
                    "This cannot be stored for the next visit.",
                    reason.to_string(),
                    "It is available until you leave the page. Export what you want to keep.",
                ))],
            },
            // Handled by the callers of the requests, or by the reading.
            Event::Progress { .. }
            | Event::Begun { .. }
            | Event::Unfetched(_)
            | Event::Unmapped { .. }
            | Event::Read { .. }
            | Event::Found { .. }
            | Event::Places { .. }
            | Event::Checked { .. }
            | Event::Sensitive { .. }
            | Event::Episode(_)
            | Event::Refused { .. } => Vec::new(),
        }
    }

    /// Handles that the table appeared or was hidden.
    pub fn show_table(&mut self, is_shown: bool, now: f64) -> Vec<Effect> {
        self.is_shown = is_shown;
        match is_shown {
            true => self.flush(now).into_iter().chain(self.index()).collect(),
            false => Vec::new(),
        }
    }

    /// Handles the timer of [`Effect::Wake`].
    pub fn woken(&mut self, now: f64) -> Vec<Effect> {
        let wait = self.throttle.woken(self.is_shown, now);
        self.flush_after(wait, now)
    }

    /// Removes rows immediately, before the worker confirms that the trajectories are deleted.
    pub fn drop_rows(&mut self, ids: &[Text]) -> Vec<Effect> {
        let gone: BTreeSet<&Text> = ids.iter().collect();
        self.batcher.drop_rows(&gone, Arc::make_mut(&mut self.rows));
        vec![Effect::Rows(self.rows.clone())]
    }

    /// Handles the loss of the worker and its readings. Stored trajectories stay.
    pub fn lose_worker(&mut self) -> Vec<Effect> {
        self.readings.clear();
        self.partial.clear();
        vec![self.shown_readings(), Effect::Partial(BTreeSet::new())]
    }

    fn shown_readings(&self) -> Effect {
        Effect::Readings(self.readings.list().to_vec())
    }

    fn arrived(&mut self, number: ReadingNumber, rows: &[Row]) -> Vec<Effect> {
        let arrived = self.readings.arrived(number, rows);
        let arrived = arrived.map(|id| Effect::Arrived(number, Some(id)));
        arrived.into_iter().collect()
    }

    fn add(&mut self, rows: Vec<Row>, now: f64) -> Vec<Effect> {
        if !self.batcher.take(rows, self.rows.len()) {
            return Vec::new();
        }
        let wait = self.throttle.ask(self.is_shown, now);
        self.flush_after(wait, now)
    }

    /// Shows batched rows now or later, so that the page has time to draw the earlier ones.
    fn flush_after(&mut self, wait: Option<f64>, now: f64) -> Vec<Effect> {
        match wait {
            None => Vec::new(),
            Some(0.0) => self.flush(now),
            Some(wait) => vec![Effect::Wake(wait)],
        }
    }

    fn flush(&mut self, now: f64) -> Vec<Effect> {
        if self.batcher.is_empty() {
            return Vec::new();
        }
        self.batcher.flush(Arc::make_mut(&mut self.rows));
        self.throttle.shown(now);
        vec![Effect::Rows(self.rows.clone())]
    }

    fn index(&self) -> Option<Effect> {
        self.is_shown.then_some(Effect::Index)
    }
}

#[cfg(test)]
mod tests;
