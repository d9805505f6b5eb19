//! Many texts of [`Store::Summaries`] in one record of [`Store::Sheets`]: a browser takes a sheet of 200 five times
//! sooner than 200 records.
//!
//! A record is `{ keys: [text, …], texts: [text, …] }`, as long as each other, under a number of the browser's. An index
//! finds it by each of its keys.
//!
//! What always holds: no key stands in two sheets, which the index sees to. A text in the store itself, kept later,
//! stands before that of a sheet; what is forgotten is taken out of its sheet as well.

use std::collections::{BTreeMap, BTreeSet};

use idb::{IndexParams, KeyPath, KeyRange, ObjectStore, ObjectStoreParams, Transaction};
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::{Change, Database, DatabaseError, KeptText, Store, bounds, pairs};

/// The field of a sheet with its keys, and the index of it.
const KEYS: &str = "keys";
const TEXTS: &str = "texts";
/// So many are asked for before the first answer is looked at…
const AT_ONCE: usize = 200;
/// …but few at first, and then four times as many each time: they may all stand in one sheet.
const FIRST: usize = 8;

/// A sheet.
#[derive(Clone, Debug)]
pub struct Sheet(Vec<(String, KeptText)>);

impl Sheet {
    /// A sheet of texts under their keys.
    pub fn new(texts: Vec<(String, KeptText)>) -> Sheet {
        Sheet(texts)
    }

    /// Its keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// Its texts, under their keys.
    pub fn texts(&self) -> &[(String, KeptText)] {
        &self.0
    }

    fn to_js(&self) -> JsValue {
        let sheet = Object::new();
        let keys: Array = self.keys().map(JsValue::from).collect();
        let texts: Array = self.0.iter().map(|(_, text)| text.as_js()).collect();
        // A new object takes every field.
        let _ = Reflect::set(&sheet, &KEYS.into(), &keys);
        let _ = Reflect::set(&sheet, &TEXTS.into(), &texts);
        sheet.into()
    }

    fn from_js(value: &JsValue) -> Option<Sheet> {
        let list = |field: &str| -> Option<Vec<JsValue>> {
            let list: Array = Reflect::get(value, &field.into()).ok()?.dyn_into().ok()?;
            Some(list.to_vec())
        };
        Some(Sheet(pairs(list(KEYS)?, list(TEXTS)?)))
    }
}

/// Makes the store, where it is missing.
pub(super) fn create(database: &idb::Database) -> Result<(), idb::Error> {
    let mut numbered = ObjectStoreParams::new();
    numbered.auto_increment(true);
    let sheets = database.create_object_store(Store::Sheets.name(), numbered)?;
    let mut index = IndexParams::new();
    index.unique(true).multi_entry(true);
    sheets.create_index(KEYS, KeyPath::new_single(KEYS), Some(index))?;
    Ok(())
}

/// Adds a sheet. That none of its keys stands in another one the whole transaction says.
pub(super) fn add(transaction: &Transaction, sheet: &Sheet) -> Result<(), DatabaseError> {
    let sheets = transaction.object_store(Store::Sheets.name())?;
    sheets.add(&sheet.to_js(), None)?;
    Ok(())
}

/// Whether something that is to be new is there already, where no store sees to that by itself: a key of a sheet in
/// the store, or a key of the store in a sheet.
pub(super) async fn is_taken(
    transaction: &Transaction,
    changes: &[Change],
) -> Result<bool, DatabaseError> {
    for change in changes {
        if let Change::AddSheet(sheet) = change
            && is_any_there(transaction, sheet).await?
        {
            return Ok(true);
        }
    }
    let single = changes.iter().filter_map(|change| match change {
        Change::Add(Store::Summaries, key, _) => Some(key.clone()),
        _ => None,
    });
    let single = single.collect();
    let mut is_taken = false;
    each_with(transaction, single, |_, _, _| {
        is_taken = true;
        Ok(())
    })
    .await?;
    Ok(is_taken)
}

/// Whether the store has a key of the sheet.
async fn is_any_there(transaction: &Transaction, sheet: &Sheet) -> Result<bool, DatabaseError> {
    let store = transaction.object_store(Store::Summaries.name())?;
    let keys: BTreeSet<&str> = sheet.keys().collect();
    let Some((first, last)) = bounds(&keys) else {
        return Ok(false);
    };
    // Most often there is nothing between them, and one question is enough.
    let between = KeyRange::bound(&(*first).into(), &(*last).into(), None, None)?;
    let most = AT_ONCE as u32;
    let there = store
        .get_all_keys(Some(between.into()), Some(most))?
        .await?;
    let is_all = there.len() < AT_ONCE;
    let there = there.iter().filter_map(JsValue::as_string);
    if there.into_iter().any(|key| keys.contains(&*key)) {
        return Ok(true);
    }
    if is_all {
        return Ok(false);
    }
    let asked: Result<Vec<_>, _> = keys
        .iter()
        .map(|key| store.get_key(JsValue::from(*key)))
        .collect();
    for asked in asked? {
        if asked.await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Takes out of their sheets what the changes forget.
pub(super) async fn take_out(
    transaction: &Transaction,
    changes: &[Change],
) -> Result<(), DatabaseError> {
    let forgotten = changes.iter().flat_map(|change| match change {
        Change::Forget(Store::Summaries, key) => std::slice::from_ref(key),
        Change::TakeOut(keys) => keys,
        _ => &[],
    });
    let forgotten: BTreeSet<String> = forgotten.cloned().collect();
    each_with(transaction, forgotten.clone(), |sheets, place, sheet| {
        let left = sheet.0.into_iter();
        let left: Vec<_> = left.filter(|(key, _)| !forgotten.contains(key)).collect();
        match left.is_empty() {
            true => {
                sheets.delete(place)?;
            }
            false => {
                sheets.put(&Sheet(left).to_js(), Some(&place))?;
            }
        }
        Ok(())
    })
    .await
}

/// Goes to each sheet that holds some of the keys, once.
async fn each_with(
    transaction: &Transaction,
    mut keys: BTreeSet<String>,
    mut visit: impl FnMut(&ObjectStore, JsValue, Sheet) -> Result<(), idb::Error>,
) -> Result<(), DatabaseError> {
    if keys.is_empty() {
        return Ok(());
    }
    let sheets = transaction.object_store(Store::Sheets.name())?;
    // Most people have none.
    if sheets.count(None)?.await? == 0 {
        return Ok(());
    }
    let index = sheets.index(KEYS)?;
    let mut at_once = FIRST;
    while !keys.is_empty() {
        let mut asked = Vec::with_capacity(at_once);
        while asked.len() < at_once
            && let Some(key) = keys.pop_first()
        {
            asked.push(index.get_key(JsValue::from(key))?);
        }
        at_once = AT_ONCE.min(at_once * 4);
        let mut places = BTreeSet::new();
        for asked in asked {
            // The numbers of a store count up from 1.
            let place = asked.await?.as_ref().and_then(JsValue::as_f64);
            places.extend(place.map(|place| place as u64));
        }
        for place in places {
            let place = JsValue::from(place as f64);
            let found = sheets.get(place.clone())?.await?;
            if let Some(sheet) = found.as_ref().and_then(Sheet::from_js) {
                sheet.keys().for_each(|key| {
                    keys.remove(key);
                });
                visit(&sheets, place, sheet)?;
            }
        }
    }
    Ok(())
}

impl Database {
    /// The texts of [`Store::Summaries`] under these keys, as far as there are any.
    pub async fn summaries(
        &self,
        keys: &[String],
    ) -> Result<BTreeMap<String, KeptText>, DatabaseError> {
        let stores = [Store::Summaries, Store::Sheets];
        if stores.iter().any(|store| self.is_gone(*store)) {
            return Ok(BTreeMap::new());
        }
        let names = stores.map(Store::name);
        let transaction = self
            .inner
            .transaction(&names, idb::TransactionMode::ReadOnly)?;
        let summaries = transaction.object_store(Store::Summaries.name())?;
        let asked: Result<Vec<_>, _> = keys
            .iter()
            .map(|key| Ok::<_, idb::Error>((key, summaries.get(JsValue::from(key))?)))
            .collect();
        let mut found = BTreeMap::new();
        for (key, asked) in asked? {
            let text = asked.await?.and_then(KeptText::from_js);
            found.extend(text.map(|text| (key.clone(), text)));
        }
        let missing: BTreeSet<String> = keys
            .iter()
            .filter(|key| !found.contains_key(*key))
            .cloned()
            .collect();
        each_with(&transaction, missing.clone(), |_, _, sheet| {
            let texts = sheet.0.into_iter();
            found.extend(texts.filter(|(key, _)| missing.contains(key)));
            Ok(())
        })
        .await?;
        Ok(found)
    }

    /// At most so many sheets whose numbers come after one, in order, each with its number.
    pub async fn sheets(&self, after: u64, most: u32) -> Result<Vec<(u64, Sheet)>, DatabaseError> {
        if self.is_gone(Store::Sheets) {
            return Ok(Vec::new());
        }
        let store = self.read(Store::Sheets)?;
        let range = || KeyRange::lower_bound(&(after as f64).into(), Some(true));
        let numbers = store.get_all_keys(Some(range()?.into()), Some(most))?;
        let sheets = store.get_all(Some(range()?.into()), Some(most))?;
        let numbers = numbers.await?.into_iter();
        let sheets = numbers
            .zip(sheets.await?)
            .filter_map(|(number, sheet)| Some((number.as_f64()? as u64, Sheet::from_js(&sheet)?)));
        Ok(sheets.collect())
    }
}
