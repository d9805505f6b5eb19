//! The data of a domain: tables of records, read once and shared by all episodes.

use volary_core::json::Key;
use volary_core::{Json, Object};

/// A table as it was read: records in the order of their file.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    records: Vec<(Key, Json)>,
    /// The places of the records in the order of their keys.
    sorted: Vec<usize>,
}

/// The tables of a domain, in the order of their names.
#[derive(Clone, Debug)]
pub struct Database {
    tables: Vec<Table>,
}

impl Table {
    /// A table of an object's members.
    pub fn new(name: &'static str, records: Object) -> Self {
        let records: Vec<(Key, Json)> = records.into_iter().collect();
        let mut sorted: Vec<usize> = (0..records.len()).collect();
        sorted.sort_unstable_by_key(|place| &*records[*place].0);
        Table {
            name,
            records,
            sorted,
        }
    }

    /// The records, in order.
    pub fn records(&self) -> &[(Key, Json)] {
        &self.records
    }

    /// The places of the records in the order of their keys.
    pub fn sorted(&self) -> &[usize] {
        &self.sorted
    }

    /// The place of a key.
    pub fn place(&self, key: &str) -> Option<usize> {
        let key_at = |place: &usize| &*self.records[*place].0;
        let found = self.sorted.binary_search_by(|place| key_at(place).cmp(key));
        found.ok().map(|at| self.sorted[at])
    }
}

impl Database {
    /// A database of tables, in any order.
    pub fn new(mut tables: Vec<Table>) -> Self {
        tables.sort_by_key(|table| table.name);
        Database { tables }
    }

    /// The tables, in the order of their names.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}
