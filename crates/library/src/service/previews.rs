//! Episodes that can be opened before, or right after, they are stored.

use std::cell::RefCell;
use std::collections::BTreeMap;

use volary_core::json::Text;
use volary_episode::Episode;

/// Episodes that can be opened before, or right after, they are stored.
#[derive(Default)]
pub(super) struct Previews {
    /// The partial episodes, by provisional id.
    partial: RefCell<BTreeMap<Text, Episode>>,
    /// A long episode that was just read: it can be opened once without being read again.
    held: RefCell<Option<Episode>>,
    /// The ids of the complete episodes, by the provisional ids that they had.
    completed: RefCell<BTreeMap<Text, Text>>,
}

impl Previews {
    /// The part of an episode that was read so far.
    pub(super) fn partial(&self, id: &Text) -> Option<Episode> {
        self.partial.borrow().get(id).cloned()
    }

    /// Whether an episode is still being read.
    pub(super) fn has_partial(&self, id: &Text) -> bool {
        self.partial.borrow().contains_key(id)
    }

    /// The id of the episode that had a provisional id.
    pub(super) fn completed(&self, id: &Text) -> Option<Text> {
        self.completed.borrow().get(id).cloned()
    }

    /// Holds a long episode that was just read.
    pub(super) fn hold(&self, episode: Episode) {
        self.held.replace(Some(episode));
    }

    /// Takes the held episode, if it has this id.
    pub(super) fn take_held(&self, id: &Text) -> Option<Episode> {
        self.held.borrow_mut().take_if(|episode| episode.id == *id)
    }

    /// Forgets a deleted episode.
    pub(super) fn remove(&self, id: &Text) {
        self.take_held(id);
    }

    pub(super) fn begin(&self, id: Text, episode: Episode) {
        self.partial.borrow_mut().insert(id, episode);
    }

    pub(super) fn complete(&self, id: &Text, into: &Text) {
        self.partial.borrow_mut().remove(id);
        let mut completed = self.completed.borrow_mut();
        completed.insert(id.clone(), into.clone());
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.partial.borrow().len() + self.completed.borrow().len()
    }

    #[cfg(test)]
    pub(super) fn has_any_partial(&self) -> bool {
        !self.partial.borrow().is_empty()
    }

    #[cfg(test)]
    pub(super) fn holds_any(&self) -> bool {
        self.held.borrow().is_some()
    }
}
