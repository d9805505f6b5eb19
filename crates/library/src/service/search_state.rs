//! The search index, and the state of the last search.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use volary_analysis::search::{Document, SearchIndex};
use volary_core::json::Text;
use volary_episode::Episode;
use volary_protocol::RequestId;

/// The search index, and the state of the last search.
#[derive(Default)]
pub(super) struct SearchState {
    pub(super) index: RefCell<SearchIndex>,
    /// The ids of episodes that are indexed, or that cannot be read.
    pub(super) indexed: RefCell<BTreeSet<Text>>,
    /// The episode that was searched last, and its texts, cached because people type letter by letter.
    pub(super) document: RefCell<Option<(Text, Rc<Document>)>>,
    /// The latest search, which supersedes earlier ones.
    pub(super) last: Cell<RequestId>,
    pub(super) is_settling: Cell<bool>,
}

impl SearchState {
    /// Indexes an episode.
    pub(super) fn insert(&self, episode: &Episode, id: &Text) {
        self.index.borrow_mut().insert(id.clone(), episode);
        self.skip(id);
    }

    /// Indexes the texts of an episode. `is_one_of_many` if there may be very many like it.
    pub(super) fn insert_document(&self, document: Document, id: &Text, is_one_of_many: bool) {
        let mut index = self.index.borrow_mut();
        index.insert_document(id.clone(), document, is_one_of_many);
        self.skip(id);
    }

    /// Marks an episode as indexed.
    pub(super) fn skip(&self, id: &Text) {
        self.indexed.borrow_mut().insert(id.clone());
    }

    pub(super) fn is_indexed(&self, id: &Text) -> bool {
        self.indexed.borrow().contains(id)
    }

    /// Marks a changed episode: it is indexed again before the next search.
    pub(super) fn changed(&self, id: &Text) {
        self.indexed.borrow_mut().remove(id);
    }

    /// The number of indexed episodes, and the number of those in the index.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.indexed.borrow().len(), self.index.borrow().len())
    }

    /// Removes an episode.
    pub(super) fn remove(&self, id: &Text) {
        *self.document.borrow_mut() = None;
        self.index.borrow_mut().remove(id);
        self.indexed.borrow_mut().remove(id);
    }
}
