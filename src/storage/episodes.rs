//! Episodes that are kept: the whole text in parts, and apart from it the row that lists show.
//!
//! A text is one of `volary_trajectory::native`. Keys of parts are the id, in which strokes are written otherwise, a stroke,
//! and the number of the part: ids are anything, `a` and `a/000000` among them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use volary_core::json;
use volary_core::json::{Json, Text};
use volary_core::object;
use volary_trajectory::import::index::Place;
use volary_trajectory::table::Row;

use super::{all, get, keys_between, sheets, some, summaries, unreadable, write, write_ahead_log};
use crate::browser::database::{
    Change, Damage, DatabaseError, KeptText, Packing, Sheet, Store, after_all, bounds,
};
use crate::browser::files::GivenFile;
use crate::browser::timers;

/// Longer texts are kept in parts of so many characters: browsers copy a text at once.
const PART: u32 = 4_000_000;
/// So many rows are fetched at once.
const ROWS: u32 = 2000;
/// So many sheets of rows.
const SHEETS: u32 = 20;

/// An episode in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// What is known of it.
    pub row: Row,
    /// Where it stands, if it has no text: the id of the file, and the place in it.
    pub place: Option<(Text, Place)>,
}

/// What keeps an episode, in the place of a former one of the same id. The origin is for rows that have none.
pub fn keeping(row: &Row, text: &KeptText, origin: &str) -> Vec<Change> {
    [forgetting_text(&row.id)]
        .into_iter()
        .chain(keeping_new(row, text, origin))
        .collect()
}

/// What keeps an episode, where none of its id was kept before.
pub fn keeping_new(row: &Row, text: &KeptText, origin: &str) -> Vec<Change> {
    let row = completed(row.clone(), u64::from(text.length()), origin);
    let parts = text.parts(PART).into_iter().enumerate();
    let puts =
        parts.map(|(number, part)| Change::Put(Store::Episodes, part_key(&row.id, number), part));
    puts.chain([summary(&row, None)]).collect()
}

/// Packs an episode, where none of its id was kept before. `write` appends its text, which must be ASCII, as all of
/// `volary_trajectory::native` is.
pub fn pack_new(packing: &mut Packing, row: Row, origin: &str, write: impl FnOnce(&mut String)) {
    let key = |number| part_key(&row.id, number);
    let length = packing.put_parts(Store::Episodes, PART as usize, key, write);
    let row = completed(row, length as u64, origin);
    packing.put(Store::Summaries, row.id.to_string(), |out| {
        record_of(&row, None).write_python_text(out);
    });
}

/// What forgets the text of an episode.
pub fn forgetting_text(id: &str) -> Change {
    Change::ForgetAll(Store::Episodes, parts_of(id))
}

fn part_key(id: &str, number: usize) -> String {
    let mut key = parts_of(id);
    match number {
        // Most have one part.
        0 => key.push_str("000000"),
        _ => key.push_str(&format!("{number:06}")),
    }
    key
}

fn completed(mut row: Row, bytes: u64, origin: &str) -> Row {
    row.origin.get_or_insert_with(|| origin.into());
    row.bytes = Some(bytes);
    row.added.get_or_insert_with(timers::wall_clock);
    row
}

/// The same change, which is not made, and no other one of its list, if an episode of that id is there.
pub fn only_new(change: Change) -> Change {
    match change {
        Change::Put(Store::Summaries, id, row) => Change::Add(Store::Summaries, id, row),
        other => other,
    }
}

/// What keeps the text of an episode, as far as the browser did not keep it.
pub fn keeping_unkept(id: &str) -> Vec<Change> {
    let parts = super::unkept(Store::Episodes, &parts_of(id)).into_iter();
    parts
        .filter_map(|(key, text)| Some(Change::Put(Store::Episodes, key, text?)))
        .collect()
}

/// How the keys of all parts of a text begin.
fn parts_of(id: &str) -> String {
    match id.contains(['/', '%']) {
        true => format!("{}/", id.replace('%', "%25").replace('/', "%2F")),
        false => format!("{id}/"),
    }
}

/// What keeps a row: with the place of its episode, if that has no text.
pub fn summary(row: &Row, place: Option<&(Text, Place)>) -> Change {
    let (id, text) = keyed(row, place);
    Change::Put(Store::Summaries, id, text)
}

/// What keeps rows together, none of whose ids was kept before: with the places of their episodes, which have no texts.
pub fn new_summaries<'a>(rows: impl Iterator<Item = (&'a Row, (Text, Place))>) -> Option<Change> {
    let texts: Vec<_> = rows.map(|(row, place)| keyed(row, Some(&place))).collect();
    (!texts.is_empty()).then(|| Change::AddSheet(Sheet::new(texts)))
}

fn keyed(row: &Row, place: Option<&(Text, Place)>) -> (String, KeptText) {
    let text = record_of(row, place).to_python_text();
    (row.id.to_string(), text.into())
}

fn record_of(row: &Row, place: Option<&(Text, Place)>) -> Json {
    let mut record = object!({ "row": (row.to_json()) });
    if let Some((file, place)) = place {
        let numbers = place.parts.iter().flat_map(|part| [part.start, part.end]);
        let numbers = numbers.map(|number| Json::from(number as i64));
        record.insert("file", file.clone());
        record.insert("parts", Json::List(numbers.collect()));
        record.insert("packed", place.packed);
        record.insert("number", place.number as i64);
    }
    record.into()
}

/// Forgets episodes.
pub async fn forget(ids: &[String]) -> Result<(), DatabaseError> {
    write_ahead_log::settle().await;
    // Those of large files have neither records nor texts of their own, which are not asked for one by one.
    let (alone, in_sheets): (Vec<String>, Vec<String>) = match bounds(ids) {
        None => return Ok(()),
        Some((first, last)) => {
            let kept = keys_between(Store::Summaries, first, last).await?;
            ids.iter().cloned().partition(|id| kept.contains(id))
        }
    };
    let starts: Vec<String> = ids.iter().map(|id| parts_of(id)).collect();
    let kept = match bounds(&starts) {
        None => BTreeSet::new(),
        Some((first, last)) => keys_between(Store::Episodes, first, &after_all(last)).await?,
    };
    let starts = starts.into_iter().filter(|start| {
        let mut parts = kept.range(start.clone()..);
        parts.next().is_some_and(|part| part.starts_with(start))
    });
    let texts = starts.map(|start| Change::ForgetAll(Store::Episodes, start));
    let rows = alone
        .into_iter()
        .map(|id| Change::Forget(Store::Summaries, id));
    let sheets = Change::TakeOut(in_sheets);
    write(texts.chain(rows).chain([sheets]).collect()).await
}

/// All of them.
pub async fn list() -> Result<Vec<Listed>, DatabaseError> {
    write_ahead_log::settle().await;
    unreadable::clear(Store::Summaries);
    // What is kept by itself stands before what a sheet has of it.
    let mut listed = HashMap::new();
    let mut last = 0;
    loop {
        let some = sheets(last, SHEETS).await?;
        let texts = some.iter().flat_map(|(_, sheet)| sheet.texts());
        listed.extend(texts.filter_map(|(key, text)| by_id(key, text)));
        match some.last() {
            Some((number, _)) if some.len() == SHEETS as usize => last = *number,
            _ => break,
        }
    }
    let mut last = String::new();
    loop {
        let records = some(Store::Summaries, &last, ROWS).await?;
        let count = records.len();
        listed.extend(records.iter().filter_map(|(key, text)| by_id(key, text)));
        match records.into_iter().next_back() {
            Some((key, _)) if count == ROWS as usize => last = key,
            _ => break,
        }
    }
    // What the browser did not keep, or not in its place.
    let mut unkept = super::unkept(Store::Summaries, "");
    let waiting = write_ahead_log::all_waiting(Store::Summaries, "");
    unkept.extend(waiting.into_iter().map(|(key, text)| (key, Some(text))));
    for (key, text) in unkept {
        listed.remove(&*key);
        listed.extend(text.as_ref().and_then(|text| by_id(&key, text)));
    }
    Ok(listed.into_values().collect())
}

fn by_id(key: &str, text: &KeptText) -> Option<(Text, Listed)> {
    let listed = read(text);
    if listed.is_none() {
        let why = Damage::Texts.to_string();
        unreadable::note(Store::Summaries, key, why);
    }
    let listed = listed?;
    Some((listed.row.id.clone(), listed))
}

/// Those of these ids, as far as there are any, in their order.
pub async fn listed(ids: &[String]) -> Result<Vec<Listed>, DatabaseError> {
    let texts = summaries(ids).await?;
    let found = ids.iter().filter_map(|id| texts.get(id));
    Ok(found.filter_map(read).collect())
}

fn read(text: &KeptText) -> Option<Listed> {
    let record = json::read(&text.to_text()).ok()?;
    Some(Listed {
        row: Row::read(record.get("row")?)?,
        place: place(&record),
    })
}

fn place(record: &Json) -> Option<(Text, Place)> {
    let numbers = record.get("parts")?.as_list()?.iter();
    let numbers: Option<Vec<u64>> = numbers
        .map(|number| u64::try_from(number.as_i64()?).ok())
        .collect();
    let place = Place {
        parts: numbers?
            .chunks_exact(2)
            .map(|pair| pair[0]..pair[1])
            .collect(),
        packed: *record.get("packed")? == Json::Bool(true),
        number: usize::try_from(record.get("number")?.as_i64()?).ok()?,
    };
    Some((record.get("file")?.as_text()?.clone(), place))
}

/// The text of an episode; `None` if there is none of the id.
pub async fn text(id: &str) -> Result<Option<KeptText>, DatabaseError> {
    let first = get(Store::Episodes, &part_key(id, 0)).await?;
    match first {
        // Full parts are followed by others.
        Some(first) if first.length() < PART => Ok(Some(first)),
        None => Ok(None),
        Some(_) => {
            let parts = all(Store::Episodes, &parts_of(id)).await?;
            let parts: Vec<KeptText> = parts.into_iter().map(|(_, part)| part).collect();
            Ok(Some(KeptText::joined(&parts)))
        }
    }
}

/// Those that the browser did not keep, each as a file in memory.
pub fn unkept_files() -> Vec<GivenFile> {
    let mut texts: BTreeMap<String, Vec<KeptText>> = BTreeMap::new();
    for (key, text) in super::unkept(Store::Episodes, "") {
        let id = key.rsplit_once('/').map_or(key.as_str(), |(id, _)| id);
        texts.entry(id.to_owned()).or_default().extend(text);
    }
    let files = texts.iter().filter_map(|(id, parts)| {
        let text = KeptText::joined(parts);
        GivenFile::of_text(&format!("{id}.json"), &text)
    });
    files.collect()
}
