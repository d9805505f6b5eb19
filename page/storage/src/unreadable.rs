//! Stored records that cannot be read, because another version wrote them or they are damaged.
//!
//! Invariant: reading never deletes such a record. Readers note it here; Settings lists the noted records, exports
//! them, and deletes them only when asked to.

use std::cell::RefCell;
use std::collections::BTreeMap;

use volary_core::json;

use super::{database, write};
use volary_browser::database::{Damage, DatabaseChange, DatabaseError, Store, raw_value};

/// The reason for each unreadable record.
type Noted = BTreeMap<RecordLocation, Damage>;

thread_local! {
    static NOTED: RefCell<Noted> = const { RefCell::new(BTreeMap::new()) };
}

/// The location of an unreadable record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordLocation {
    /// The record under a key.
    Record(Store, String),
    /// The row with an id, within a record of many rows.
    Row(String),
    /// A record of many rows, by its number.
    RowBatch(u64),
}

/// Notes an unreadable record.
pub(super) fn note(place: RecordLocation, why: &Damage) {
    NOTED.with_borrow_mut(|noted| noted.insert(place, why.clone()));
}

/// Converts the result of reading a record; a record that could not be read is noted.
pub(super) fn noted<Record>(
    store: Store,
    key: &str,
    read: Result<Record, Damage>,
) -> Option<Record> {
    read.inspect_err(|why| note(RecordLocation::Record(store, key.to_owned()), why))
        .ok()
}

/// Clears the notes of a store, before all of it is read again.
pub(super) fn clear(store: Store) {
    NOTED.with_borrow_mut(|noted| noted.retain(|place, _| place.store() != store));
}

/// Clears all notes.
pub(super) fn clear_all() {
    NOTED.with_borrow_mut(BTreeMap::clear);
}

/// Returns the records noted so far, each with the reason as the end of a sentence.
pub fn all() -> Vec<(RecordLocation, String)> {
    NOTED.with_borrow(|noted| {
        let noted = noted.iter();
        noted
            .map(|(place, why)| (place.clone(), why.to_string()))
            .collect()
    })
}

/// Exports the raw records as JSON Lines: store, key, reason, and the stored value.
pub async fn export() -> Result<String, DatabaseError> {
    let database = database().await?;
    let mut lines = String::new();
    for (place, why) in all() {
        let value = match &place {
            RecordLocation::Record(store, key) => {
                raw_value(&database, *store, &key.as_str().into()).await?
            }
            RecordLocation::RowBatch(number) => {
                let number = (*number as f64).into();
                raw_value(&database, Store::Rows, &number).await?
            }
            RecordLocation::Row(id) => {
                let rows = super::rows(std::slice::from_ref(id)).await?;
                rows.get(id).map(|row| row.to_text().into())
            }
        };
        let line = json!({
            "store": (place.store().name()),
            "key": (place.key()),
            "why": (why),
            "value": (value)
        });
        lines.push_str(&line.to_python_text());
        lines.push('\n');
    }
    Ok(lines)
}

/// Deletes the noted records. Those that are noted meanwhile stay, and stay noted.
pub async fn delete() -> Result<(), DatabaseError> {
    let noted = NOTED.with_borrow(Clone::clone);
    write(noted.keys().map(deleting).collect()).await?;
    forget(&noted);
    Ok(())
}

/// The change that deletes a record.
fn deleting(place: &RecordLocation) -> DatabaseChange {
    match place {
        RecordLocation::Record(store, key) => DatabaseChange::Delete(*store, key.clone()),
        RecordLocation::Row(id) => DatabaseChange::DeleteRows(vec![id.clone()]),
        RecordLocation::RowBatch(number) => DatabaseChange::DeleteRowBatch(*number),
    }
}

/// Forgets the notes of deleted records. A record that was damaged in another way meanwhile has a note of its own.
fn forget(deleted: &Noted) {
    NOTED.with_borrow_mut(|noted| noted.retain(|place, why| deleted.get(place) != Some(&*why)));
}

impl RecordLocation {
    pub fn store(&self) -> Store {
        match self {
            RecordLocation::Record(store, _) => *store,
            RecordLocation::Row(_) | RecordLocation::RowBatch(_) => Store::Rows,
        }
    }

    /// The key in that store, as text.
    pub fn key(&self) -> String {
        match self {
            RecordLocation::Record(_, key) | RecordLocation::Row(key) => key.clone(),
            RecordLocation::RowBatch(number) => number.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(store: Store, key: &str) -> RecordLocation {
        RecordLocation::Record(store, key.to_owned())
    }

    fn places() -> Vec<RecordLocation> {
        all().into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn a_record_that_cannot_be_read_is_noted_once_with_its_last_reason() {
        clear_all();
        assert_eq!(noted(Store::Drafts, "a", Ok(7)), Some(7));
        assert_eq!(all(), []);
        let failed = noted::<u8>(Store::Drafts, "a", Err(Damage::Keys));
        assert_eq!(failed, None);
        let _ = noted::<u8>(Store::Drafts, "a", Err(Damage::Format(9.0)));
        let why = "its format 9 is unknown to this version".to_owned();
        assert_eq!(all(), [(record(Store::Drafts, "a"), why)]);
        clear_all();
        assert_eq!(all(), []);
    }

    #[test]
    fn deleting_forgets_only_the_notes_of_deleted_records() {
        clear_all();
        note(record(Store::Drafts, "old"), &Damage::Texts);
        note(record(Store::Drafts, "rewritten"), &Damage::Texts);
        let deleted = NOTED.with_borrow(Clone::clone);
        // Meanwhile the page reads on, and another tab writes.
        note(record(Store::Results, "late"), &Damage::Keys);
        note(record(Store::Drafts, "rewritten"), &Damage::Format(9.0));
        forget(&deleted);
        assert_eq!(
            places(),
            [
                record(Store::Results, "late"),
                record(Store::Drafts, "rewritten")
            ]
        );
    }

    #[test]
    fn each_kind_of_record_is_deleted_from_its_store() {
        for (place, change) in [
            (
                record(Store::Drafts, "a"),
                DatabaseChange::Delete(Store::Drafts, "a".to_owned()),
            ),
            (
                RecordLocation::Row("a".to_owned()),
                DatabaseChange::DeleteRows(vec!["a".to_owned()]),
            ),
            (
                RecordLocation::RowBatch(7),
                DatabaseChange::DeleteRowBatch(7),
            ),
        ] {
            assert_eq!(deleting(&place), change);
            assert_eq!(deleting(&place).store(), place.store());
        }
    }

    #[test]
    fn reading_a_store_again_forgets_only_its_own_notes() {
        clear_all();
        note(record(Store::Results, "1"), &Damage::Texts);
        note(record(Store::Drafts, "1"), &Damage::Texts);
        note(RecordLocation::Row("1".to_owned()), &Damage::Texts);
        note(RecordLocation::RowBatch(1), &Damage::Keys);
        assert_eq!(
            all().len(),
            4,
            "the same key in other stores is another record"
        );
        // Rows are in one store, also if a note names one of a batch.
        clear(Store::Rows);
        let mut left = places();
        left.sort();
        let mut expected = vec![record(Store::Results, "1"), record(Store::Drafts, "1")];
        expected.sort();
        assert_eq!(left, expected);
        clear(Store::Results);
        assert_eq!(places(), [record(Store::Drafts, "1")]);
    }

    #[test]
    fn an_exported_record_is_found_under_its_store_and_key() {
        for (place, store, key) in [
            (record(Store::Episodes, "a b"), Store::Episodes, "a b"),
            (
                RecordLocation::Row("7 (2)".to_owned()),
                Store::Rows,
                "7 (2)",
            ),
            (RecordLocation::RowBatch(12), Store::Rows, "12"),
        ] {
            assert_eq!((place.store(), &*place.key()), (store, key));
        }
    }
}
