//! Imports of files: the steps that all of them share. Large files are imported in slices (`streaming_import`), others
//! together (`whole_file_import`).

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use volary_protocol::RequestId;
use volary_protocol::library::{Event, UnmappedFile};

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::table::Row;
use volary_core::in_flight::InFlight;
use volary_core::json::Text;
use volary_core::quantity::{plural, size_text};
use volary_formats::import::fields::Unmapped;
use volary_formats::import::{Note, NoteLevel};
use volary_protocol::library::Origin;

use super::annotations::ImportedAnnotations;
use super::continuation::Continuation;
use super::report::Report;
use super::step_dumps::StepDumps;
use super::{
    LibraryService, Output, Send, naming, report_unstored, streaming_import, whole_file_import,
};
use crate::repository::{EpisodeStore, Item, Unkept};
use crate::source::{ReadAt, Source, Window};
use volary_app::library::origin;

/// The outcome of storing episodes.
struct Added {
    first: Option<Text>,
    /// The old and new ids of episodes that were shown before their ids turned out to be taken.
    moved: Vec<(Text, Text)>,
    /// The rows of the episodes that got new ids, of those that had their ids, and of those that were stored already.
    rows: Vec<Row>,
    kept: Result<(), String>,
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
    total: u64,
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
    in_flight: &'a InFlight,
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
            (self.send)(Output::Event(Event::Grown { id, into }));
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

/// Reads files, adds their episodes and reports the end.
pub(crate) async fn read<'a>(
    library: &'a LibraryService,
    number: RequestId,
    files: Vec<Rc<dyn Source>>,
    origin: Origin,
    send: Send<'a>,
) {
    let ended = read_some(library, number, files, origin, send).await;
    ended.tell(send);
}

/// Reads files and adds their episodes. Others may follow.
pub(super) async fn read_some<'a>(
    library: &'a LibraryService,
    number: RequestId,
    files: Vec<Rc<dyn Source>>,
    origin: Origin,
    send: Send<'a>,
) -> Ended {
    let _going = library.expect();
    let total = files.iter().map(|file| file.size()).sum();
    let mut reading = begin(library, number, total, origin, send);
    reading.steps = StepDumps::of(&files).await;
    let is_nothing = files.is_empty();
    let annotations = ImportedAnnotations::of(library, &reading, &files).await;
    let mut together = Vec::new();
    for file in files {
        let mut size = file.size();
        let annotations = annotations.as_ref();
        if annotations.is_some_and(|annotations| annotations.is_file(&file)) {
            together.push(file);
            continue;
        }
        if reading.steps.is_behind(&file) {
            continue;
        }
        let trained = reading.steps.of_rollouts(&file);
        let trained = trained.map_or_else(Vec::new, |trained| trained.files.clone());
        size += trained.iter().map(|file| file.size()).sum::<u64>();
        match streaming_import::read_in_place(library, &reading, &file, annotations).await {
            Ok(FileOutcome::Taken) => {}
            Ok(FileOutcome::Whole) => {
                together.push(file);
                together.extend(trained);
                continue;
            }
            Ok(FileOutcome::Cancelled) => break,
            Err(reason) => {
                let text = format!("{} could not be read: {reason}", file.name());
                reading.note(NoteLevel::Unreadable, &file.name(), text);
            }
        }
        reading.done.set(reading.done.get() + size);
    }
    if let Some(annotations) = &annotations {
        together = annotations.remaining(&reading, together).await;
    }
    if !is_cancelled(library, number) && !together.is_empty() {
        whole_file_import::read_together(library, &reading, &together).await;
    }
    kept(&reading).await;
    end(library, &reading, is_nothing)
}

/// Reads on in a file that has grown. It must fit the continuation.
pub(super) async fn read_on<'a>(
    library: &'a LibraryService,
    number: RequestId,
    window: Window,
    continuation: Continuation,
    origin: Origin,
    send: Send<'a>,
) -> Ended {
    let _going = library.expect();
    let name = window.name();
    let mut reading = begin(library, number, window.size(), origin, send);
    reading.is_followed = true;
    let read = streaming_import::read_on(library, &reading, window, continuation);
    if let Err(reason) = read.await {
        let text = format!("{name} could not be read: {reason}");
        reading.note(NoteLevel::Unreadable, &name, text);
    }
    kept(&reading).await;
    end(library, &reading, true)
}

fn begin<'a>(
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

/// How an import ended.
pub(super) struct Ended {
    pub report: Report,
    /// Whether nothing was found in files that no reader knows.
    is_refused: bool,
}

impl Ended {
    pub fn tell(self, send: Send<'_>) {
        let notes = self.report.lines();
        send(Output::Event(if self.is_refused {
            Event::Refused {
                reason: notes.join(" ").into(),
            }
        } else {
            Event::Read { notes }
        }));
    }
}

fn end(library: &LibraryService, reading: &RunningImport<'_>, is_nothing: bool) -> Ended {
    let number = reading.number;
    let was_cancelled = library.cancelled.remove(number);
    let unmapped = reading.unmapped.take().into_iter();
    let unmapped = unmapped.map(|found| UnmappedFile {
        file: found.file,
        shape: found.shape,
        head: found.head.to_compact_text().into(),
    });
    let files: Vec<UnmappedFile> = unmapped.collect();
    if !files.is_empty() {
        (reading.send)(Output::Event(Event::Unmapped { files }));
    }
    if was_cancelled {
        let found = plural(reading.found.get(), "trajectory");
        let text = format!("Cancelled. {found} that were read are in the library.");
        reading.note(NoteLevel::Unreadable, &"".into(), text);
    }
    let report = reading.report.take();
    let is_read = reading.found.get() > 0 || was_cancelled || report.has_read() || is_nothing;
    Ended {
        report,
        is_refused: !is_read,
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
            Err(Unkept::InMemory(reason)) => Err(reason),
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
