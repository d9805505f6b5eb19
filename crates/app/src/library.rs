//! The page's side of the library: readings in progress, the rows of the table, and the handling of the worker's
//! events.
//!
//! - [`readings`]: readings in progress. [`row_batcher`]: rows waiting to enter the table. [`live`]: files that change.
//! - [`search`]: the full-text search. [`replies`]: answers to single requests. [`site`]: the library of a site.
//!   [`source`]: the files of the last import. [`origin`]: how an episode came into the library.
//!
//! Invariants: a row that was dropped is in no later batch. A late event of a finished reading changes no other
//! reading. The loss of a worker is reported once, whatever number of calls it had. An error of an import is removed
//! when the next one begins.

pub mod effect;
pub mod live;
pub mod origin;
pub mod readings;
pub mod replies;
pub mod row_batcher;
pub mod search;
pub mod site;
pub mod source;

use std::collections::BTreeSet;
use std::sync::Arc;

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_protocol::library::{Event, Origin};
use volary_protocol::{RequestId, WorkerLoss};

pub use self::effect::Effect;
pub use self::origin::PUBLISHED;
use self::readings::{ReadingNumber, Readings};
use self::row_batcher::{RowBatcher, RowThrottle};
use self::search::{Search, SearchNumber};
use crate::notice::Notice;

/// The rows of the table, newest first.
pub type LibraryRows = Arc<Vec<Arc<Row>>>;

/// Identifies a worker of the library. Numbers count up.
pub type WorkerNumber = u32;

/// The state of the library. Times are in seconds of any monotonic clock.
#[derive(Debug, Default)]
pub struct Library {
    rows: LibraryRows,
    batcher: RowBatcher,
    throttle: RowThrottle,
    readings: Readings,
    search: Search,
    partial: BTreeSet<Text>,
    /// The worker that was started last.
    last_worker: WorkerNumber,
    /// Whether that worker is gone.
    has_lost_worker: bool,
    /// The error of the last attempt.
    error: Option<Notice>,
    /// Whether the table is visible. Its search needs all texts indexed.
    is_shown: bool,
    /// Whether the worker holds trajectories that the browser did not store.
    has_unstored: bool,
    /// The readings that found a file whose members can be mapped to fields.
    offers_mapping: BTreeSet<ReadingNumber>,
}

impl Library {
    /// Starts a reading. `doing` describes it for the user. What is shown of the last one goes: its remarks, its error,
    /// and files to map.
    pub fn begin(&mut self, doing: &str) -> (ReadingNumber, Vec<Effect>) {
        let number = self.readings.begin(doing);
        let mut effects = vec![
            self.shown_readings(),
            Effect::Report(Vec::new()),
            Effect::OfferMapping(Vec::new()),
        ];
        effects.extend(self.error.take().map(Effect::Withdraw));
        (number, effects)
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
            Event::PartialRow { row } => {
                let id = row.id.clone();
                let mut effects = if self.partial.insert(id.clone()) {
                    vec![Effect::Partial(self.partial.clone())]
                } else {
                    vec![Effect::Renamed(id.clone(), id)]
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
                self.offers_mapping.remove(&number);
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
                self.offers_mapping.insert(number);
                vec![Effect::OfferMapping(files)]
            }
            Event::Refused { reason } => {
                let mut effects = self.end(number);
                // An offered mapping describes the file and the next action already.
                if !self.offers_mapping.remove(&number) {
                    effects.push(self.failed(Notice::new(
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
            Event::Renamed { id, into } => {
                let mut effects = self.flush(now);
                if id != into {
                    effects.extend(self.drop_rows(std::slice::from_ref(&id)));
                }
                if self.partial.remove(&id) {
                    effects.push(Effect::Partial(self.partial.clone()));
                }
                effects.push(Effect::Renamed(id, into));
                effects
            }
            Event::File { name } => vec![Effect::Save(name)],
            // Each visit reads those of the site, and those of a link that are not to be stored are not.
            Event::Answers { lines, origin } => vec![Effect::Answers {
                lines,
                is_kept: origin == Origin::Imported,
            }],
            Event::NotRead { reason } => vec![Effect::Notify(Notice::new(
                "The stored library cannot be read.",
                reason.to_string(),
                "Nothing was changed. Reload the page. New imports are still shown.",
            ))],
            Event::Notice { what, why, advice } => {
                vec![Effect::Notify(Notice::new(&*what, &*why, &*advice))]
            }
            // Every batch of a reading reports this; notify once.
            Event::NotKept { reason } => {
                if std::mem::replace(&mut self.has_unstored, true) {
                    Vec::new()
                } else {
                    vec![Effect::Notify(Notice::new(
                        "This cannot be stored for the next visit.",
                        reason.to_string(),
                        "It is available until you leave the page. Export what you want to keep.",
                    ))]
                }
            }
            // Handled by the callers of the requests, or by the reading.
            Event::Progress { .. }
            | Event::PartialRow { .. }
            | Event::Unfetched(_)
            | Event::Unmapped { .. }
            | Event::Read { .. }
            | Event::Found { .. }
            | Event::Places { .. }
            | Event::Checked { .. }
            | Event::Measured(_)
            | Event::Rendered(_)
            | Event::ReplyChecked(_)
            | Event::Sensitive { .. }
            | Event::Signatures(_)
            | Event::Clusters(_)
            | Event::RuleMatches { .. }
            | Event::ProposedRules { .. }
            | Event::Episode(_)
            | Event::Refused { .. } => Vec::new(),
        }
    }

    /// Handles that the table appeared or was hidden.
    pub fn show_table(&mut self, is_shown: bool, now: f64) -> Vec<Effect> {
        self.is_shown = is_shown;
        if is_shown {
            self.flush(now).into_iter().chain(self.index()).collect()
        } else {
            Vec::new()
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

    /// Deletes trajectories, except those of the site, which each visit loads. Returns the ids to delete from the
    /// store.
    pub fn forget(&mut self, mut ids: Vec<Text>) -> (Vec<Text>, Vec<Effect>) {
        let rows = self.rows.iter();
        let published = rows.filter(|row| row.origin.as_deref() == Some(PUBLISHED));
        let published: BTreeSet<&Text> = published.map(|row| &row.id).collect();
        ids.retain(|id| !published.contains(id));
        let effects = self.drop_rows(&ids);
        (ids, effects)
    }

    /// Starts a query of the full-text search. Returns its number, or `None` for an empty query, which ends the search.
    pub fn search(&mut self, words: &str) -> (Option<SearchNumber>, Vec<Effect>) {
        self.search.begin(words)
    }

    /// Whether the latest query has not been answered.
    pub fn is_searching(&self) -> bool {
        self.search.is_open()
    }

    /// Handles a reply to a query.
    pub fn handle_search(&mut self, number: SearchNumber, event: Event) -> Vec<Effect> {
        self.search.handle(number, event)
    }

    /// Shows the error of an attempt to read, until the next attempt begins.
    pub fn failed(&mut self, notice: Notice) -> Effect {
        self.error = Some(notice.clone());
        Effect::Notify(notice)
    }

    /// Handles the start of a worker. Returns its number.
    pub fn start_worker(&mut self) -> WorkerNumber {
        self.last_worker = self.last_worker.wrapping_add(1);
        self.has_lost_worker = false;
        self.last_worker
    }

    /// Handles that a worker is gone, which each of its open calls reports. Stored trajectories stay.
    pub fn lose_worker(&mut self, worker: WorkerNumber, loss: &WorkerLoss) -> Vec<Effect> {
        if worker != self.last_worker || std::mem::replace(&mut self.has_lost_worker, true) {
            return Vec::new();
        }
        let reason = loss.to_string();
        let mut effects = self.end_readings(&reason);
        let (what, advice) = match loss {
            WorkerLoss::Unloaded => (
                "The library's worker could not be started.",
                "Stored data is safe. Reload the page.",
            ),
            WorkerLoss::Crashed { .. } => (
                "The library's worker crashed.",
                "Stored data is safe. Try again with fewer files at once.",
            ),
        };
        effects.push(self.failed(Notice::new(what, reason, advice)));
        effects
    }

    /// Terminates a worker in the middle of a file that must be read as a whole.
    pub fn end_worker(&mut self) -> Vec<Effect> {
        self.has_lost_worker = true;
        let mut effects = self.end_readings(replies::ENDED);
        effects.push(Effect::Report(vec![
            "Cancelled. What was stored before is in the library.".into(),
        ]));
        effects
    }

    /// Ends what only a lost worker held: readings, the open search, and partial trajectories.
    fn end_readings(&mut self, reason: &str) -> Vec<Effect> {
        self.readings.clear();
        self.offers_mapping.clear();
        let mut effects = vec![Effect::DropWorker(reason.into()), self.shown_readings()];
        let partial = std::mem::take(&mut self.partial);
        if !partial.is_empty() {
            let partial: Vec<Text> = partial.into_iter().collect();
            effects.push(Effect::Partial(BTreeSet::new()));
            effects.extend(self.drop_rows(&partial));
        }
        effects.extend(self.search.lose_worker());
        effects
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
