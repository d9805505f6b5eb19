//! The state of the library service, and what all jobs need of it. The jobs are functions of other modules.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use volary_analysis::table::Row;
use volary_app::library::origin::PUBLISHED;
use volary_core::Clock;
use volary_core::in_flight::{Flight, InFlight};
use volary_core::json::Text;
use volary_formats::import::fields::Mappings;
use volary_protocol::RequestId;
use volary_protocol::library::Event;

use super::asking::AskingState;
use super::behaviour::KnownBehaviour;
use super::cancelled::Cancelled;
use super::continuation::Continuation;
use super::previews::Previews;
use super::search_state::SearchState;
use crate::error::LibraryError;
use crate::lazy_code::LazyCode;
use crate::repository::{EpisodeStore, InFile, MemoryStore};
use crate::source::Window;

/// The maximum number of rows per message.
pub(super) const BATCH: usize = 200;

/// What the service sends to its caller: an event, or a file to save.
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
    pub(super) store: Box<dyn EpisodeStore>,
    /// Episodes that are not stored, such as those of the site.
    pub(super) in_memory: MemoryStore,
    /// Those among them that the page stores as soon as the browser allows it.
    pub(super) unstored: RefCell<BTreeSet<Text>>,
    pub(super) code: Rc<dyn LazyCode>,
    pub(super) clock: Rc<dyn Clock>,
    /// Seconds since 1970.
    pub(super) today: fn() -> f64,
    pub(super) known: RefCell<Known>,
    /// The paths of the files that episodes came from, as far as each came from one.
    pub(super) file_of: RefCell<HashMap<Text, Text>>,
    /// The addresses of listed files, by path.
    pub(super) url_of: RefCell<HashMap<Text, Text>>,
    /// The files that episodes were opened from.
    pub(super) windows: RefCell<BTreeMap<Text, Rc<Window>>>,
    /// How records of unknown shapes are read.
    pub(super) mappings: RefCell<Mappings>,
    /// How listed files are read on once they have grown, by path.
    pub(super) continuations: RefCell<HashMap<Text, Continuation>>,
    pub(super) search: SearchState,
    pub(super) asking: AskingState,
    pub(super) behaviour: RefCell<KnownBehaviour>,
    /// The cancelled readings.
    pub(super) cancelled: Cancelled,
    pub(super) in_flight: InFlight,
    pub(super) previews: Previews,
    /// Whether the store was asked for all episodes.
    pub(super) has_asked: Cell<bool>,
}

/// The known episodes.
#[derive(Default)]
pub(super) struct Known {
    /// Whether all stored episodes are among them.
    pub(super) is_whole: bool,
    pub(super) episodes: HashMap<Text, KnownEpisode>,
}

/// The known facts about an episode that was not opened.
#[derive(Clone)]
pub(super) struct KnownEpisode {
    pub(super) name: Text,
    /// The location of an episode without a text of its own.
    pub(super) location: Option<Rc<InFile>>,
}

impl KnownEpisode {
    fn of(row: &Row, location: Option<InFile>) -> KnownEpisode {
        KnownEpisode {
            name: row.name.clone(),
            location: location.map(Rc::new),
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
            search: SearchState::default(),
            asking: AskingState::default(),
            behaviour: RefCell::default(),
            cancelled: Cancelled::default(),
            in_flight: InFlight::default(),
            previews: Previews::default(),
            has_asked: Cell::new(false),
        }
    }

    /// Announces that files will be read soon, so that opening an unknown episode waits for it.
    pub fn expect(&self) -> Flight<'_> {
        self.in_flight.begin()
    }

    /// Resolves when a reading is cancelled.
    pub fn cancelled(&self, number: RequestId) -> impl Future<Output = ()> {
        self.cancelled.of(number)
    }

    pub(super) fn remember(&self, row: &Row, location: Option<InFile>) {
        let known_episode = KnownEpisode::of(row, location);
        self.behaviour.borrow_mut().remove(&row.id);
        let mut known = self.known.borrow_mut();
        known.episodes.insert(row.id.clone(), known_episode);
    }

    /// Notes which file an episode came from.
    pub(super) fn came_from(&self, id: &Text, file: &Text) {
        let mut file_of = self.file_of.borrow_mut();
        file_of.insert(id.clone(), file.clone());
    }

    /// How much of everything is held.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> Vec<usize> {
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
            self.behaviour.borrow().size(),
        ]
    }

    pub(super) fn known_episode(&self, id: &str) -> Option<KnownEpisode> {
        self.known.borrow().episodes.get(id).cloned()
    }

    /// Forgets an episode. Its records are not deleted.
    pub(super) fn lose(&self, id: &Text) -> Option<KnownEpisode> {
        self.search.remove(id);
        self.behaviour.borrow_mut().remove(id);
        self.previews.remove(id);
        self.file_of.borrow_mut().remove(id);
        self.known.borrow_mut().episodes.remove(id)
    }

    /// Whether any known episode is in a file.
    pub(super) fn is_wanted(&self, file: &Text) -> bool {
        let known = self.known.borrow();
        let mut locations = known
            .episodes
            .values()
            .flat_map(|known_episode| &known_episode.location);
        locations.any(|location| location.file == *file)
    }

    pub(super) fn store_of(&self, id: &str) -> &dyn EpisodeStore {
        if self.in_memory.has(id) {
            &self.in_memory
        } else {
            &*self.store
        }
    }

    /// Returns the rows of these episodes, those of the site first.
    pub(super) async fn rows_of(&self, ids: &[Text]) -> Vec<Row> {
        let (in_memory, own): (Vec<Text>, Vec<Text>) =
            ids.iter().cloned().partition(|id| self.in_memory.has(id));
        let in_memory = self.in_memory.rows_of(&in_memory).await.into_iter();
        let rows = in_memory.chain(self.store.rows_of(&own).await);
        rows.map(|(row, _)| row).collect()
    }

    /// Whether an episode belongs to the site and therefore cannot be deleted.
    pub(super) fn is_of_site(&self, id: &str) -> bool {
        self.in_memory.origin(id).as_deref() == Some(PUBLISHED)
    }
}

/// Reports that the store refused something.
pub(super) fn report_unstored(kept: Result<(), LibraryError>, send: Send<'_>) {
    if let Err(error) = kept {
        let reason = error.to_string().into();
        send(Output::Event(Event::NotKept { reason }));
    }
}
