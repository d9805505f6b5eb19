//! Imports of files: the steps that all of them share. Large files are imported in slices (`streaming_import`), others
//! together (`whole_file_import`).

use std::rc::Rc;
use volary_protocol::RequestId;
use volary_protocol::library::{Event, UnmappedFile};

use volary_core::quantity::plural;
use volary_formats::import::NoteLevel;
use volary_protocol::library::Origin;

use super::annotations::ImportedAnnotations;
use super::answer_files;
use super::continuation::Continuation;
use super::report::Report;
use super::running_import::{FileOutcome, RunningImport, begin, is_cancelled, kept};
use super::state::{LibraryService, Output, Send};
use super::step_dumps::StepDumps;
use super::{streaming_import, whole_file_import};
use crate::source::{ReadAt, Source, Window};

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
        if answer_files::read(&reading, &file).await {
            reading.done.set(reading.done.get() + size);
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
