//! The changes that the browser did not store. They are made in memory, over what the database holds.
//!
//! Invariant: reading through them returns what the database would hold if it had accepted every change.

use std::collections::{BTreeMap, BTreeSet};

use volary_browser::database::{DatabaseChange, KeptText, RowBatch, Store};

#[derive(Clone)]
pub(super) struct Unstored<Text = KeptText> {
    /// `None` for a deleted record.
    records: BTreeMap<(Store, String), Option<Text>>,
    /// The prefixes under which everything in the database is deleted. What was stored there later is in `records`.
    deleted: BTreeSet<(Store, String)>,
}

impl<Text: Clone> Unstored<Text> {
    pub(super) const fn new() -> Self {
        Unstored {
            records: BTreeMap::new(),
            deleted: BTreeSet::new(),
        }
    }

    /// Whether the browser stored everything.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.deleted.is_empty()
    }

    /// Makes a change that the browser did not store.
    pub(super) fn apply(&mut self, change: &DatabaseChange<Text>) {
        match change {
            DatabaseChange::Put(store, key, text) => self.put(*store, key, Some(text)),
            DatabaseChange::Delete(store, key) => self.put(*store, key, None),
            DatabaseChange::DeletePrefix(store, prefix) => {
                self.forget_prefix(*store, prefix);
                self.deleted.insert((*store, prefix.clone()));
            }
            DatabaseChange::AddRows(rows) | DatabaseChange::PutRows(rows) => {
                for (id, row) in rows.rows() {
                    self.put(Store::Rows, id, Some(row));
                }
            }
            DatabaseChange::DeleteRows(ids) => {
                for id in ids {
                    self.put(Store::Rows, id, None);
                }
            }
            // The batch is unreadable, so none of its rows is displayed.
            DatabaseChange::DeleteRowBatch(_) => {}
        }
    }

    /// Notes a change that the browser stored.
    pub(super) fn settle(&mut self, change: &DatabaseChange<Text>) {
        match change {
            DatabaseChange::Put(store, key, text) => self.settle_record(*store, key, Some(text)),
            DatabaseChange::Delete(store, key) => self.settle_record(*store, key, None),
            DatabaseChange::DeletePrefix(store, prefix) => self.forget_prefix(*store, prefix),
            DatabaseChange::AddRows(rows) | DatabaseChange::PutRows(rows) => {
                for (id, row) in rows.rows() {
                    self.settle_record(Store::Rows, id, Some(row));
                }
            }
            DatabaseChange::DeleteRows(ids) => {
                for id in ids {
                    self.settle_record(Store::Rows, id, None);
                }
            }
            DatabaseChange::DeleteRowBatch(_) => {}
        }
    }

    /// The changes that store all of it.
    pub(super) fn changes(&self) -> Vec<DatabaseChange<Text>> {
        let deleted = self.deleted.iter();
        let mut changes: Vec<_> = deleted
            .map(|(store, prefix)| DatabaseChange::DeletePrefix(*store, prefix.clone()))
            .collect();
        let mut rows = Vec::new();
        for ((store, key), text) in &self.records {
            let (store, key) = (*store, key.clone());
            match (store, text.clone()) {
                (Store::Rows, Some(text)) => rows.push((key, text)),
                (Store::Rows, None) => changes.push(DatabaseChange::DeleteRows(vec![key])),
                (_, Some(text)) => changes.push(DatabaseChange::Put(store, key, text)),
                (_, None) => changes.push(DatabaseChange::Delete(store, key)),
            }
        }
        changes.push(DatabaseChange::PutRows(RowBatch::new(rows)));
        changes
    }

    /// The changes that store what is left after the browser has made others.
    pub(super) fn changes_after<'a>(
        &self,
        others: impl Iterator<Item = &'a DatabaseChange<Text>>,
    ) -> Vec<DatabaseChange<Text>>
    where
        Text: 'a,
    {
        let mut rest = self.clone();
        others.for_each(|change| rest.settle(change));
        rest.changes()
    }

    /// The record under a key, `Some(None)` if it is deleted; `None` if the database knows.
    pub(super) fn get(&self, store: Store, key: &str) -> Option<Option<Text>> {
        if self.is_empty() {
            return None;
        }
        let record = self.records.get(&(store, key.to_owned()));
        let deleted = || self.is_under_deleted(store, key).then_some(None);
        record.cloned().or_else(deleted)
    }

    /// Whether a record is deleted here.
    pub(super) fn is_deleted(&self, store: Store, key: &str) -> bool {
        matches!(self.get(store, key), Some(None))
    }

    /// The records under keys with a prefix, in order.
    pub(super) fn records(&self, store: Store, prefix: &str) -> Vec<(String, Text)> {
        let after = self.records.range((store, prefix.to_owned())..);
        after
            .take_while(|((of, key), _)| *of == store && key.starts_with(prefix))
            .filter_map(|((_, key), text)| Some((key.clone(), text.clone()?)))
            .collect()
    }

    /// The records with a prefix, of which the database holds `kept`, in order.
    pub(super) fn over_records(
        &self,
        store: Store,
        prefix: &str,
        kept: Vec<(String, Text)>,
    ) -> Vec<(String, Text)> {
        let mut found: BTreeMap<String, Text> = kept.into_iter().collect();
        found.retain(|key, _| !self.is_deleted(store, key));
        found.extend(self.records(store, prefix));
        found.into_iter().collect()
    }

    /// The keys in an inclusive range, of which the database holds `kept`.
    pub(super) fn over_keys(
        &self,
        store: Store,
        first: &str,
        last: &str,
        kept: Vec<String>,
    ) -> BTreeSet<String> {
        let mut keys: BTreeSet<String> = kept.into_iter().collect();
        keys.retain(|key| !self.is_deleted(store, key));
        // IndexedDB compares UTF-16 units.
        let is_within = |key: &str| {
            first.encode_utf16().le(key.encode_utf16())
                && key.encode_utf16().le(last.encode_utf16())
        };
        let own = self.records(store, "").into_iter();
        keys.extend(own.map(|(key, _)| key).filter(|key| is_within(key)));
        keys
    }

    /// The rows with these ids, of which the database holds `found`.
    pub(super) fn over_rows(
        &self,
        ids: &[String],
        mut found: BTreeMap<String, Text>,
    ) -> BTreeMap<String, Text> {
        for id in ids {
            match self.get(Store::Rows, id) {
                Some(Some(row)) => drop(found.insert(id.clone(), row)),
                Some(None) => drop(found.remove(id)),
                None => {}
            }
        }
        found
    }

    fn put(&mut self, store: Store, key: &str, text: Option<&Text>) {
        self.records.insert((store, key.to_owned()), text.cloned());
    }

    fn settle_record(&mut self, store: Store, key: &str, text: Option<&Text>) {
        match text {
            // Until its prefix is deleted in the database too, the record has to be here to be seen.
            Some(_) if self.is_under_deleted(store, key) => self.put(store, key, text),
            _ => drop(self.records.remove(&(store, key.to_owned()))),
        }
    }

    /// Forgets what is under a prefix.
    fn forget_prefix(&mut self, store: Store, prefix: &str) {
        let is_other = |of: Store, key: &str| of != store || !key.starts_with(prefix);
        self.records.retain(|(of, key), _| is_other(*of, key));
        self.deleted.retain(|(of, key)| is_other(*of, key));
    }

    fn is_under_deleted(&self, store: Store, key: &str) -> bool {
        let mut deleted = self.deleted.iter();
        deleted.any(|(of, prefix)| *of == store && key.starts_with(prefix.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Change = DatabaseChange<String>;

    const KEYS: [&str; 6] = ["a", "a/0", "a/1", "b", "b/0", "\u{1f600}"];
    const PREFIXES: [&str; 4] = ["", "a", "a/", "b/"];
    const STORES: [Store; 3] = [Store::Episodes, Store::Drafts, Store::Rows];

    fn put(store: Store, key: &str, text: &str) -> Change {
        DatabaseChange::Put(store, key.to_owned(), text.to_owned())
    }

    fn delete(store: Store, key: &str) -> Change {
        DatabaseChange::Delete(store, key.to_owned())
    }

    fn delete_prefix(store: Store, prefix: &str) -> Change {
        DatabaseChange::DeletePrefix(store, prefix.to_owned())
    }

    fn put_rows(rows: &[(&str, &str)]) -> Change {
        let rows = rows.iter();
        let rows = rows.map(|(id, row)| ((*id).to_owned(), (*row).to_owned()));
        DatabaseChange::PutRows(RowBatch::new(rows.collect()))
    }

    fn unstored(changes: &[Change]) -> Unstored<String> {
        let mut unstored = Unstored::new();
        changes.iter().for_each(|change| unstored.apply(change));
        unstored
    }

    fn pairs(records: &[(&str, &str)]) -> Vec<(String, String)> {
        let records = records.iter();
        records
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect()
    }

    fn found(records: &[(String, String)]) -> Vec<(&str, &str)> {
        let records = records.iter();
        records.map(|(key, text)| (&**key, &**text)).collect()
    }

    #[test]
    fn a_checkout_that_was_not_stored_is_not_mixed_with_the_former_one() {
        // As `checkout::keep` replaces one: delete all files, then put the new ones.
        let changes = [
            delete_prefix(Store::Files, "tau-bench/"),
            put(Store::Files, "tau-bench/files/one", "new"),
        ];
        let kept = [
            ("tau-bench/files/one", "old"),
            ("tau-bench/files/two", "old"),
        ];
        let records = unstored(&changes).over_records(Store::Files, "tau-bench/", pairs(&kept));
        assert_eq!(found(&records), [("tau-bench/files/one", "new")]);
        let unstored = unstored(&changes);
        assert_eq!(
            unstored.get(Store::Files, "tau-bench/files/two"),
            Some(None)
        );
        assert_eq!(unstored.get(Store::Files, "tokenizer"), None);
        assert_eq!(unstored.get(Store::Sources, "tau-bench/"), None);
    }

    #[test]
    fn what_is_stored_under_a_prefix_that_is_deleted_here_is_seen() {
        let mut unstored = unstored(&[delete_prefix(Store::Drafts, "steps/")]);
        unstored.settle(&put(Store::Drafts, "steps/1", "new"));
        let kept = pairs(&[("steps/0", "old"), ("steps/1", "new")]);
        let records = unstored.over_records(Store::Drafts, "steps/", kept);
        assert_eq!(found(&records), [("steps/1", "new")]);
        // Deleting the prefix in the database later must not delete it.
        assert_eq!(
            unstored.changes(),
            [
                delete_prefix(Store::Drafts, "steps/"),
                put(Store::Drafts, "steps/1", "new"),
                put_rows(&[]),
            ]
        );
    }

    #[test]
    fn keys_in_a_range_are_those_that_reading_returns() {
        let unstored = unstored(&[
            put(Store::Episodes, "b/000000", "in memory"),
            put(Store::Episodes, "z/000000", "after the range"),
            put(Store::Drafts, "b/000001", "in another store"),
            delete(Store::Episodes, "a/000000"),
        ]);
        let kept = vec!["a/000000".to_owned(), "c/000000".to_owned()];
        let keys = unstored.over_keys(Store::Episodes, "a/", "c/\u{ffff}", kept);
        assert_eq!(
            keys.into_iter().collect::<Vec<_>>(),
            ["b/000000", "c/000000"]
        );
    }

    #[test]
    fn ranges_of_keys_are_in_the_order_of_browsers() {
        // In UTF-8, the emoji is after U+FF01; in UTF-16, it is before.
        let unstored = unstored(&[put(Store::Episodes, "\u{1f600}", "")]);
        let keys = |first, last| unstored.over_keys(Store::Episodes, first, last, Vec::new());
        assert_eq!(keys("a", "\u{ff01}").len(), 1);
        assert_eq!(keys("\u{ff01}", "\u{ff02}").len(), 0);
    }

    #[test]
    fn rows_are_replaced_and_deleted_by_id() {
        let unstored = unstored(&[
            put_rows(&[("a", "new"), ("b", "new")]),
            DatabaseChange::DeleteRows(vec!["c".to_owned()]),
            // None of its rows is shown anyway.
            DatabaseChange::DeleteRowBatch(1),
        ]);
        let found: BTreeMap<String, String> = pairs(&[("a", "old"), ("c", "old"), ("d", "old")])
            .into_iter()
            .collect();
        let ids = ["a", "c", "d", "e"].map(str::to_owned);
        let rows = unstored.over_rows(&ids, found);
        // Only the wanted ones: `b` was not asked for.
        assert_eq!(
            rows.into_iter().collect::<Vec<_>>(),
            pairs(&[("a", "new"), ("d", "old")])
        );
        assert!(unstored.is_deleted(Store::Rows, "c"));
        assert!(!unstored.is_deleted(Store::Rows, "a"));
        assert!(!unstored.is_deleted(Store::Rows, "d"));
    }

    #[test]
    fn nothing_is_left_once_the_browser_stored_it() {
        let mut unstored = unstored(&[
            delete_prefix(Store::Drafts, "a/"),
            put(Store::Drafts, "a/1", "1"),
            delete(Store::Results, "a/1"),
            put_rows(&[("a", "row")]),
            DatabaseChange::DeleteRows(vec!["b".to_owned()]),
        ]);
        assert!(!unstored.is_empty());
        for change in unstored.changes() {
            unstored.settle(&change);
        }
        assert!(unstored.is_empty());
    }

    /// The records of a database.
    type Records = BTreeMap<(Store, String), String>;

    /// Makes a change as the database does.
    fn make(records: &mut Records, change: &Change) {
        match change {
            DatabaseChange::Put(store, key, text) => {
                records.insert((*store, key.clone()), text.clone());
            }
            DatabaseChange::Delete(store, key) => {
                records.remove(&(*store, key.clone()));
            }
            DatabaseChange::DeletePrefix(store, prefix) => {
                records.retain(|(of, key), _| of != store || !key.starts_with(prefix));
            }
            DatabaseChange::AddRows(rows) | DatabaseChange::PutRows(rows) => {
                let rows = rows.rows().iter().cloned();
                records.extend(rows.map(|(id, row)| ((Store::Rows, id), row)));
            }
            DatabaseChange::DeleteRows(ids) => {
                for id in ids {
                    records.remove(&(Store::Rows, id.clone()));
                }
            }
            DatabaseChange::DeleteRowBatch(_) => {}
        }
    }

    fn change() -> impl Strategy<Value = Change> {
        let store = || prop::sample::select(&STORES[..2]);
        let key = || prop::sample::select(&KEYS[..]);
        let text = || (0u8..100).prop_map(|number| number.to_string());
        prop_oneof![
            4 => (store(), key(), text()).prop_map(|(store, key, text)| put(store, key, &text)),
            2 => (store(), key()).prop_map(|(store, key)| delete(store, key)),
            2 => (prop::sample::select(&STORES[..]), prop::sample::select(&PREFIXES[..]))
                .prop_map(|(store, prefix)| delete_prefix(store, prefix)),
            2 => prop::collection::vec((key(), text()), 0..3).prop_map(|rows| {
                let rows: Vec<(&str, &str)> =
                    rows.iter().map(|(id, row)| (*id, row.as_str())).collect();
                put_rows(&rows)
            }),
            1 => key().prop_map(|id| DatabaseChange::DeleteRows(vec![id.to_owned()])),
        ]
    }

    fn kept(database: &Records, store: Store, prefix: &str) -> Vec<(String, String)> {
        let of_store = database.iter().filter(|((of, _), _)| *of == store);
        of_store
            .filter(|((_, key), _)| key.starts_with(prefix))
            .map(|((_, key), text)| (key.clone(), text.clone()))
            .collect()
    }

    proptest! {
        #[test]
        fn reads_are_those_of_a_database_that_accepts_everything(
            writes in prop::collection::vec(
                (any::<bool>(), prop::collection::vec(change(), 1..4)),
                0..12,
            ),
            begun in prop::collection::vec(change(), 0..3),
        ) {
            let (mut ideal, mut database) = (Records::new(), Records::new());
            let mut unstored = Unstored::new();
            for (is_stored, changes) in &writes {
                for change in changes {
                    make(&mut ideal, change);
                    if *is_stored {
                        make(&mut database, change);
                        unstored.settle(change);
                    } else {
                        unstored.apply(change);
                    }
                }
                for store in STORES {
                    for prefix in PREFIXES {
                        prop_assert_eq!(
                            unstored.over_records(store, prefix, kept(&database, store, prefix)),
                            kept(&ideal, store, prefix)
                        );
                    }
                    for key in KEYS {
                        let place = (store, key.to_owned());
                        let read = unstored.get(store, key);
                        let read = read.unwrap_or_else(|| database.get(&place).cloned());
                        prop_assert_eq!(read.as_ref(), ideal.get(&place));
                    }
                }
            }
            // Retrying while newer changes are being written keeps the newer ones.
            let (mut newer, mut ideal_newer) = (database.clone(), ideal.clone());
            for change in &begun {
                make(&mut newer, change);
                make(&mut ideal_newer, change);
            }
            for change in unstored.changes_after(begun.iter()) {
                make(&mut newer, &change);
            }
            prop_assert_eq!(newer, ideal_newer);
            // Storing the rest makes the database the ideal one, and leaves nothing.
            for change in unstored.changes() {
                make(&mut database, &change);
                unstored.settle(&change);
            }
            prop_assert_eq!(database, ideal);
            prop_assert!(unstored.is_empty());
        }
    }
}
