//! Large files: gone through in slices; their episodes are opened where they stand.

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{join, maybe_done};
use volary_core::json::Text;
use volary_trace::archive::is_archive;
use volary_trace::archive::listing::{Parts, Unlisted, list};
use volary_trace::import::NoteLevel;
use volary_trace::import::index::packed::PackedLog;
use volary_trace::import::index::{Entry, Indexer};

use super::super::protocol::Answer;
use super::super::source::{Source, Window, end_of, start_of};
use super::super::stock::{Held, InFile, Item, KnownFile};
use super::begun::Begun;
use super::finding::SETTLED;
use super::reading::{Outcome, Reading, kept};
use super::{BATCH, Librarian, Said};

/// Files from here on are not copied into episodes, if they can be gone through in slices…
const LARGE: u64 = 4 << 20;
/// …and zip files, which unpack to several times as much.
const LARGE_PACKED: u64 = 1 << 20;
/// So much is read at once: less than can be seen as standing still…
const SLICE: u64 = 2 << 20;
/// …and less at first, so that there is something to see.
const FIRST_SLICE: u64 = 1 << 18;
/// No more rows are seen at once.
const SEEN: usize = 40;
/// Logs have so many members at most.
const MOST_MEMBERS: usize = 500_000;

/// Where the slice ends that begins at a byte.
fn slice_end(start: u64, size: u64) -> u64 {
    size.min(start + (start + FIRST_SLICE).min(SLICE))
}

/// What the first slice of a file holds.
struct Beginning {
    /// Where it ends.
    at: u64,
    indexer: Indexer,
    /// The episodes that end in it.
    entries: Vec<Entry>,
    /// The first one, if it does not.
    begun: Option<Begun>,
}

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
        // What is known of it is asked for while its beginning is read: whoever waits for that sees it sooner.
        let identified = async {
            self.ready().await;
            self.identify(reading, &**file).await
        };
        let beginning = async {
            match is_packed {
                true => Ok(None),
                false => self.read_beginning(reading, file).await.map(Some),
            }
        };
        let (identified, beginning) = join(identified, beginning).await;
        let mut beginning = beginning?;
        let (id, end) = match identified {
            Ok(identified) => identified,
            Err(reason) => {
                let begun = beginning.and_then(|beginning| beginning.begun);
                self.keep_begun(reading, begun).await;
                return Err(reason);
            }
        };
        let name = file.name();
        let is_known = end.is_some();
        let mut known = KnownFile {
            id: id.clone(),
            name: name.clone(),
            size,
            whole: true,
            end,
            source: Some(Rc::clone(file)),
        };
        let window = Rc::new(Window::on(Rc::clone(file)));
        self.windows
            .borrow_mut()
            .insert(id.clone(), Rc::clone(&window));
        if is_known {
            self.keep_file(reading, known).await;
            let first = self.tell_again(reading, &id).await;
            let begun = beginning.and_then(|beginning| beginning.begun);
            self.end_begun(reading, begun.zip(first));
            let text = format!("{name} is in the library; its trajectories can be opened.");
            reading.note(NoteLevel::Read, &name, text);
            return Ok(Outcome::Taken);
        }
        let outcome = match beginning.take() {
            None => self.read_packed(reading, &id, &window).await,
            Some(beginning) => self.read_slices(reading, &id, file, beginning).await,
        };
        match &outcome {
            Ok(Outcome::Whole) => {
                self.windows.borrow_mut().remove(&id);
            }
            Ok(Outcome::Taken) => {
                kept(reading).await;
                known.end = Some(end_of(&**file).await?);
                // Without all rows, it must be read again when it is given again.
                known.whole = !reading.is_unkept.get();
                self.keep_file(reading, known).await;
            }
            // Nothing was found in it before that.
            Ok(Outcome::Cancelled) | Err(_) if !self.is_wanted(&id) => {
                self.windows.borrow_mut().remove(&id);
            }
            Ok(Outcome::Cancelled) | Err(_) => {
                // Nothing more is copied for a person who waits for the end, or of what can't be read.
                (known.whole, known.source) = (false, None);
                self.keep_file(reading, known).await;
                self.note_uncopied(reading, &id, &name).await;
            }
        }
        outcome
    }

    /// The id of a file, and what tells it from others that begin alike if all of it is in the library already.
    ///
    /// A file may still be on its way, so its end is looked at only if another one has its start.
    async fn identify(
        &self,
        reading: &Reading<'_>,
        file: &dyn Source,
    ) -> Result<(Text, Option<Text>), String> {
        let stock = self.stock_for(reading.origin);
        let start = start_of(file).await?;
        let Some(known) = stock.file(&start).await.filter(|file| file.whole) else {
            return Ok((start, None));
        };
        let end = end_of(file).await?;
        if known.end.as_ref() == Some(&end) {
            return Ok((start, Some(end)));
        }
        let id: Text = format!("{start}{end}").into();
        let is_whole = stock.file(&id).await.is_some_and(|file| file.whole);
        Ok((id, is_whole.then_some(end)))
    }

    /// Says again what is known to stand in a file: the first of it, which is what people look for. Gives the very
    /// first.
    async fn tell_again(&self, reading: &Reading<'_>, file: &Text) -> Option<Text> {
        let mut ids: Vec<(Rc<InFile>, Text)> = {
            let known = self.known.borrow();
            let places = known.episodes.iter().filter_map(|(id, volume)| {
                let place = volume.place.as_ref()?;
                (place.file == *file).then(|| (Rc::clone(place), id.clone()))
            });
            places.collect()
        };
        ids.sort_by_key(|(at, _)| {
            let start = at.place.parts.first().map(|part| part.start);
            (start, at.place.number)
        });
        let first = ids.first().map(|(_, id)| id.clone());
        let mut rows = Vec::new();
        for (_, id) in ids.into_iter().take(BATCH) {
            rows.extend(self.stock_of(&id).row(&id).await.map(|(row, _)| row));
        }
        let number = reading.number;
        (reading.say)(Said::Answer(Answer::Added { number, rows }));
        first
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
        if self.is_wanted(id) && !stock.file(id).await.is_some_and(is_here) {
            let text = format!(
                "{name} was not copied into this browser. Until you leave this page what was read of it can be \
                 opened; after that, import the file again."
            );
            reading.note(NoteLevel::Unreadable, name, text);
        }
    }

    /// Reads the first slice of a file, and shows the episode that begins there. Nothing is kept yet.
    async fn read_beginning(
        &self,
        reading: &Reading<'_>,
        file: &Rc<dyn Source>,
    ) -> Result<Beginning, String> {
        let mut indexer = Indexer::new(file.name());
        indexer.keep_texts(true);
        let mut beginning = Beginning {
            at: 0,
            entries: Vec::new(),
            begun: None,
            indexer,
        };
        let end = slice_end(0, file.size());
        let slice = self.cancelled.unless(reading.number, file.read(0..end));
        // Who stops it already is heard when the next one is read.
        if let Some(bytes) = slice.await {
            beginning.at = end;
            beginning.indexer.feed(&bytes?);
            beginning.entries = beginning.indexer.take_entries();
            if beginning.entries.is_empty() {
                self.show_begun(reading, &beginning.indexer, &mut beginning.begun);
            }
        }
        Ok(beginning)
    }

    async fn read_slices<'a>(
        &'a self,
        reading: &Reading<'a>,
        id: &Text,
        file: &Rc<dyn Source>,
        beginning: Beginning,
    ) -> Result<Outcome, String> {
        let Beginning {
            mut at,
            mut entries,
            mut indexer,
            mut begun,
        } = beginning;
        let (size, name) = (file.size(), file.name());
        let mut copying = None;
        let before = self.known.borrow().episodes.len();
        let mut coming = file.read(at..slice_end(at, size));
        loop {
            if indexer.is_held() {
                return Ok(Outcome::Whole);
            }
            if !entries.is_empty() {
                self.take(reading, id, entries).await;
                self.grown(reading, &mut begun).await;
            } else if reading.found.get() == 0 {
                self.show_begun(reading, &indexer, &mut begun);
            }
            reading.progress(&name, at);
            // As many as there will be, if it goes on like this.
            let found = self.known.borrow().episodes.len().saturating_sub(before);
            let expected = found as f64 * size as f64 / at.max(1) as f64;
            indexer.keep_texts(before + expected as usize <= SETTLED);
            if found > 0 {
                // The file is copied meanwhile. What comes of that is asked when all of it was read.
                let known = || KnownFile {
                    id: id.clone(),
                    name: name.clone(),
                    size,
                    whole: false,
                    end: None,
                    source: Some(Rc::clone(file)),
                };
                let copy = || maybe_done(self.stock_for(reading.origin).keep_file(known()));
                let _ = copying.get_or_insert_with(copy).now_or_never();
            }
            if at >= size {
                break;
            }
            let came = self.cancelled.unless(reading.number, &mut coming).await;
            let bytes = match came {
                Some(Ok(bytes)) => bytes,
                Some(Err(reason)) => {
                    self.keep_begun(reading, begun).await;
                    return Err(reason);
                }
                None => {
                    self.keep_begun(reading, begun).await;
                    return Ok(Outcome::Cancelled);
                }
            };
            at = slice_end(at, size);
            // The next ones are fetched while these are gone through.
            coming = file.read(at..slice_end(at, size));
            indexer.feed(&bytes);
            entries = indexer.take_entries();
        }
        if let Some(copying) = copying {
            // All is read; whoever stops it now only wants no copy.
            self.cancelled.unless(reading.number, copying).await;
        }
        indexer.finish();
        self.take(reading, id, indexer.take_entries()).await;
        self.grown(reading, &mut begun).await;
        self.keep_begun(reading, begun).await;
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
            // The first one is shown at once, and soon as many as are seen.
            if number == 0 || number == SEEN || number.is_multiple_of(BATCH) {
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
        // Whoever saw the beginning of the first one wants it next.
        let mut is_first = reading.found.get() == 0;
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
                if std::mem::take(&mut is_first)
                    && let Some(mut episode) = entry.episode
                {
                    episode.id = row.id.clone();
                    self.at_hand.replace(Some(episode));
                }
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
