//! The stores of the database, and the changes that can be made to them.

use super::{KeptText, RowBatch};

/// A store: one for each kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Store {
    /// The rows that lists show of episodes, many to a record ([`RowBatch`]).
    Rows,
    /// The texts of episodes, in parts, by episode id and part number.
    Episodes,
    /// Heads and plans of evaluations, by id.
    Evaluations,
    /// The result of each cell of an evaluation, by evaluation id and cell number.
    Results,
    /// The steps so far of unfinished episodes, by the same keys.
    Drafts,
    /// Metadata of the files that hold episodes, by file id.
    Sources,
    /// The files that hold episodes, by the keys of [`Store::Sources`].
    Files,
    /// Questions to models, their answers, and what belongs to them.
    Answers,
    /// Rows as earlier versions stored them, one to a record. Migrated when the database is opened.
    LegacyRows,
    /// Batches of records of evaluations, as earlier versions wrote them. Migrated when the database is opened.
    LegacyJournal,
}

impl Store {
    /// All stores.
    pub const ALL: [Store; 10] = [
        Store::Rows,
        Store::Episodes,
        Store::Evaluations,
        Store::Results,
        Store::Drafts,
        Store::Sources,
        Store::Files,
        Store::Answers,
        Store::LegacyRows,
        Store::LegacyJournal,
    ];

    /// The name in the database, as earlier versions chose it.
    pub const fn name(self) -> &'static str {
        match self {
            Store::Rows => "sheets",
            Store::Episodes => "episodes",
            Store::Evaluations => "evaluations",
            Store::Results => "results",
            Store::Drafts => "drafts",
            Store::Sources => "sources",
            Store::Files => "files",
            Store::Answers => "answers",
            Store::LegacyRows => "summaries",
            Store::LegacyJournal => "journal",
        }
    }
}

/// A change of the database. The rows of [`Store::Rows`] have variants of their own.
///
/// Tests use strings for the texts: a JavaScript string exists only in a browser.
#[derive(Clone, Debug, PartialEq)]
pub enum DatabaseChange<Text = KeptText> {
    /// Stores a text under a key and replaces the previous one.
    Put(Store, String, Text),
    /// Deletes the record under a key.
    Delete(Store, String),
    /// Deletes all records whose keys have this prefix; the empty prefix clears the store.
    DeletePrefix(Store, String),
    /// Stores new rows. If one of the ids exists already, no change of the list is made
    /// ([`DatabaseError::Taken`](super::DatabaseError::Taken)).
    AddRows(RowBatch<Text>),
    /// Stores rows and replaces those with the same ids.
    PutRows(RowBatch<Text>),
    /// Deletes the rows with these ids.
    DeleteRows(Vec<String>),
    /// Deletes a whole record of rows, by its number.
    DeleteRowBatch(u64),
}

impl<Text> DatabaseChange<Text> {
    /// The store that is changed.
    pub fn store(&self) -> Store {
        match self {
            DatabaseChange::Put(store, ..)
            | DatabaseChange::Delete(store, _)
            | DatabaseChange::DeletePrefix(store, _) => *store,
            DatabaseChange::AddRows(_)
            | DatabaseChange::PutRows(_)
            | DatabaseChange::DeleteRows(_)
            | DatabaseChange::DeleteRowBatch(_) => Store::Rows,
        }
    }
}
