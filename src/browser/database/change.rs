//! The stores, and the changes that can be made to them.

use super::{KeptText, RowBatch};

/// A store: one for each kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Store {
    /// What lists show of episodes, many rows to a record ([`RowBatch`]).
    Rows,
    /// The texts of episodes, in parts, by id and number of the part.
    Episodes,
    /// Heads and plans of evaluations, by their ids.
    Evaluations,
    /// The result of each cell of an evaluation, by its id and the number of the cell.
    Results,
    /// The steps so far of unfinished episodes, by the same keys.
    Drafts,
    /// What is known of the files that hold episodes, by their ids.
    Sources,
    /// Those files themselves, by the same keys.
    Files,
    /// Rows as earlier versions stored them, one to a record. Emptied when the database is opened.
    LegacyRows,
    /// Batches of records of evaluations, as earlier versions wrote them. Emptied when the database is opened.
    LegacyJournal,
}

impl Store {
    /// All of them.
    pub const ALL: [Store; 9] = [
        Store::Rows,
        Store::Episodes,
        Store::Evaluations,
        Store::Results,
        Store::Drafts,
        Store::Sources,
        Store::Files,
        Store::LegacyRows,
        Store::LegacyJournal,
    ];

    /// Its name in the database. Earlier versions chose the names.
    pub const fn name(self) -> &'static str {
        match self {
            Store::Rows => "sheets",
            Store::Episodes => "episodes",
            Store::Evaluations => "evaluations",
            Store::Results => "results",
            Store::Drafts => "drafts",
            Store::Sources => "sources",
            Store::Files => "files",
            Store::LegacyRows => "summaries",
            Store::LegacyJournal => "journal",
        }
    }
}

/// A change. The rows of [`Store::Rows`] have changes of their own.
#[derive(Clone, Debug)]
pub enum Change {
    /// Stores a text under a key, in place of the one there.
    Put(Store, String, KeptText),
    /// Deletes the record under a key.
    Delete(Store, String),
    /// Deletes the records under all keys with this prefix; all of the store for the empty prefix.
    DeletePrefix(Store, String),
    /// Stores new rows. If one of their ids is there already, no change of the list is made
    /// ([`DatabaseError::Taken`](super::DatabaseError::Taken)).
    AddRows(RowBatch),
    /// Stores rows, in place of those with the same ids.
    PutRows(RowBatch),
    /// Deletes the rows with these ids.
    DeleteRows(Vec<String>),
    /// Deletes a whole record of rows, by its number.
    DeleteRowBatch(u64),
}

impl Change {
    /// The store that it changes.
    pub fn store(&self) -> Store {
        match self {
            Change::Put(store, ..) | Change::Delete(store, _) | Change::DeletePrefix(store, _) => {
                *store
            }
            Change::AddRows(_)
            | Change::PutRows(_)
            | Change::DeleteRows(_)
            | Change::DeleteRowBatch(_) => Store::Rows,
        }
    }
}
