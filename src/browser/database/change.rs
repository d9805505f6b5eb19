//! The stores, and what can be asked of them.

use super::{KeptText, Sheet};

/// A store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Store {
    /// What lists show of an episode, by its id.
    Summaries,
    /// The same, many to a record ([`Sheet`]).
    Sheets,
    /// The whole texts of episodes, in parts, by id and number of the part.
    Episodes,
    /// What evaluations were asked to do, by their ids.
    Evaluations,
    /// What came of each cell of an evaluation, by its id and the number of the cell.
    Results,
    /// The actions so far of episodes that are under way, by the same keys.
    Drafts,
    /// What is known of the files in which episodes stand, by their ids.
    Sources,
    /// Those files themselves, by the same keys.
    Files,
    /// Parcels of changes that are to be made, by the order in which they came.
    Journal,
}

impl Store {
    /// All of them, each with the version that it came with.
    pub const ALL: [(Store, u32); 9] = [
        (Store::Summaries, 1),
        (Store::Episodes, 1),
        (Store::Evaluations, 1),
        (Store::Results, 1),
        (Store::Drafts, 1),
        (Store::Sources, 2),
        (Store::Files, 2),
        (Store::Journal, 3),
        (Store::Sheets, 5),
    ];

    /// Its name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Store::Summaries => "summaries",
            Store::Sheets => "sheets",
            Store::Episodes => "episodes",
            Store::Evaluations => "evaluations",
            Store::Results => "results",
            Store::Drafts => "drafts",
            Store::Sources => "sources",
            Store::Files => "files",
            Store::Journal => "journal",
        }
    }
}

/// A change.
#[derive(Clone, Debug)]
pub enum Change {
    /// A text is kept under a key, in the place of what was there.
    Put(Store, String, KeptText),
    /// A text is kept under a key. If there is one, no change of the list is made ([`DatabaseError::Taken`]).
    Add(Store, String, KeptText),
    /// Texts are kept in [`Store::Summaries`], in one record, as if each was added there.
    AddSheet(Sheet),
    /// What stands under a key is forgotten.
    Forget(Store, String),
    /// The texts under these keys of [`Store::Summaries`] are forgotten, as far as they stand in sheets.
    TakeOut(Vec<String>),
    /// What stands under all keys that begin so is forgotten; all of the store for the empty text.
    ForgetAll(Store, String),
}

impl Change {
    /// The store that it concerns.
    pub fn store(&self) -> Store {
        match self {
            Change::Put(store, ..)
            | Change::Add(store, ..)
            | Change::Forget(store, _)
            | Change::ForgetAll(store, _) => *store,
            Change::AddSheet(_) | Change::TakeOut(_) => Store::Summaries,
        }
    }
}
