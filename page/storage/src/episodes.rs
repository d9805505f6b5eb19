//! Stored episodes: texts in parts, and a separate row for lists.
//!
//! A text is in the format of `volary_episode::native`. The key of a part is the id with escaped slashes, a slash,
//! and the number of the part, because an id may be any string, `a` and `a/000000` among them.

use std::collections::{BTreeSet, HashMap};

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_formats::import::index::EpisodeRange;

use super::record::{FORMAT, RowRecord};
use super::unreadable::{self, RecordLocation};
use super::{all, get, keys_between, record, row_batches, rows, write};
use volary_browser::database::{
    Damage, DatabaseChange, DatabaseError, KeptText, RowBatch, Store, after_all, bounds,
};
use volary_browser::files::GivenFile;
use volary_browser::timers;

/// Longer texts are split into parts of this many UTF-16 units, because browsers copy a text in one task.
const PART: u32 = 4_000_000;
/// How many records of rows are read at once.
const BATCHES: u32 = 20;

/// An episode in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedEpisode {
    pub row: Row,
    /// The location of an episode without a text of its own: the id of the file, and the place in it.
    pub place: Option<(Text, EpisodeRange)>,
}

/// The records of an episode.
#[derive(Clone, Debug)]
pub struct StoredEpisode {
    pub id: String,
    pub row: KeptText,
    /// Its native text.
    pub text: KeptText,
}

impl StoredEpisode {
    /// Completes the row with its size, and with origin and time where it has none.
    pub fn new(mut row: Row, text: KeptText, origin: &str) -> StoredEpisode {
        row.origin.get_or_insert_with(|| origin.into());
        row.bytes = Some(text.length().into());
        row.added.get_or_insert_with(timers::wall_clock);
        let (id, row) = stored_row(&row, None);
        StoredEpisode { id, row, text }
    }
}

/// The changes that store episodes. Those in `new` must not exist yet ([`DatabaseError::Taken`]); the others may.
pub fn storing(new: Vec<StoredEpisode>, others: Vec<StoredEpisode>) -> Vec<DatabaseChange> {
    let former = others.iter().map(|episode| deleting_text(&episode.id));
    let mut changes: Vec<DatabaseChange> = former.collect();
    for StoredEpisode { id, text, .. } in new.iter().chain(&others) {
        let parts = text.parts(PART).into_iter().enumerate();
        changes.extend(parts.map(|(number, part)| {
            DatabaseChange::Put(Store::Episodes, part_key(id, number), part)
        }));
    }
    let rows = |episodes: Vec<StoredEpisode>| {
        let rows = episodes
            .into_iter()
            .map(|episode| (episode.id, episode.row));
        RowBatch::new(rows.collect())
    };
    changes.push(DatabaseChange::AddRows(rows(new)));
    changes.push(DatabaseChange::PutRows(rows(others)));
    changes
}

/// The change that deletes the text of an episode.
pub fn deleting_text(id: &str) -> DatabaseChange {
    DatabaseChange::DeletePrefix(Store::Episodes, parts_of(id))
}

fn part_key(id: &str, number: usize) -> String {
    let mut key = parts_of(id);
    match number {
        // Most texts have one part.
        0 => key.push_str("000000"),
        _ => key.push_str(&format!("{number:06}")),
    }
    key
}

/// The changes that store the parts of an episode's text that the browser did not store.
pub fn putting_unstored(id: &str) -> Vec<DatabaseChange> {
    let parts = super::unstored(Store::Episodes, &parts_of(id)).into_iter();
    parts
        .map(|(key, text)| DatabaseChange::Put(Store::Episodes, key, text))
        .collect()
}

/// The prefix of the keys of all parts of a text.
fn parts_of(id: &str) -> String {
    if id.contains(['/', '%']) {
        format!("{}/", id.replace('%', "%25").replace('/', "%2F"))
    } else {
        format!("{id}/")
    }
}

/// Encodes a row, and the place of its episode if that has no text of its own. Returns it with its id.
pub fn stored_row(row: &Row, place: Option<&(Text, EpisodeRange)>) -> (String, KeptText) {
    (row.id.to_string(), record::write(&record_of(row, place)))
}

fn record_of(row: &Row, place: Option<&(Text, EpisodeRange)>) -> RowRecord {
    let bounds = |place: &EpisodeRange| {
        let parts = place.parts.iter();
        parts.flat_map(|part| [part.start, part.end]).collect()
    };
    RowRecord {
        row: row.to_json(),
        file: place.map(|(file, _)| file.to_string()),
        parts: place.map(|(_, place)| bounds(place)),
        packed: place.map(|(_, place)| place.packed),
        number: place.map(|(_, place)| place.number),
        format: FORMAT,
    }
}

/// Deletes episodes.
pub async fn forget(ids: &[String]) -> Result<(), DatabaseError> {
    // Episodes in large files have no texts of their own, so nothing is deleted for each of them.
    let starts: Vec<String> = ids.iter().map(|id| parts_of(id)).collect();
    let kept = match bounds(&starts) {
        None => BTreeSet::new(),
        Some((first, last)) => keys_between(Store::Episodes, first, &after_all(last)).await?,
    };
    let starts = starts.into_iter().filter(|start| {
        let mut parts = kept.range(start.clone()..);
        parts.next().is_some_and(|part| part.starts_with(start))
    });
    let texts = starts.map(|start| DatabaseChange::DeletePrefix(Store::Episodes, start));
    let rows = DatabaseChange::DeleteRows(ids.to_vec());
    write(texts.chain([rows]).collect()).await
}

/// Lists all episodes.
pub async fn list() -> Result<Vec<ListedEpisode>, DatabaseError> {
    let mut listed = HashMap::new();
    let mut last = 0;
    let mut add = |id: &str, row: &KeptText| match read(row) {
        Ok(row) => {
            listed.insert(row.row.id.clone(), row);
        }
        Err(why) => unreadable::note(RecordLocation::Row(id.to_owned()), &why),
    };
    unreadable::clear(Store::Rows);
    loop {
        let batches = row_batches(last, BATCHES).await?;
        for (number, batch) in &batches {
            match batch {
                Some(batch) => batch.rows().iter().for_each(|(id, row)| add(id, row)),
                None => unreadable::note(RecordLocation::RowBatch(*number), &Damage::Shape),
            }
        }
        match batches.last() {
            Some((number, _)) if batches.len() == BATCHES as usize => last = *number,
            _ => break,
        }
    }
    for (id, row) in super::unstored(Store::Rows, "") {
        add(&id, &row);
    }
    listed.retain(|id, _| !super::is_deleted(Store::Rows, id));
    Ok(listed.into_values().collect())
}

/// Returns the episodes with these ids, in this order; ids without an episode are skipped.
pub async fn listed(ids: &[String]) -> Result<Vec<ListedEpisode>, DatabaseError> {
    let rows = rows(ids).await?;
    let found = ids.iter().filter_map(|id| rows.get(id));
    Ok(found.filter_map(|row| read(row).ok()).collect())
}

fn read(row: &KeptText) -> Result<ListedEpisode, Damage> {
    listed_of(record::read(&row.to_text())?).ok_or(Damage::Texts)
}

fn listed_of(record: RowRecord) -> Option<ListedEpisode> {
    Some(ListedEpisode {
        row: Row::read(&record.row)?,
        place: place(record),
    })
}

fn place(record: RowRecord) -> Option<(Text, EpisodeRange)> {
    let (bounds, _) = record.parts.as_deref()?.as_chunks::<2>();
    let place = EpisodeRange {
        parts: bounds.iter().map(|[start, end]| *start..*end).collect(),
        packed: record.packed?,
        number: record.number?,
    };
    Some((record.file?.into(), place))
}

/// Returns the text of an episode; `None` if it does not exist.
pub async fn text(id: &str) -> Result<Option<KeptText>, DatabaseError> {
    let first = get(Store::Episodes, &part_key(id, 0)).await?;
    match first {
        // Only a full part is followed by another one.
        Some(first) if first.length() < PART => Ok(Some(first)),
        None => Ok(None),
        Some(_) => {
            let parts = all(Store::Episodes, &parts_of(id)).await?;
            let parts: Vec<KeptText> = parts.into_iter().map(|(_, part)| part).collect();
            Ok(Some(KeptText::joined(&parts)))
        }
    }
}

/// Returns the episodes that the browser did not store: the row of each, and its native text as a file in memory.
pub fn unstored() -> Vec<(Row, GivenFile)> {
    let rows = super::unstored(Store::Rows, "").into_iter();
    let episodes = rows.filter_map(|(id, row)| {
        let row = read(&row).ok()?.row;
        let parts = super::unstored(Store::Episodes, &parts_of(&id)).into_iter();
        let parts: Vec<KeptText> = parts.map(|(_, part)| part).collect();
        let file = GivenFile::of_text(&format!("{id}.json"), &KeptText::joined(&parts))?;
        (!parts.is_empty()).then_some((row, file))
    });
    episodes.collect()
}

/// Forgets the changes of episodes that the browser did not store. The worker of the library deletes what was stored.
pub fn forget_unstored(ids: &[Text]) {
    let texts = ids.iter().map(|id| deleting_text(id));
    let rows = DatabaseChange::DeleteRows(ids.iter().map(Text::to_string).collect());
    super::forget_unstored(&texts.chain([rows]).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use volary_core::json::to_json;

    use super::super::record::check_golden;
    use super::*;

    #[test]
    fn rows_match_the_golden_files_in_both_directions() {
        let row = Row {
            id: "0abc-000001".into(),
            name: "Ünïcode".into(),
            steps: 3,
            calls: 4,
            reward: Some(0.5),
            tags: vec!["good".into()],
            outcome: "done".into(),
            origin: Some("evaluated".into()),
            added: Some(1_764_000_000.25),
            bytes: Some(4096),
            ..Row::default()
        };
        let place = EpisodeRange {
            parts: vec![10..20, 30..5_000_000_000],
            packed: true,
            number: 2,
        };
        for (name, place) in [
            ("row", None),
            ("row_in_file", Some(("file-1".into(), place))),
        ] {
            let record = record_of(&row, place.as_ref());
            let text = to_json(&record).unwrap().to_python_text();
            let golden = check_golden(name, &text);
            let expected = ListedEpisode {
                row: row.clone(),
                place,
            };
            let read = |text: &str| listed_of(record::read(text).unwrap());
            assert_eq!(read(&golden), Some(expected.clone()));
            // As versions before the first numbered format wrote it.
            assert_eq!(read(&golden.replace(", \"format\": 1", "")), Some(expected));
        }
    }
}
