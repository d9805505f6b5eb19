//! The worker's side of the library: reads files, keeps episodes, opens them, searches in them.
//!
//! - `listing`: what there is. `opening`: an episode from where it is kept. `finding`: words in all texts.
//! - `reading`: files to episodes; large ones `in_place`, `packed` logs among them, whose first episode can be seen while
//!   it is read (`begun`), others `together`; `naming`: ids for them; `cancelled`: the readings that
//!   a person ended.
//!
//! It knows no browser: what it says goes through the function that it is given. What it is asked is done
//! side by side: between two slices of a large file another episode is opened.

mod begun;
mod cancelled;
mod finding;
mod in_place;
mod listing;
mod naming;
mod opening;
mod packed;
mod reading;
mod together;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use volary_core::Clock;
use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_trace::Episode;

use super::origin::PUBLISHED;
use volary_trace::native;
use volary_trace::search::{Document, SearchIndex};
use volary_trace::table::Row;

use self::cancelled::Cancelled;
use super::protocol::{Answer, Number, Request};
use super::repository::{EpisodeStore, InFile, MemoryStore};
use super::source::Window;
use crate::parts::say_episode;
use crate::protocol::Event;
use crate::workers::in_flight::{Flight, InFlight};

/// So many rows are said at once.
const BATCH: usize = 200;

/// What the librarian says.
#[allow(
    clippy::large_enum_variant,
    reason = "each is said and gone; none is kept"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// An answer.
    Answer(Answer),
    /// A part of an episode.
    Part(Event),
    /// A file that was asked for, in parts.
    File {
        /// Its name.
        name: &'static str,
        /// What it holds.
        parts: Vec<String>,
    },
}

/// Where the librarian's words go.
pub type Say<'a> = &'a dyn Fn(Said);

/// The librarian.
pub struct Librarian {
    store: Box<dyn EpisodeStore>,
    /// What belongs to the site and is never kept.
    guests: MemoryStore,
    registry: Registry,
    clock: Rc<dyn Clock>,
    /// Seconds since 1970.
    today: fn() -> f64,
    known: RefCell<Known>,
    /// The files that episodes were opened from.
    windows: RefCell<BTreeMap<Text, Rc<Window>>>,
    index: RefCell<SearchIndex>,
    /// The ids of the episodes that the index knows.
    indexed: RefCell<BTreeSet<Text>>,
    /// The episode in which somebody looked for words last, and its texts.
    found: RefCell<Option<(Text, Rc<Document>)>>,
    /// The readings that shall end.
    cancelled: Cancelled,
    in_flight: InFlight,
    /// Beginnings of episodes that are being read.
    begun: RefCell<BTreeMap<Text, Episode>>,
    /// A long episode that was just read: it is opened once without being read again.
    at_hand: RefCell<Option<Episode>>,
    /// The ids that beginnings had, and those that their episodes have.
    grown: RefCell<BTreeMap<Text, Text>>,
    /// The search that counts: whoever types on wants no answer to what stood there before.
    last_search: Cell<Number>,
    is_settling: Cell<bool>,
    /// Whether the store was asked for all that there is.
    has_asked: Cell<bool>,
}

/// All episodes that there are.
#[derive(Default)]
struct Known {
    /// Whether those that were kept before are among them.
    is_whole: bool,
    episodes: HashMap<Text, Volume>,
}

/// What is known of an episode without looking.
#[derive(Clone)]
struct Volume {
    name: Text,
    /// Where it stands, if not as a text.
    place: Option<Rc<InFile>>,
}

impl Volume {
    fn of(row: &Row, place: Option<InFile>) -> Volume {
        Volume {
            name: row.name.clone(),
            place: place.map(Rc::new),
        }
    }
}

impl Librarian {
    /// A librarian of a store, who can run episodes of these environments again.
    pub fn new(
        store: impl EpisodeStore + 'static,
        registry: Registry,
        clock: Rc<dyn Clock>,
        today: fn() -> f64,
    ) -> Librarian {
        Librarian {
            store: Box::new(store),
            guests: MemoryStore::default(),
            registry,
            clock,
            today,
            known: RefCell::default(),
            windows: RefCell::default(),
            index: RefCell::default(),
            indexed: RefCell::default(),
            found: RefCell::default(),
            cancelled: Cancelled::default(),
            in_flight: InFlight::default(),
            begun: RefCell::default(),
            at_hand: RefCell::default(),
            grown: RefCell::default(),
            last_search: Cell::new(0),
            is_settling: Cell::new(false),
            has_asked: Cell::new(false),
        }
    }

    /// Carries out a request.
    pub async fn perform(&self, request: Request, say: Say<'_>) {
        let refused = |number, reason: String| {
            say(Said::Answer(Answer::Refused {
                number,
                reason: reason.into(),
            }));
        };
        match request {
            Request::List { number } => self.list(number, say).await,
            Request::Open { number, id } => match self.episode(&id).await {
                Ok(episode) => say_episode(number, episode, Vec::new(), &mut |event| {
                    say(Said::Part(event));
                }),
                Err(reason) => refused(number, reason),
            },
            Request::Check { number, id } => match self.check(&id).await {
                Ok((words, step)) => say(Said::Answer(Answer::Checked {
                    number,
                    words: words.into(),
                    step,
                })),
                Err(reason) => refused(number, reason),
            },
            Request::Search { number, words } => self.search(number, &words, say).await,
            Request::Find { number, id, words } => {
                let places = self.find(&id, &words).await;
                say(Said::Answer(Answer::Places { number, places }));
            }
            Request::Forget { number, ids } => {
                self.forget(&ids).await;
                say(Said::Answer(Answer::Forgotten { number }));
            }
            Request::Tag {
                number,
                ids,
                tag,
                on,
            } => self.tag(number, &ids, &tag, on, say).await,
            Request::Export { ids, .. } => self.export(&ids, say).await,
            Request::Cancel { reading } => self.cancelled.add(reading),
            Request::Settle { .. } => self.settle().await,
            // Whoever has the network brings the files to `read`.
            Request::Fetch { number, .. } => {
                refused(number, "There is no network here.".to_owned());
            }
        }
    }

    /// Files are on their way that will be read: who wants an episode that is not there waits for them.
    pub fn expect(&self) -> Flight<'_> {
        self.in_flight.begin()
    }

    /// Waits until somebody wants a reading to end.
    pub fn cancelled(&self, number: Number) -> impl Future<Output = ()> {
        self.cancelled.of(number)
    }

    fn remember(&self, row: &Row, place: Option<InFile>) {
        let volume = Volume::of(row, place);
        let mut known = self.known.borrow_mut();
        known.episodes.insert(row.id.clone(), volume);
    }

    fn volume(&self, id: &str) -> Option<Volume> {
        self.known.borrow().episodes.get(id).cloned()
    }

    /// Forgets what is known of an episode.
    fn lose(&self, id: &Text) -> Option<Volume> {
        *self.found.borrow_mut() = None;
        self.at_hand
            .borrow_mut()
            .take_if(|episode| episode.id == *id);
        self.index.borrow_mut().remove(id);
        self.indexed.borrow_mut().remove(id);
        self.known.borrow_mut().episodes.remove(id)
    }

    /// Whether an episode stands in a file.
    fn is_wanted(&self, file: &Text) -> bool {
        let known = self.known.borrow();
        let mut places = known.episodes.values().flat_map(|volume| &volume.place);
        places.any(|place| place.file == *file)
    }

    fn stock_of(&self, id: &str) -> &dyn EpisodeStore {
        match self.guests.has(id) {
            true => &self.guests,
            false => &*self.store,
        }
    }

    /// The rows of these episodes, those of the site first.
    async fn rows_of(&self, ids: &[Text]) -> Vec<Row> {
        let (guests, own): (Vec<Text>, Vec<Text>) =
            ids.iter().cloned().partition(|id| self.guests.has(id));
        let guests = self.guests.rows_of(&guests).await.into_iter();
        let rows = guests.chain(self.store.rows_of(&own).await);
        rows.map(|(row, _)| row).collect()
    }

    /// Whether an episode came with the site, and stays.
    fn is_of_site(&self, id: &str) -> bool {
        self.guests.origin(id).as_deref() == Some(PUBLISHED)
    }

    async fn forget(&self, ids: &[Text]) {
        self.kept(ids).await;
        let ids = ids.iter().filter(|id| !self.is_of_site(id));
        let ids: Vec<Text> = ids.cloned().collect();
        let mut files = BTreeSet::new();
        for id in &ids {
            if let Some(place) = self.lose(id).and_then(|volume| volume.place) {
                files.insert(place.file.clone());
            }
        }
        self.guests.forget(&ids).await;
        self.store.forget(&ids).await;
        for file in files {
            if !self.is_wanted(&file) {
                self.windows.borrow_mut().remove(&file);
                self.guests.forget_file(&file).await;
                self.store.forget_file(&file).await;
            } else if let Some(mut known) = self.store.file(&file).await {
                // Given again, it is read again, and brings back what was forgotten of it.
                known.whole = false;
                known.source = None;
                // It stays as it was, if that can't be kept.
                let _ = self.store.keep_file(known).await;
            }
        }
    }

    async fn tag(&self, number: Number, ids: &[Text], tag: &Text, on: bool, say: Say<'_>) {
        self.kept(ids).await;
        for ids in ids.chunks(BATCH) {
            let (mut rows, mut guests) = (Vec::new(), Vec::new());
            for mut row in self.rows_of(ids).await {
                row.tags.retain(|known| known != tag);
                if on {
                    row.tags.push(tag.clone());
                }
                match self.guests.has(&row.id) {
                    true => guests.push(row),
                    false => rows.push(row),
                }
            }
            let kept = self.store.label(rows.clone()).await;
            // Memory takes everything.
            let _ = self.guests.label(guests.clone()).await;
            rows.extend(guests);
            say(Said::Answer(Answer::Added { number, rows }));
            tell_unkept(kept, say);
        }
    }

    async fn export(&self, ids: &[Text], say: Say<'_>) {
        let mut parts = Vec::with_capacity(ids.len());
        for id in ids {
            // What can't be opened says so when it is opened; a file of the others is better than none.
            if let Ok(episode) = self.tagged(id).await {
                parts.push(native::to_text(&episode) + "\n");
            }
        }
        say(Said::File {
            name: "trajectories.jsonl",
            parts,
        });
    }
}

fn tell_unkept(kept: Result<(), String>, say: Say<'_>) {
    if let Err(reason) = kept {
        let reason = reason.into();
        say(Said::Answer(Answer::NotKept { reason }));
    }
}

#[cfg(test)]
mod ahead_tests;
#[cfg(test)]
mod begun_tests;
#[cfg(test)]
mod keeping_tests;
#[cfg(test)]
mod tests;
