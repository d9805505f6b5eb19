//! Large files: gone through in slices; their episodes are opened where they stand.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::maybe_done;
use volary_core::json::Text;
use volary_trace::archive::is_archive;
use volary_trace::archive::listing::{Parts, Unlisted, list};
use volary_trace::import::NoteLevel;
use volary_trace::import::index::packed::PackedLog;
use volary_trace::import::index::{Entry, Indexer};

use super::super::source::{Source, Window, id_of};
use super::super::stock::{Held, InFile, Item, KnownFile};
use super::finding::SETTLED;
use super::reading::{Outcome, Reading, kept};
use super::{BATCH, Librarian};

/// Files from here on are not copied into episodes, if they can be gone through in slices…
const LARGE: u64 = 4 << 20;
/// …and zip files, which unpack to several times as much.
const LARGE_PACKED: u64 = 1 << 20;
/// So much is read at once: less than can be seen as standing still.
const SLICE: u64 = 2 << 20;
/// Logs have so many members at most.
const MOST_MEMBERS: usize = 500_000;

impl Librarian {
    /// Goes through a file in slices, if it is large and of a kind that allows it.
    pub(super) async fn read_in_place<'a>(
        &'a self,
        reading: &Reading<'a>,
        file: &Rc<dyn Source>,
    ) -> Result<Outcome, String> {
        let size = file.size();
        if size < LARGE_PACKED {
            return Ok(Outcome::Whole);
        }
        let is_packed = is_archive(&file.read(0..4).await?);
        if !is_packed && size < LARGE {
            return Ok(Outcome::Whole);
        }
        let id = id_of(&**file).await?;
        let name = file.name();
        let stock = self.stock_for(reading.origin);
        let mut known = KnownFile {
            id: id.clone(),
            name: name.clone(),
            size,
            whole: true,
            source: Some(Rc::clone(file)),
        };
        let window = Rc::new(Window::on(Rc::clone(file)));
        self.windows
            .borrow_mut()
            .insert(id.clone(), Rc::clone(&window));
        if stock.file(&id).await.is_some_and(|file| file.whole) {
            self.keep_file(reading, known).await;
            let text = format!("{name} is in the library; its trajectories can be opened.");
            reading.note(NoteLevel::Read, &name, text);
            return Ok(Outcome::Taken);
        }
        let outcome = match is_packed {
            true => self.read_packed(reading, &id, &window).await?,
            false => self.read_slices(reading, &id, file).await?,
        };
        match outcome {
            Outcome::Whole => {
                self.windows.borrow_mut().remove(&id);
            }
            Outcome::Taken => {
                kept(reading).await;
                // Without all rows, it must be read again when it is given again.
                known.whole = !reading.is_unkept.get();
                self.keep_file(reading, known).await;
            }
            Outcome::Cancelled => {
                // Nothing more is copied for a person who waits for the end.
                (known.whole, known.source) = (false, None);
                self.keep_file(reading, known).await;
                self.note_uncopied(reading, &id, &name).await;
            }
        }
        Ok(outcome)
    }

    async fn keep_file(&self, reading: &Reading<'_>, file: KnownFile) {
        let (id, name) = (file.id.clone(), file.name.clone());
        reading.progress(&name, file.size);
        let is_copied = file.source.is_some();
        let keeping = self.stock_for(reading.origin).keep_file(file);
        let kept = match is_copied {
            true => self.cancelled.unless(reading.number, keeping).await,
            false => Some(keeping.await),
        };
        match kept {
            Some(Ok(())) => {}
            Some(Err(reason)) => reading.note(NoteLevel::Unreadable, &name, reason),
            None => self.note_uncopied(reading, &id, &name).await,
        }
    }

    /// Says so if a file is not kept with what was found in it.
    async fn note_uncopied(&self, reading: &Reading<'_>, id: &Text, name: &Text) {
        let stock = self.stock_for(reading.origin);
        let is_here = |file: KnownFile| file.source.is_some();
        if reading.found.get() > 0 && !stock.file(id).await.is_some_and(is_here) {
            let text = format!(
                "{name} was not copied into this browser. Until you leave this page what was read of it can be \
                 opened; after that, import the file again."
            );
            reading.note(NoteLevel::Unreadable, name, text);
        }
    }

    async fn read_slices<'a>(
        &'a self,
        reading: &Reading<'a>,
        id: &Text,
        file: &Rc<dyn Source>,
    ) -> Result<Outcome, String> {
        let (size, name) = (file.size(), file.name());
        let mut indexer = Indexer::new(name.clone());
        let mut copying = None;
        let before = self.known.borrow().episodes.len();
        indexer.keep_texts(true);
        let slice = |start: u64| file.read(start..size.min(start + SLICE));
        let (mut at, mut coming) = (0, slice(0));
        while at < size {
            if self.is_cancelled(reading.number) {
                return Ok(Outcome::Cancelled);
            }
            let bytes = coming.await?;
            at = size.min(at + SLICE);
            // The next ones are fetched while these are gone through.
            coming = slice(at);
            indexer.feed(&bytes);
            if indexer.is_held() {
                return Ok(Outcome::Whole);
            }
            self.take(reading, id, indexer.take_entries()).await;
            reading.progress(&name, at);
            // As many as there will be, if it goes on like this.
            let found = self.known.borrow().episodes.len().saturating_sub(before);
            let expected = found as f64 * size as f64 / at as f64;
            indexer.keep_texts(before + expected as usize <= SETTLED);
            if found > 0 {
                // The file is copied meanwhile. What comes of that is asked when all of it was read.
                let known = || KnownFile {
                    id: id.clone(),
                    name: name.clone(),
                    size,
                    whole: false,
                    source: Some(Rc::clone(file)),
                };
                let copy = || maybe_done(self.stock_for(reading.origin).keep_file(known()));
                let _ = copying.get_or_insert_with(copy).now_or_never();
            }
        }
        if let Some(copying) = copying {
            // All is read; whoever stops it now only wants no copy.
            self.cancelled.unless(reading.number, copying).await;
        }
        indexer.finish();
        self.take(reading, id, indexer.take_entries()).await;
        reading
            .notes
            .borrow_mut()
            .extend_from_slice(indexer.notes());
        Ok(Outcome::Taken)
    }

    async fn read_packed<'a>(
        &'a self,
        reading: &Reading<'a>,
        id: &Text,
        window: &Window,
    ) -> Result<Outcome, String> {
        let (size, name) = (window.source().size(), window.source().name());
        let mut parts = Parts::of(size);
        let members = loop {
            match list(&parts, MOST_MEMBERS) {
                Ok(members) => break members,
                // One that is cut off is looked through as a whole.
                Err(Unlisted::Failed(_)) => return Ok(Outcome::Whole),
                Err(Unlisted::Wanted(range)) => {
                    let bytes = window.source().read(range.clone()).await?;
                    parts.add(range.start, bytes);
                }
            }
        };
        let Some(mut log) = PackedLog::of(&name, &members) else {
            return Ok(Outcome::Whole);
        };
        log.read_head(&window.read(log.head()).await?);
        let mut done = 0;
        for number in 0..log.samples().len() {
            if self.is_cancelled(reading.number) {
                return Ok(Outcome::Cancelled);
            }
            let places = log.samples()[number].clone();
            let mut parts = Vec::with_capacity(places.len());
            for place in places {
                done += place.end - place.start;
                parts.push(window.read(place).await?);
            }
            log.read_sample(number, &parts);
            // The first ones are shown at once.
            if number < 20 || number.is_multiple_of(BATCH) {
                self.take(reading, id, log.take_entries()).await;
                reading.progress(&name, done.min(size));
            }
        }
        log.finish();
        self.take(reading, id, log.take_entries()).await;
        reading.notes.borrow_mut().extend_from_slice(log.notes());
        Ok(Outcome::Taken)
    }

    /// Takes in what was found in a file.
    async fn take<'a>(&'a self, reading: &Reading<'a>, file: &Text, entries: Vec<Entry>) {
        let mut entries = entries.into_iter().peekable();
        while entries.peek().is_some() {
            let batch = entries.by_ref().take(BATCH).map(|entry| {
                let at = InFile {
                    file: file.clone(),
                    place: entry.place,
                };
                let mut row = self.stamped(reading, entry.row, at.place.bytes());
                let is_new;
                (row.id, is_new) = self.free_id(&row.id, &at);
                self.remember(&row, Some(at.clone()));
                if let Some(texts) = entry.texts {
                    let mut index = self.index.borrow_mut();
                    index.insert_document(row.id.clone(), texts);
                    self.indexed.borrow_mut().insert(row.id.clone());
                }
                Item {
                    row,
                    held: Held::At(at),
                    is_new,
                }
            });
            self.add(reading, batch.collect()).await;
        }
    }
}
