//! The library service: reads files, stores and opens episodes, and searches in them. [`LibraryService`] holds the
//! state; the jobs are modules of functions over it.
//!
//! - `listing`: all episodes, from the store and from changes by other tabs. `opening`: opens an episode from
//!   where it is stored. `first_episode`: the first episode of files that are not stored.
//!   `finding`: full-text search. `exporting`: files of several episodes.
//! - `listed_files`: the files of a list, which `volary view` writes while it reads folders. `continuation`: reads on in
//!   files that have grown, and `renewal` keeps the rows of those that are read again.
//! - `reading`: files to episodes. Large files are imported by `streaming_import`, each a `large_file`. Their first episode can be
//!   opened meanwhile (`partial_preview`). Other files are imported by `whole_file_import`. `report`: what is said about all of them.
//!   `known_files` recognises files that were imported before. `naming` chooses ids, and `cancelled` holds the cancelled
//!   readings. `unstored`: episodes that the browser refused to store. `annotations` joins annotations with traces in large files, and `step_dumps` training dumps with rollouts.
//!
//! This module does not depend on a browser: replies go through a function. Requests are handled concurrently: another
//! episode is opened between two slices of a large file.

mod annotations;
mod cancelled;
mod continuation;
mod dump_pairs;
mod exporting;
mod file_list;
mod finding;
mod first_episode;
mod known_files;
mod large_file;
mod listed_files;
mod listing;
mod naming;
mod opening;
mod partial_preview;
mod reading;
mod renewal;
mod report;
mod reread;
mod step_dumps;
mod streaming_import;
mod unstored;
mod whole_file_import;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use volary_analysis::sensitive;
use volary_analysis::table::Row;
use volary_app::library::origin::PUBLISHED;
use volary_core::Clock;
use volary_core::in_flight::{Flight, InFlight};
use volary_core::json::{Json, Text};
use volary_formats::import::fields::Mappings;
use volary_protocol::episode::chunks;
use volary_protocol::library::{
    Event, FileChanges, FileList, Origin, Request, SensitiveEpisode, TaggedEpisode,
};
use volary_protocol::{ChangedEpisodes, RequestId};

use self::cancelled::Cancelled;
use self::continuation::Continuation;
use self::finding::Search;
use self::partial_preview::Previews;
use crate::file_server::FileServer;
use crate::lazy_code::LazyCode;
use crate::replay::{self, Replayed};
use crate::repository::{EpisodeStore, InFile, MemoryStore};
use crate::source::{Source, Window};

/// The maximum number of rows per message.
const BATCH: usize = 200;

/// A reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Event(Event),
    /// A file to save, in parts.
    File {
        name: &'static str,
        /// The parts of its contents.
        parts: Vec<Vec<u8>>,
    },
}

/// Where replies go.
pub type Send<'a> = &'a dyn Fn(Output);

/// The state of the library service.
pub struct LibraryService {
    store: Box<dyn EpisodeStore>,
    /// Episodes that are not stored, such as those of the site.
    in_memory: MemoryStore,
    /// Those among them that the page stores as soon as the browser allows it.
    unstored: RefCell<BTreeSet<Text>>,
    code: Rc<dyn LazyCode>,
    clock: Rc<dyn Clock>,
    /// Seconds since 1970.
    today: fn() -> f64,
    known: RefCell<Known>,
    /// The paths of the files that episodes came from, as far as each came from one.
    file_of: RefCell<HashMap<Text, Text>>,
    /// The addresses of listed files, by path.
    url_of: RefCell<HashMap<Text, Text>>,
    /// The files that episodes were opened from.
    windows: RefCell<BTreeMap<Text, Rc<Window>>>,
    /// How records of unknown shapes are read.
    mappings: RefCell<Mappings>,
    /// How listed files are read on once they have grown, by path.
    continuations: RefCell<HashMap<Text, Continuation>>,
    search: Search,
    /// The cancelled readings.
    cancelled: Cancelled,
    in_flight: InFlight,
    previews: Previews,
    /// Whether the store was asked for all episodes.
    has_asked: Cell<bool>,
}

/// The known episodes.
#[derive(Default)]
struct Known {
    /// Whether all stored episodes are among them.
    is_whole: bool,
    episodes: HashMap<Text, KnownEpisode>,
}

/// The known facts about an episode that was not opened.
#[derive(Clone)]
struct KnownEpisode {
    name: Text,
    /// The location of an episode without a text of its own.
    place: Option<Rc<InFile>>,
}

impl KnownEpisode {
    fn of(row: &Row, place: Option<InFile>) -> KnownEpisode {
        KnownEpisode {
            name: row.name.clone(),
            place: place.map(Rc::new),
        }
    }
}

impl LibraryService {
    /// Creates a library over a store.
    pub fn new(
        store: impl EpisodeStore + 'static,
        code: Rc<dyn LazyCode>,
        clock: Rc<dyn Clock>,
        today: fn() -> f64,
    ) -> LibraryService {
        LibraryService {
            store: Box::new(store),
            in_memory: MemoryStore::default(),
            unstored: RefCell::default(),
            code,
            clock,
            today,
            known: RefCell::default(),
            file_of: RefCell::default(),
            url_of: RefCell::default(),
            windows: RefCell::default(),
            mappings: RefCell::default(),
            continuations: RefCell::default(),
            search: Search::default(),
            cancelled: Cancelled::default(),
            in_flight: InFlight::default(),
            previews: Previews::default(),
            has_asked: Cell::new(false),
        }
    }

    /// Handles a request that needs nothing but this service.
    pub async fn handle(&self, id: RequestId, request: Request, send: Send<'_>) {
        let refuse = |reason: String| {
            let reason = reason.into();
            send(Output::Event(Event::Refused { reason }));
        };
        let give = |episode, notes| {
            for chunk in chunks(episode, notes) {
                send(Output::Event(Event::Episode(chunk)));
            }
        };
        match request {
            Request::List => listing::list(self, send).await,
            Request::Open { id } => match opening::episode(self, &id).await {
                Ok(episode) => give(episode, Vec::new()),
                Err(reason) => refuse(reason),
            },
            Request::Check { id } => match self.replayed(&id).await {
                Ok((words, step)) => {
                    let words = words.into();
                    send(Output::Event(Event::Checked { words, step }));
                }
                Err(reason) => refuse(reason),
            },
            Request::Search { words } => finding::search(self, id, &words, send).await,
            Request::Find { id, words } => {
                let places = finding::find_in_episode(self, &id, &words).await;
                send(Output::Event(Event::Places { places }));
            }
            Request::Forget { ids } => self.forget(&ids).await,
            Request::Tag { ids, tag, on } => self.tag(&ids, &tag, on, send).await,
            Request::FindSensitive { episodes } => self.find_sensitive(&episodes, send).await,
            Request::Export {
                episodes,
                format,
                is_masked,
            } => exporting::export(self, &episodes, format, is_masked, send).await,
            Request::ExportFindings {
                title,
                episodes,
                runs,
                notes,
                is_masked,
            } => {
                let page = exporting::Page {
                    title,
                    episodes,
                    runs,
                    notes,
                };
                exporting::export_findings(self, page, is_masked, send).await;
            }
            Request::Cancel { reading } => self.cancelled.add(reading),
            Request::Settle => finding::settle(self).await,
            Request::Map { mappings } => drop(self.mappings.replace(mappings)),
            Request::Preview { head, fields } => {
                let head = Json::parse(&head).unwrap_or_default();
                let previewed = async { self.code.readers().await?.preview(&head, &fields) };
                match previewed.await.map(|episodes| episodes.into_iter().next()) {
                    Ok(Some(episode)) => give(episode, Vec::new()),
                    Ok(None) => refuse(String::new()),
                    Err(reason) => refuse(reason),
                }
            }
            Request::ReadFirst { files } => match first_episode::read(self, files).await {
                Ok((episode, notes)) => give(episode, notes),
                Err(reason) => refuse(reason),
            },
            // These come with files, or need a server or the store's changes: see the methods below.
            Request::Read { .. }
            | Request::ShowUnstored { .. }
            | Request::Fetch { .. }
            | Request::FetchList { .. }
            | Request::Refresh { .. }
            | Request::Watch => {}
        }
    }

    /// Reads files, adds their episodes and reports the end.
    pub async fn read(
        &self,
        id: RequestId,
        files: Vec<Rc<dyn Source>>,
        origin: Origin,
        send: Send<'_>,
    ) {
        reading::read(self, id, files, origin, send).await;
    }

    /// Reads the files of a list.
    pub async fn fetch_list(
        &self,
        id: RequestId,
        server: &dyn FileServer,
        origin: Origin,
        list: FileList,
        send: Send<'_>,
    ) {
        listed_files::fetch_list(self, id, server, origin, list, send).await;
    }

    /// Reads the files of a list that were written to, and marks the episodes of others. `heads` is the address of the
    /// beginnings of many files, if the server has one.
    pub async fn refresh(
        &self,
        id: RequestId,
        server: &dyn FileServer,
        origin: Origin,
        changes: FileChanges,
        heads: Option<Text>,
        send: Send<'_>,
    ) {
        let fetching = listed_files::Fetching::new(self, id, server, origin, heads, send);
        listed_files::refresh(fetching, changes).await;
    }

    /// Shows episodes that the browser refused to store, each with the file that holds its native text.
    pub async fn show_unstored(&self, rows: Vec<Row>, texts: Vec<Rc<dyn Source>>, send: Send<'_>) {
        unstored::show(self, rows, texts, send).await;
    }

    /// Handles a change of the store by any tab.
    pub async fn handle_changes(&self, changed: ChangedEpisodes, send: Send<'_>) {
        listing::handle_changes(self, changed, send).await;
    }

    /// The time, as the service measures it.
    pub fn clock(&self) -> &Rc<dyn Clock> {
        &self.clock
    }

    /// Replays an episode.
    pub(crate) async fn replayed(&self, id: &Text) -> Replayed {
        let episode = opening::episode(self, id).await?;
        if episode.recipe.is_none() {
            return Err(replay::UNKNOWN.to_owned());
        }
        self.code.replay(episode, Rc::clone(&self.clock)).await
    }

    /// Announces that files will be read soon, so that opening an unknown episode waits for it.
    pub fn expect(&self) -> Flight<'_> {
        self.in_flight.begin()
    }

    /// Resolves when a reading is cancelled.
    pub fn cancelled(&self, number: RequestId) -> impl Future<Output = ()> {
        self.cancelled.of(number)
    }

    fn remember(&self, row: &Row, place: Option<InFile>) {
        let volume = KnownEpisode::of(row, place);
        let mut known = self.known.borrow_mut();
        known.episodes.insert(row.id.clone(), volume);
    }

    /// Notes which file an episode came from.
    fn came_from(&self, id: &Text, file: &Text) {
        let mut file_of = self.file_of.borrow_mut();
        file_of.insert(id.clone(), file.clone());
    }

    /// How much of everything is held.
    #[cfg(test)]
    fn sizes(&self) -> Vec<usize> {
        let (episodes, files) = self.in_memory.sizes();
        let (indexed, texts) = self.search.sizes();
        vec![
            episodes,
            files,
            indexed,
            texts,
            self.known.borrow().episodes.len(),
            self.file_of.borrow().len(),
            self.url_of.borrow().len(),
            self.windows.borrow().len(),
            self.continuations.borrow().len(),
            self.previews.size(),
            self.cancelled.size(),
        ]
    }

    fn volume(&self, id: &str) -> Option<KnownEpisode> {
        self.known.borrow().episodes.get(id).cloned()
    }

    /// Forgets an episode. Its records are not deleted.
    fn lose(&self, id: &Text) -> Option<KnownEpisode> {
        self.search.remove(id);
        self.previews.remove(id);
        self.file_of.borrow_mut().remove(id);
        self.known.borrow_mut().episodes.remove(id)
    }

    /// Whether any known episode is in a file.
    fn is_wanted(&self, file: &Text) -> bool {
        let known = self.known.borrow();
        let mut places = known.episodes.values().flat_map(|volume| &volume.place);
        places.any(|place| place.file == *file)
    }

    fn store_of(&self, id: &str) -> &dyn EpisodeStore {
        if self.in_memory.has(id) {
            &self.in_memory
        } else {
            &*self.store
        }
    }

    /// Returns the rows of these episodes, those of the site first.
    async fn rows_of(&self, ids: &[Text]) -> Vec<Row> {
        let (in_memory, own): (Vec<Text>, Vec<Text>) =
            ids.iter().cloned().partition(|id| self.in_memory.has(id));
        let in_memory = self.in_memory.rows_of(&in_memory).await.into_iter();
        let rows = in_memory.chain(self.store.rows_of(&own).await);
        rows.map(|(row, _)| row).collect()
    }

    /// Whether an episode belongs to the site and therefore cannot be deleted.
    fn is_of_site(&self, id: &str) -> bool {
        self.in_memory.origin(id).as_deref() == Some(PUBLISHED)
    }

    async fn forget(&self, ids: &[Text]) {
        opening::wait_until_stored(self, ids).await;
        let ids = ids.iter().filter(|id| !self.is_of_site(id));
        let ids: Vec<Text> = ids.cloned().collect();
        let mut files = BTreeSet::new();
        for id in &ids {
            if let Some(place) = self.lose(id).and_then(|volume| volume.place) {
                files.insert(place.file.clone());
            }
        }
        let is_kept = |id: &Text| !ids.contains(id);
        self.unstored.borrow_mut().retain(is_kept);
        self.in_memory.forget(&ids).await;
        self.store.forget(&ids).await;
        for file in files {
            if !self.is_wanted(&file) {
                self.windows.borrow_mut().remove(&file);
                self.in_memory.forget_file(&file).await;
                self.store.forget_file(&file).await;
            } else if let Some(mut known) = self.store.file(&file).await {
                // The next import reads the file again, which brings deleted episodes back.
                known.whole = false;
                known.source = None;
                // If this fails, the stored record stays as it was.
                let _ = self.store.keep_file(known).await;
            }
        }
    }

    async fn tag(&self, ids: &[Text], tag: &Text, on: bool, send: Send<'_>) {
        opening::wait_until_stored(self, ids).await;
        for ids in ids.chunks(BATCH) {
            let (mut rows, mut in_memory) = (Vec::new(), Vec::new());
            for mut row in self.rows_of(ids).await {
                row.tags.retain(|known| known != tag);
                if on {
                    row.tags.push(tag.clone());
                }
                if self.in_memory.has(&row.id) {
                    in_memory.push(row)
                } else {
                    rows.push(row)
                }
            }
            let kept = self.store.label(rows.clone()).await;
            // A store in memory cannot fail.
            let _ = self.in_memory.label(in_memory.clone()).await;
            rows.extend(in_memory);
            send(Output::Event(Event::Added { rows }));
            report_unstored(kept, send);
        }
    }

    async fn find_sensitive(&self, episodes: &[TaggedEpisode], send: Send<'_>) {
        let mut found = Vec::new();
        for chosen in episodes {
            // The export leaves out what cannot be opened.
            if let Ok(episode) = opening::tagged(self, chosen).await {
                let findings = sensitive::check(&episode).into_iter();
                found.extend(findings.map(|finding| SensitiveEpisode {
                    name: match episode.name.trim() {
                        "" => episode.id.clone(),
                        name => name.into(),
                    },
                    finding,
                }));
            }
        }
        send(Output::Event(Event::Sensitive { found }));
    }
}

fn report_unstored(kept: Result<(), String>, send: Send<'_>) {
    if let Err(reason) = kept {
        let reason = reason.into();
        send(Output::Event(Event::NotKept { reason }));
    }
}

#[cfg(test)]
use volary_episode::native;

#[cfg(test)]
mod keeping_tests;
#[cfg(test)]
mod partial_preview_tests;
#[cfg(test)]
mod provisional_id_tests;
#[cfg(test)]
mod tab_tests;
#[cfg(test)]
pub(crate) mod tests;
