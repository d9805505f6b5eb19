//! The data of a domain: tables of records, read once and shared by all episodes.

use volary_core::json::Key;
use volary_core::{Json, Object};

/// A table as read: records in the order of their file.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: &'static str,
    records: Vec<(Key, Json)>,
    /// The indices of the records, sorted by key.
    sorted: Vec<usize>,
}

/// The tables of a domain, sorted by name.
#[derive(Clone, Debug)]
pub struct Database {
    tables: Vec<Table>,
}

impl Table {
    /// A table with an object's members as records.
    pub fn new(name: &'static str, records: Object) -> Self {
        let records: Vec<(Key, Json)> = records.into_iter().collect();
        let mut sorted: Vec<usize> = (0..records.len()).collect();
        sorted.sort_unstable_by_key(|index| &*records[*index].0);
        Table {
            name,
            records,
            sorted,
        }
    }

    /// The records, in file order.
    pub fn records(&self) -> &[(Key, Json)] {
        &self.records
    }

    /// The indices of the records, sorted by key.
    pub fn sorted(&self) -> &[usize] {
        &self.sorted
    }

    /// The index of a key.
    pub fn index_of(&self, key: &str) -> Option<usize> {
        let key_at = |index: &usize| &*self.records[*index].0;
        let found = self.sorted.binary_search_by(|index| key_at(index).cmp(key));
        found.ok().map(|at| self.sorted[at])
    }
}

impl Database {
    /// A database with tables in any order.
    pub fn new(mut tables: Vec<Table>) -> Self {
        tables.sort_by_key(|table| table.name);
        Database { tables }
    }

    /// The tables, sorted by name.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}
