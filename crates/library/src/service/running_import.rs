//! An import in progress: what its steps share, and how they add episodes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::table::Row;
use volary_app::library::origin;
use volary_core::in_flight::InFlight;
use volary_core::json::Text;
use volary_core::quantity::{plural, size_text};
use volary_formats::import::fields::Unmapped;
use volary_formats::import::{Note, NoteLevel};
use volary_protocol::RequestId;
use volary_protocol::library::{Event, Origin};

use super::naming;
use super::report::Report;
use super::state::{LibraryService, Output, Send, report_unstored};
use super::step_dumps::StepDumps;
use crate::error::LibraryError;
use crate::repository::{EpisodeStore, Item, Unkept};

/// The outcome of storing episodes.
struct Added {
    first: Option<Text>,
    /// The old and new ids of episodes that were shown before their ids turned out to be taken.
    moved: Vec<(Text, Text)>,
    /// The rows of the episodes that got new ids, of those that had their ids, and of those that were stored already.
    rows: Vec<Row>,
    kept: Result<(), LibraryError>,
}

/// The outcome of importing a file.
pub(super) enum FileOutcome {
    /// Its episodes are in the library.
    Taken,
    /// The file must be read as a whole.
    Whole,
    /// The user cancelled the import.
    Cancelled,
}

/// A reading in progress.
pub(super) struct RunningImport<'a> {
    pub(super) number: RequestId,
    pub(super) origin: Origin,
    pub(super) send: Send<'a>,
    /// Whether it goes on in a file that has grown.
    pub(super) is_followed: bool,
    /// The start time.
    pub(super) added: f64,
    /// The total size of all files, and that of the completed ones, in bytes.
    pub(super) total: u64,
    pub(super) done: Cell<u64>,
    pub(super) found: Cell<usize>,
    pub(super) report: RefCell<Report>,
    /// Files whose members can be mapped.
    pub(super) unmapped: RefCell<Vec<Unmapped>>,
    /// Whether some were not stored, and will be missing at the next visit.
    pub(super) is_unkept: Cell<bool>,
    /// A batch of episodes that is being stored while the next ones are read.
    keeping: RefCell<Option<LocalBoxFuture<'a, Added>>>,
    /// Notified of each stored episode.
    pub(super) in_flight: &'a InFlight,
    /// The dumps of training whose steps have dumps of both kinds.
    pub(super) steps: StepDumps,
    /// The first episode that was added since this was last taken.
    pub(super) first: RefCell<Option<Text>>,
}

impl RunningImport<'_> {
    pub(super) fn note(&self, level: NoteLevel, file: &Text, text: String) {
        self.report.borrow_mut().add(Note {
            level,
            file: file.clone(),
            text: text.into(),
        });
    }

    fn tell_kept(&self, added: Added) {
        self.is_unkept
            .set(self.is_unkept.get() || added.kept.is_err());
        let first = self.first.take().or(added.first);
        self.first.replace(first);
        for (id, into) in added.moved {
            (self.send)(Output::Event(Event::Renamed { id, into }));
        }
        if !added.rows.is_empty() {
            let rows = added.rows;
            (self.send)(Output::Event(Event::Changed { rows }));
        }
        self.in_flight.notify();
        report_unstored(added.kept, self.send);
    }

    /// Reports the progress, `within` bytes into a file.
    pub(super) fn progress(&self, name: &str, within: u64) {
        let done = self.done.get() + within;
        let found = match self.found.get() {
            0 => String::new(),
            found => format!(", {}", plural(found, "trajectory")),
        };
        (self.send)(Output::Event(Event::Progress {
            doing: format!(
                "Reading {name}: {} of {}{found}",
                size_text(done),
                size_text(self.total)
            )
            .into(),
            done: Some(done as f64 / self.total.max(1) as f64),
        }));
    }
}

pub(super) fn begin<'a>(
    library: &'a LibraryService,
    number: RequestId,
    total: u64,
    origin: Origin,
    send: Send<'a>,
) -> RunningImport<'a> {
    RunningImport {
        in_flight: &library.in_flight,
        number,
        origin,
        send,
        is_followed: false,
        added: (library.today)(),
        total,
        done: Cell::new(0),
        found: Cell::new(0),
        report: RefCell::default(),
        unmapped: RefCell::default(),
        is_unkept: Cell::new(false),
        keeping: RefCell::default(),
        steps: StepDumps::default(),
        first: RefCell::default(),
    }
}

pub(super) fn is_cancelled(library: &LibraryService, number: RequestId) -> bool {
    library.cancelled.has(number)
}

pub(super) fn store_for(library: &LibraryService, origin: Origin) -> &dyn EpisodeStore {
    match origin {
        Origin::Published | Origin::Linked => &library.in_memory,
        Origin::Imported => &*library.store,
    }
}

pub(super) fn stamped(reading: &RunningImport<'_>, mut row: Row, bytes: u64) -> Row {
    if row.id.trim().is_empty() {
        row.id = "episode".into();
    }
    row.origin = Some(origin::word(reading.origin).into());
    row.added = Some(reading.added);
    row.bytes = Some(bytes);
    row
}

/// Adds episodes: shows them and starts to store them. [`kept`] waits for that.
pub(super) async fn add<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    mut batch: Vec<Item>,
) {
    if batch.is_empty() {
        return;
    }
    naming::keep_tags(library, reading.origin, &mut batch).await;
    reading.found.set(reading.found.get() + batch.len());
    let rows = batch.iter().map(|item| item.row.clone()).collect();
    (reading.send)(Output::Event(Event::Added { rows }));
    // At most one batch waits in memory.
    kept(reading).await;
    let mut keeping = keep(library, reading.origin, batch).boxed_local();
    match (&mut keeping).now_or_never() {
        Some(added) => reading.tell_kept(added),
        None => {
            reading.keeping.replace(Some(keeping));
        }
    }
}

/// Stores episodes. Those whose ids were taken meanwhile get other ids.
async fn keep(library: &LibraryService, origin: Origin, mut batch: Vec<Item>) -> Added {
    let ids_of =
        |batch: &[Item]| -> Vec<Text> { batch.iter().map(|item| item.row.id.clone()).collect() };
    let shown = ids_of(&batch);
    // Those that turned out to be stored already may have tags that were not shown.
    let mut again = Vec::new();
    loop {
        let ids = ids_of(&batch);
        let kept = match store_for(library, origin).keep(batch).await {
            Ok(()) => Ok(()),
            Err(Unkept::InMemory(error)) => Err(error),
            Err(Unkept::Taken(back)) => {
                batch = naming::renamed(library, origin, back).await;
                let stored = batch.iter().filter(|item| !item.is_new);
                again = stored.map(|item| item.row.id.clone()).collect();
                continue;
            }
        };
        let first = ids.first().cloned();
        let moved = shown.into_iter().zip(ids).filter(|(id, into)| id != into);
        let moved: Vec<(Text, Text)> = moved.collect();
        let of_moved = moved.iter().flat_map(|(id, into)| [id, into]);
        let changed: BTreeSet<Text> = of_moved.chain(&again).cloned().collect();
        let changed: Vec<Text> = changed.into_iter().collect();
        let rows = library.rows_of(&changed).await;
        return Added {
            first,
            moved,
            rows,
            kept,
        };
    }
}

/// Waits until all added episodes are stored.
pub(super) async fn kept(reading: &RunningImport<'_>) {
    let keeping = reading.keeping.take();
    if let Some(keeping) = keeping {
        reading.tell_kept(keeping.await);
    }
}
