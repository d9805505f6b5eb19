//! The interface of stores of episodes. A store holds rows for lists, and separately either native texts or the files
//! that contain the episodes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::table::Row;
use volary_app::notice::Notice;
use volary_core::json::Text;
use volary_formats::import::fields::FieldMapping;
use volary_formats::import::index::EpisodeRange;

use super::error::LibraryError;
use super::source::Source;

/// The stored form of an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// A native text.
    Text(String),
    /// An episode in a file.
    InFile(InFile),
}

/// An episode in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFile {
    /// The id of the file.
    pub file: Text,
    pub range: EpisodeRange,
}

/// A file that contains episodes.
#[derive(Clone)]
pub struct KnownFile {
    pub id: Text,
    /// Its path.
    pub name: Text,
    /// The size in bytes.
    pub size: u64,
    /// Whether it was read to its end.
    pub whole: bool,
    /// Distinguishes files with the same beginning; `None` until the end was read.
    pub end: Option<Text>,
    /// The mapping by which it was read, if no reader knows it.
    pub fields: Option<FieldMapping>,
    /// Its bytes; `None` where it must be given again.
    pub source: Option<Rc<dyn Source>>,
}

/// The text of an episode that can be read again, so that it need not be in memory.
pub trait Reread {
    /// Whether this is the text.
    fn is_text(&self, text: &str) -> bool;

    /// Reads it again.
    fn text(&self) -> LocalBoxFuture<'_, Result<String, LibraryError>>;
}

/// An episode to be stored.
#[derive(Clone)]
pub struct Item {
    /// The row for lists.
    pub row: Row,
    /// The episode.
    pub held: Held,
    /// Reads its text again, if that is possible.
    pub again: Option<Rc<dyn Reread>>,
    /// Whether no episode has this id, as far as is known; otherwise this one replaces it.
    pub is_new: bool,
}

/// The reason why episodes were not stored as requested.
pub enum Unkept {
    /// Nothing was stored: some ids that should have been new are taken. Returns the episodes.
    Taken(Vec<Item>),
    /// The episodes are only in memory and will be lost after this visit; with the reason.
    InMemory(LibraryError),
}

/// A change of the store. An error means that the change is only in memory and will be lost after this visit.
pub type Stored<'a> = LocalBoxFuture<'a, Result<(), LibraryError>>;

/// A row, and where its episode is if that has no text.
pub type ListedRow = (Row, Option<InFile>);

pub trait EpisodeStore {
    /// Stores episodes, all or none. Concurrent calls never overwrite each other's episodes.
    fn keep(&self, episodes: Vec<Item>) -> LocalBoxFuture<'_, Result<(), Unkept>>;

    /// Replaces the rows of existing episodes.
    fn label(&self, rows: Vec<Row>) -> Stored<'_>;

    /// Returns the existing ones among these rows, in this order, with the locations of episodes without texts.
    fn rows_of<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, Vec<ListedRow>>;

    /// Returns the row of an episode, with its location if it has no text; `None` if the episode does not exist.
    fn row<'a>(&'a self, id: &'a Text) -> LocalBoxFuture<'a, Option<ListedRow>> {
        let found = self.rows_of(std::slice::from_ref(id));
        found.map(|mut rows| rows.pop()).boxed_local()
    }

    /// Returns the native text of an episode; `None` if there is none.
    fn text<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, LibraryError>>;

    /// Whether an episode has another text than this one, as far as is known.
    fn has_other_text<'a>(&'a self, id: &'a str, text: &'a str) -> LocalBoxFuture<'a, bool> {
        let known = self.text(id);
        let differs = known.map(move |known| matches!(known, Ok(Some(known)) if known != text));
        differs.boxed_local()
    }

    /// Returns all rows, with the locations of episodes without texts; an error says why they cannot be read.
    fn rows(&self) -> LocalBoxFuture<'_, Result<Vec<ListedRow>, LibraryError>>;

    /// A notice to the user about the result of [`EpisodeStore::rows`], if there is one.
    fn notice(&self) -> Option<Notice> {
        None
    }

    /// Deletes episodes.
    fn forget<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, ()>;

    /// Stores a file and replaces one with the same id. An error means that only its metadata is stored.
    /// Dropping the future stops the copy.
    fn keep_file(&self, file: KnownFile) -> Stored<'_>;

    /// Returns a file; `None` if it does not exist.
    fn file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Option<KnownFile>>;

    /// Deletes a file.
    fn forget_file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, ()>;
}

/// How many bytes of texts that can be read again are kept in memory.
const MOST_KEPT: usize = 16 << 20;

/// A store in memory. Clones share their contents.
#[derive(Clone, Default)]
pub struct MemoryStore {
    /// Boxed: a tree has room for up to twice as many entries, and rows are large.
    episodes: Rc<RefCell<BTreeMap<Text, Box<KeptEpisode>>>>,
    files: Rc<RefCell<BTreeMap<Text, KnownFile>>>,
    /// The bytes of all texts.
    bytes: Rc<Cell<usize>>,
}

/// An episode in memory.
struct KeptEpisode {
    row: Row,
    kept: Kept,
}

impl KeptEpisode {
    fn listed(&self) -> ListedRow {
        let location = match &self.kept {
            Kept::Text(_) | Kept::Again(_) => None,
            Kept::At(location) => Some(location.clone()),
        };
        (self.row.clone(), location)
    }
}

/// The form in which an episode is in memory.
#[derive(Clone)]
enum Kept {
    Text(String),
    /// The text is read again.
    Again(Rc<dyn Reread>),
    At(InFile),
}

impl MemoryStore {
    /// Whether there are any episodes.
    pub fn has_any(&self) -> bool {
        !self.episodes.borrow().is_empty()
    }

    /// Returns the origin of an episode, if the store has the episode.
    pub fn origin(&self, id: &str) -> Option<Text> {
        let episodes = self.episodes.borrow();
        episodes.get(id)?.row.origin.clone()
    }

    /// The numbers of episodes and of files.
    pub fn sizes(&self) -> (usize, usize) {
        (self.episodes.borrow().len(), self.files.borrow().len())
    }

    /// Stores an episode, and removes the one that it replaces.
    fn insert(&self, item: Item) {
        let id = item.row.id.clone();
        self.remove(&id);
        let kept = match (item.held, item.again) {
            (Held::Text(text), Some(again)) if self.bytes.get() + text.len() > MOST_KEPT => {
                Kept::Again(again)
            }
            (Held::Text(text), _) => {
                self.bytes.set(self.bytes.get() + text.len());
                Kept::Text(text)
            }
            (Held::InFile(location), _) => Kept::At(location),
        };
        let row = item.row;
        let mut episodes = self.episodes.borrow_mut();
        episodes.insert(id, Box::new(KeptEpisode { row, kept }));
    }

    fn remove(&self, id: &str) {
        let removed = self.episodes.borrow_mut().remove(id);
        if let Some(Kept::Text(text)) = removed.map(|known| known.kept) {
            self.bytes.set(self.bytes.get() - text.len());
        }
    }

    /// Whether the store has an episode.
    pub fn has(&self, id: &str) -> bool {
        self.episodes.borrow().contains_key(id)
    }
}

fn now<T: 'static>(value: T) -> LocalBoxFuture<'static, T> {
    std::future::ready(value).boxed_local()
}

impl EpisodeStore for MemoryStore {
    fn keep(&self, episodes: Vec<Item>) -> LocalBoxFuture<'_, Result<(), Unkept>> {
        let is_taken = |item: &Item| item.is_new && self.has(&item.row.id);
        if episodes.iter().any(is_taken) {
            return now(Err(Unkept::Taken(episodes)));
        }
        episodes.into_iter().for_each(|item| self.insert(item));
        now(Ok(()))
    }

    fn label(&self, rows: Vec<Row>) -> Stored<'_> {
        let mut known = self.episodes.borrow_mut();
        for row in rows {
            if let Some(known) = known.get_mut(&row.id) {
                known.row = row;
            }
        }
        now(Ok(()))
    }

    fn rows_of<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, Vec<ListedRow>> {
        let known = self.episodes.borrow();
        let found = ids.iter().filter_map(|id| known.get(id));
        now(found.map(|known| known.listed()).collect())
    }

    fn text<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, LibraryError>> {
        let episodes = self.episodes.borrow();
        match episodes.get(id).map(|known| known.kept.clone()) {
            Some(Kept::Text(text)) => now(Ok(Some(text))),
            Some(Kept::Again(again)) => async move { again.text().await.map(Some) }.boxed_local(),
            Some(Kept::At(_)) | None => now(Ok(None)),
        }
    }

    fn has_other_text<'a>(&'a self, id: &'a str, text: &'a str) -> LocalBoxFuture<'a, bool> {
        let episodes = self.episodes.borrow();
        now(match episodes.get(id).map(|known| &known.kept) {
            Some(Kept::Text(known)) => known != text,
            Some(Kept::Again(again)) => !again.is_text(text),
            Some(Kept::At(_)) | None => false,
        })
    }

    fn rows(&self) -> LocalBoxFuture<'_, Result<Vec<ListedRow>, LibraryError>> {
        let episodes = self.episodes.borrow();
        now(Ok(episodes.values().map(|known| known.listed()).collect()))
    }

    fn forget<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, ()> {
        ids.iter().for_each(|id| self.remove(id));
        now(())
    }

    fn keep_file(&self, file: KnownFile) -> Stored<'_> {
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
