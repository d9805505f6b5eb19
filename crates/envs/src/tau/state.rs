//! The data with the changes of an episode (copy-on-write).
//!
//! A state stores only the records that were written, so that a reset copies nothing, and comparing two
//! states inspects only those.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use volary_core::json::Key;
use volary_core::{Json, Object};

use super::database::{Database, Table};
use super::hash::{hexadecimal, write_hashable, write_pair, write_tuple};
use super::python::{Computed, Exception, as_key};

/// The data of an episode.
#[derive(Clone, Debug)]
pub struct State {
    database: Arc<Database>,
    /// The written records of each table of the database.
    written: Vec<Written>,
}

#[derive(Clone, Debug, Default)]
struct Written {
    /// Records that replace those at the same indices.
    changed: BTreeMap<usize, Json>,
    /// New records, in order.
    added: Object,
}

/// A record that differs between two states.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub table: &'static str,
    /// The key of the record.
    pub key: Key,
    /// The record here.
    pub here: Option<Json>,
    /// The record there.
    pub there: Option<Json>,
}

impl State {
    /// The unchanged data.
    pub fn new(database: Arc<Database>) -> Self {
        State {
            written: vec![Written::default(); database.tables().len()],
            database,
        }
    }

    fn table(&self, name: &str) -> Computed<(&Table, &Written)> {
        let mut tables = self.database.tables().iter().zip(&self.written);
        let found = tables.find(|(table, _)| table.name == name);
        found.ok_or_else(|| Exception::key(&name.into()))
    }

    /// The record under a key; `None` if it is missing.
    pub fn find(&self, table: &str, key: &Json) -> Computed<Option<&Json>> {
        let Some(key) = as_key(key)? else {
            return Ok(None);
        };
        let (table, written) = self.table(table)?;
        Ok(match table.index_of(key) {
            Some(index) => written
                .changed
                .get(&index)
                .or(Some(&table.records()[index].1)),
            None => written.added.get(key),
        })
    }

    /// The record under a key; an error if it is missing.
    pub fn record(&self, table: &str, key: &Json) -> Computed<&Json> {
        self.find(table, key)?.ok_or_else(|| Exception::key(key))
    }

    /// The record under a key, mutable; an error if it is missing.
    pub fn record_mut(&mut self, table: &str, key: &Json) -> Computed<&mut Json> {
        let missing = || Exception::key(key);
        let name = as_key(key)?.ok_or_else(missing)?;
        let mut tables = self.database.tables().iter().zip(&mut self.written);
        let (table, written) = tables
            .find(|(known, _)| known.name == table)
            .ok_or_else(|| Exception::key(&table.into()))?;
        match table.index_of(name) {
            Some(index) => {
                let read = || table.records()[index].1.clone();
                Ok(written.changed.entry(index).or_insert_with(read))
            }
            None => written.added.get_mut(name).ok_or_else(missing),
        }
    }

    /// Sets the record under a key.
    pub fn insert(&mut self, table: &str, key: &str, record: Json) -> Computed<()> {
        if let Ok(known) = self.record_mut(table, &key.into()) {
            *known = record;
            return Ok(());
        }
        let mut tables = self.database.tables().iter().zip(&mut self.written);
        let (_, written) = tables
            .find(|(known, _)| known.name == table)
            .ok_or_else(|| Exception::key(&table.into()))?;
        written.added.insert(key.to_owned(), record);
        Ok(())
    }

    /// The records of a table, in order.
    pub fn records(&self, table: &str) -> Computed<impl Iterator<Item = (&Key, &Json)>> {
        let (table, written) = self.table(table)?;
        let known = table.records().iter().enumerate();
        let known = known
            .map(|(index, (key, record))| (key, written.changed.get(&index).unwrap_or(record)));
        Ok(known.chain(written.added.iter()))
    }

    /// The written records, by table and key.
    pub fn written(&self) -> Object {
        let tables = self.database.tables().iter().zip(&self.written);
        tables
            .filter(|(_, written)| !(written.changed.is_empty() && written.added.is_empty()))
            .map(|(table, written)| {
                let changed = written.changed.iter();
                let changed = changed.map(|(index, record)| (&table.records()[*index].0, record));
                let all = changed.chain(written.added.iter());
                let records: Object = all.map(|(key, one)| (key.clone(), one.clone())).collect();
                (Key::Borrowed(table.name), records.into())
            })
            .collect()
    }

    /// The data hash of everything.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        let mut text = String::new();
        let tables: Vec<_> = self.database.tables().iter().zip(&self.written).collect();
        // The tables are one tuple, each a pair; its records, sorted by key, are another.
        write_tuple(&mut text, tables.len(), tables, |text, (table, written)| {
            write_pair(text, table.name, |text| {
                let records = sorted_records(table, written);
                write_tuple(text, records.len(), records, |text, (key, record)| {
                    write_pair(text, key, |text| write_hashable(text, record));
                    // Hash in portions, so that the whole text is never in memory.
                    if text.len() > 1 << 16 {
                        hasher.update(text.as_bytes());
                        text.clear();
                    }
                });
            });
        });
        hasher.update(text.as_bytes());
        hexadecimal(hasher.finalize().as_slice())
    }

    /// Whether the data hashes of two states of one database are equal. Inspects only written
    /// records.
    pub fn same_as(&self, other: &State) -> bool {
        self.differing(other).next().is_none()
    }

    /// The records in which two states of one database differ.
    pub fn differences(&self, other: &State) -> Vec<Difference> {
        self.differing(other).collect()
    }

    fn differing<'a>(&'a self, other: &'a State) -> impl Iterator<Item = Difference> + 'a {
        let tables = self.database.tables().iter();
        let pairs = tables.zip(self.written.iter().zip(&other.written));
        pairs.flat_map(|(table, (one, two))| {
            let keys = one.keys(table).chain(two.keys(table));
            let keys: BTreeSet<&Key> = keys.collect();
            keys.into_iter().filter_map(|key| {
                let (here, there) = (one.get(table, key), two.get(table, key));
                (text_of(here) != text_of(there)).then(|| Difference {
                    table: table.name,
                    key: key.clone(),
                    here: here.cloned(),
                    there: there.cloned(),
                })
            })
        })
    }
}

impl Written {
    /// The keys of the written records.
    fn keys<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = &'a Key> {
        let changed = self.changed.keys();
        let changed = changed.map(|index| &table.records()[*index].0);
        changed.chain(self.added.keys())
    }

    fn get<'a>(&'a self, table: &'a Table, key: &str) -> Option<&'a Json> {
        match table.index_of(key) {
            Some(index) => self.changed.get(&index).or(Some(&table.records()[index].1)),
            None => self.added.get(key),
        }
    }
}

fn text_of(record: Option<&Json>) -> Option<String> {
    record.map(|record| {
        let mut text = String::new();
        write_hashable(&mut text, record);
        text
    })
}

fn sorted_records<'a>(table: &'a Table, written: &'a Written) -> Vec<(&'a Key, &'a Json)> {
    let known = table.sorted().iter().map(|index| {
        let (key, record) = &table.records()[*index];
        (key, written.changed.get(index).unwrap_or(record))
    });
    let mut records: Vec<_> = known.chain(written.added.iter()).collect();
    if !written.added.is_empty() {
        records.sort_by_key(|(key, _)| *key);
    }
    records
}

#[cfg(test)]
mod tests {
    use volary_core::{json, object};

    use super::super::hash::data_hash;
    use super::*;

    fn state() -> State {
        State::new(Arc::new(Database::new(vec![
            Table::new("users", object!({"b": {"n": 1}, "a": {"n": 2}})),
            Table::new("orders", object!({"#1": {"by": "a"}})),
        ])))
    }

    #[test]
    fn only_written_records_differ() {
        let (one, mut two) = (state(), state());
        assert!(one.same_as(&two));
        *two.record_mut("users", &json!("a")).unwrap() = json!({"n": 3});
        two.insert("orders", "#0", json!({})).unwrap();
        assert_eq!(
            two.written(),
            object!({"orders": {"#0": {}}, "users": {"a": {"n": 3}}})
        );
        let keys = |differences: Vec<Difference>| -> Vec<String> {
            let names = differences.iter();
            names
                .map(|one| format!("{} {}", one.table, one.key))
                .collect()
        };
        assert_eq!(keys(one.differences(&two)), ["orders #0", "users a"]);
        // A record whose change was reverted is equal again.
        *two.record_mut("users", &json!("a")).unwrap() = json!({"n": 2});
        assert_eq!(keys(two.differences(&one)), ["orders #0"]);
    }

    #[test]
    fn the_hash_is_that_of_the_whole() {
        let mut state = state();
        let whole = json!({"users": {"b": {"n": 1}, "a": {"n": 2}}, "orders": {"#1": {"by": "a"}}});
        assert_eq!(state.hash(), data_hash(&whole));
        state.insert("orders", "#0", json!([])).unwrap();
        let whole = json!({
            "users": {"b": {"n": 1}, "a": {"n": 2}}, "orders": {"#0": [], "#1": {"by": "a"}}
        });
        assert_eq!(state.hash(), data_hash(&whole));
    }

    #[test]
    fn keys_of_other_types_are_not_there_and_lists_are_no_keys() {
        let state = state();
        assert_eq!(state.find("users", &json!(1)), Ok(None));
        let error = state.find("users", &json!(["a"])).map_err(|error| error.0);
        assert_eq!(error, Err("unhashable type: 'list'".into()));
        let error = state.record("users", &json!("c")).map_err(|error| error.0);
        assert_eq!(error, Err("'c'".into()));
    }
}
