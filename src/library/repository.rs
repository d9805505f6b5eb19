//! Where the library stores episodes: rows for lists, and apart from them either native texts or the files in
//! which the episodes stand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_core::json::Text;
use volary_trajectory::import::index::Place;
use volary_trajectory::table::Row;

use super::source::Source;
use crate::projection::notice::Notice;

/// What is kept of an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// Itself, as a native text.
    Text(String),
    /// Where it stands in a file.
    At(InFile),
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFile {
    /// The id of the file.
    pub file: Text,
    /// The place.
    pub place: Place,
}

/// A file in which episodes stand.
#[derive(Clone)]
pub struct KnownFile {
    /// Its id.
    pub id: Text,
    /// Its path.
    pub name: Text,
    /// How many bytes it has.
    pub size: u64,
    /// Whether it was read to its end.
    pub whole: bool,
    /// What tells it from files that begin alike, once its end was seen.
    pub end: Option<Text>,
    /// Its bytes; `None` where it must be given again.
    pub source: Option<Rc<dyn Source>>,
}

/// An episode that is to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What lists show of it.
    pub row: Row,
    /// The episode.
    pub held: Held,
    /// Whether there is none of its id, as far as is known; otherwise it goes into the place of that one.
    pub is_new: bool,
}

/// Why episodes were not kept as they were to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Unkept {
    /// Nothing was kept: there are others of some of the ids that should have been new. The episodes come back.
    Taken(Vec<Item>),
    /// They will not be there at the next visit, and why; until then they are kept all the same.
    InMemory(String),
}

/// What is to be done, and why it will not be there at the next visit; until then it is done all the same.
pub type Keeping<'a> = LocalBoxFuture<'a, Result<(), String>>;

/// A row, and where the episode stands if it has no text.
pub type Listed = (Row, Option<InFile>);

/// Keeps episodes.
pub trait EpisodeStore {
    /// Stores episodes, all or none. Concurrent calls never overwrite each other's episodes.
    fn keep(&self, episodes: Vec<Item>) -> LocalBoxFuture<'_, Result<(), Unkept>>;

    /// Keeps other rows for episodes that are there.
    fn label(&self, rows: Vec<Row>) -> Keeping<'_>;

    /// The rows of these episodes as far as there are any, in their order, and where those stand that have no texts.
    fn rows_of<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, Vec<Listed>>;

    /// The row of an episode, and where it stands if it has no text; `None` if there is none.
    fn row<'a>(&'a self, id: &'a Text) -> LocalBoxFuture<'a, Option<Listed>> {
        let found = self.rows_of(std::slice::from_ref(id));
        found.map(|mut rows| rows.pop()).boxed_local()
    }

    /// The native text of an episode; `None` if there is none.
    fn text<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Option<String>>;

    /// All rows, and where the episodes stand that have no texts; or why what was kept can't be read.
    fn rows(&self) -> LocalBoxFuture<'_, Result<Vec<Listed>, String>>;

    /// What a person must know of what [`EpisodeStore::rows`] found, if anything.
    fn notice(&self) -> Option<Notice> {
        None
    }

    /// Forgets episodes.
    fn forget<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, ()>;

    /// Keeps a file, in the place of one of the same id. `Err` if only what is known of it is kept.
    /// Nothing more of it is copied once nobody waits for that.
    fn keep_file(&self, file: KnownFile) -> Keeping<'_>;

    /// A file; `None` if there is none.
    fn file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Option<KnownFile>>;

    /// Forgets a file.
    fn forget_file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, ()>;
}

/// Keeps episodes as long as it, or a clone, lives: clones keep the same ones.
#[derive(Clone, Default)]
pub struct MemoryStore {
    episodes: Rc<RefCell<BTreeMap<Text, (Row, Held)>>>,
    files: Rc<RefCell<BTreeMap<Text, KnownFile>>>,
}

impl MemoryStore {
    /// Whether it has any.
    pub fn has_any(&self) -> bool {
        !self.episodes.borrow().is_empty()
    }

    /// The origin of an episode, if it has it.
    pub fn origin(&self, id: &str) -> Option<Text> {
        let episodes = self.episodes.borrow();
        episodes.get(id)?.0.origin.clone()
    }

    /// Whether it has an episode.
    pub fn has(&self, id: &str) -> bool {
        self.episodes.borrow().contains_key(id)
    }
}

fn listed((row, held): &(Row, Held)) -> Listed {
    match held {
        Held::Text(_) => (row.clone(), None),
        Held::At(place) => (row.clone(), Some(place.clone())),
    }
}

fn now<T: 'static>(value: T) -> LocalBoxFuture<'static, T> {
    std::future::ready(value).boxed_local()
}

impl EpisodeStore for MemoryStore {
    fn keep(&self, episodes: Vec<Item>) -> LocalBoxFuture<'_, Result<(), Unkept>> {
        let mut known = self.episodes.borrow_mut();
        let is_taken = |item: &Item| item.is_new && known.contains_key(&item.row.id);
        if episodes.iter().any(is_taken) {
            return now(Err(Unkept::Taken(episodes)));
        }
        for Item { row, held, .. } in episodes {
            known.insert(row.id.clone(), (row, held));
        }
        now(Ok(()))
    }

    fn label(&self, rows: Vec<Row>) -> Keeping<'_> {
        let mut known = self.episodes.borrow_mut();
        for row in rows {
            if let Some(known) = known.get_mut(&row.id) {
                known.0 = row;
            }
        }
        now(Ok(()))
    }

    fn rows_of<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, Vec<Listed>> {
        let known = self.episodes.borrow();
        let found = ids.iter().filter_map(|id| known.get(id));
        now(found.map(listed).collect())
    }

    fn text<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Option<String>> {
        now(match self.episodes.borrow().get(id) {
            Some((_, Held::Text(text))) => Some(text.clone()),
            _ => None,
        })
    }

    fn rows(&self) -> LocalBoxFuture<'_, Result<Vec<Listed>, String>> {
        now(Ok(self.episodes.borrow().values().map(listed).collect()))
    }

    fn forget<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, ()> {
        let mut known = self.episodes.borrow_mut();
        for id in ids {
            known.remove(id);
        }
        now(())
    }

    fn keep_file(&self, file: KnownFile) -> Keeping<'_> {
        self.files.borrow_mut().insert(file.id.clone(), file);
        now(Ok(()))
    }

    fn file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Option<KnownFile>> {
        now(self.files.borrow().get(id).cloned())
    }

    fn forget_file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, ()> {
        self.files.borrow_mut().remove(id);
        now(())
    }
}
