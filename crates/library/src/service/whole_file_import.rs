//! Imports files that must be read as a whole, and files that belong together. Each of their episodes is stored as a
//! text.

use std::rc::Rc;
use volary_protocol::library::Event;

use volary_analysis::annotations::tags;
use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_core::quantity::size_text;
use volary_formats::import::index::LARGEST_WHOLE;
use volary_formats::import::together::is_read_alone;
use volary_formats::import::{InputFile, NoteLevel};

use super::naming::Named;
use super::reread::FilesRead;
use super::running_import::RunningImport;
use super::state::{BATCH, LibraryService, Output};
use super::{listing, naming, running_import};
use crate::parquet;
use crate::repository::{Held, Item};
use crate::source::Source;

/// Reads files that must be read as a whole, and files that belong together.
pub(super) async fn read_together<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    files: &[Rc<dyn Source>],
) {
    let mut inputs: Vec<Input> = Vec::with_capacity(files.len());
    let mut room = LARGEST_WHOLE;
    for file in files {
        if running_import::is_cancelled(library, reading.number) {
            return;
        }
        let (name, size) = (file.name(), file.size());
        reading.progress(&name, 0);
        let Some(left) = room.checked_sub(size) else {
            let text = format!(
                "{name} ({}) was not read: files of this kind are read as a whole and may have \
                 {} in total. JSON Lines files and Inspect logs may have any size.",
                size_text(size),
                size_text(LARGEST_WHOLE)
            );
            reading.note(NoteLevel::Unreadable, &name, text);
            continue;
        };
        room = left;
        match file.read(0..size).await {
            Ok(bytes) => match parquet::as_lines(&*library.code, bytes).await {
                Ok((bytes, loss)) => {
                    let input = InputFile {
                        name: Some(name.to_string()),
                        bytes,
                    };
                    inputs.push((input, Rc::clone(file)));
                    if let Some(loss) = loss {
                        reading.note(NoteLevel::Unreadable, &name, loss);
                    }
                }
                Err(error) => reading.note(NoteLevel::Unreadable, &name, error.to_string()),
            },
            Err(error) => {
                let text = format!("{name} could not be read: {error}");
                reading.note(NoteLevel::Unreadable, &name, text);
            }
        }
        reading.done.set(reading.done.get() + size);
    }
    // Episodes of our own format do not name their files, so each of these is read by itself.
    let (native, other): (Vec<Input>, Vec<Input>) = inputs
        .into_iter()
        .partition(|(file, _)| is_read_alone(&file.bytes));
    let native = native.into_iter().map(|file| vec![file]);
    for inputs in native.chain([other]).filter(|inputs| !inputs.is_empty()) {
        if running_import::is_cancelled(library, reading.number) {
            return;
        }
        read_inputs(library, reading, inputs).await;
    }
}

/// A file with its contents, and where these came from.
type Input = (InputFile, Rc<dyn Source>);

async fn read_inputs<'a>(
    library: &'a LibraryService,
    reading: &RunningImport<'a>,
    inputs: Vec<Input>,
) {
    let (inputs, sources): (Vec<InputFile>, Vec<Rc<dyn Source>>) = inputs.into_iter().unzip();
    sources.iter().for_each(|source| source.release());
    let readers = match library.code.readers().await {
        Ok(readers) => readers,
        Err(error) => {
            return reading.note(NoteLevel::Unreadable, &"".into(), error.to_string());
        }
    };
    let mappings = library.mappings.borrow().clone();
    let outcome = match readers.import(&inputs, &mappings) {
        Ok(outcome) => outcome,
        Err(refused) => {
            reading.unmapped.borrow_mut().extend(refused.unmapped);
            let reason = refused.reason.to_string();
            return reading.note(NoteLevel::Unreadable, &"".into(), reason);
        }
    };
    let only: Option<Text> = match inputs.as_slice() {
        [file] => file.name.as_deref().map(Text::from),
        _ => None,
    };
    drop(inputs);
    let files = FilesRead::of(sources, mappings, &library.code);
    // From here on ids are compared, so the stored ones must be known. They were listed meanwhile.
    listing::ready(library).await;
    reading.report.borrow_mut().extend(outcome.notes);
    reading.unmapped.borrow_mut().extend(outcome.unmapped);
    let count = outcome.episodes.len();
    let mut batch: Vec<Item> = Vec::new();
    for (index, mut episode) in outcome.episodes.into_iter().enumerate() {
        let tags = tags::take(&mut episode);
        let file = episode.source.as_ref().map(|source| source.file.clone());
        let file = only.clone().or(file.filter(|file| !file.is_empty()));
        let named = naming::named(library, reading.origin, episode, &batch).await;
        let Named {
            episode,
            text,
            is_new,
        } = named;
        let row = Row::of(&episode, tags);
        let row = running_import::stamped(reading, row, text.len() as u64);
        library.remember(&row, None);
        let again = files.as_ref();
        let again = again.map(|files| files.episode(&row.id, file.as_ref(), &text));
        if let Some(file) = file {
            library.came_from(&row.id, &file);
        }
        library.search.insert(&episode, &episode.id);
        let held = Held::Text(text);
        batch.push(Item {
            row,
            held,
            again,
            is_new,
        });
        if batch.len() == BATCH {
            running_import::add(library, reading, std::mem::take(&mut batch)).await;
            (reading.send)(Output::Event(Event::Progress {
                doing: format!("{} of {count} trajectories", index + 1).into(),
                done: Some((index + 1) as f64 / count as f64),
            }));
            if running_import::is_cancelled(library, reading.number) {
                return;
            }
        }
    }
    running_import::add(library, reading, batch).await;
}
