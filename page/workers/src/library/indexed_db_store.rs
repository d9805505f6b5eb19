//! Stores episodes in the browser's database. Episodes that the browser refuses stay in memory, and the error says
//! so.

use std::collections::HashMap;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use volary_analysis::table::Row;
use volary_app::notice::Notice;
use volary_core::json::Text;
use volary_core::quantity::{plural, size_text};
use volary_formats::import::index::EpisodeRange;

use volary_library::LibraryError;
use volary_library::repository::{
    EpisodeStore, Held, InFile, Item, KnownFile, ListedRow, Stored, Unkept,
};
use volary_library::source::Source;

use super::download::DownloadSource;
use super::given_file::GivenSource;
use volary_browser::database::{DatabaseChange, DatabaseError, KeptText, RowBatch};
use volary_browser::storage_quota;
use volary_storage::episodes::{self, StoredEpisode};
use volary_storage::origin::IMPORTED;
use volary_storage::sources::{self, About};
use volary_storage::{self as storage, unreadable};

/// An [`EpisodeStore`] in the browser's database.
#[derive(Clone, Copy, Debug, Default)]
pub struct IndexedDbStore;

/// The share of the storage quota that is left to other data.
const SPARED: f64 = 0.1;

fn refused(error: &DatabaseError) -> LibraryError {
    LibraryError::Store {
        why: format!("{error} {}", error.advice()).into(),
    }
}

fn owned(ids: &[Text]) -> Vec<String> {
    ids.iter().map(Text::to_string).collect()
}

fn placed(at: &InFile) -> (Text, EpisodeRange) {
    (at.file.clone(), at.range.clone())
}

fn listed(listed: episodes::ListedEpisode) -> ListedRow {
    let place = listed
        .place
        .map(|(file, place)| InFile { file, range: place });
    (listed.row, place)
}

fn unreadable_notice(count: usize) -> Option<Notice> {
    (count > 0).then(|| {
        Notice::new(
            format!("{} cannot be read.", plural(count, "stored record")),
            "They are damaged or were stored by another version of this page.",
            "Nothing was deleted. They are listed under Settings, Storage, where you can export \
             them.",
        )
    })
}

impl EpisodeStore for IndexedDbStore {
    fn keep(&self, episodes: Vec<Item>) -> LocalBoxFuture<'_, Result<(), Unkept>> {
        async move {
            let (mut new, mut others) = (Vec::new(), Vec::new());
            let (mut new_rows, mut other_rows) = (Vec::new(), Vec::new());
            for Item {
                row, held, is_new, ..
            } in &episodes
            {
                match held {
                    Held::Text(text) => {
                        let text = KeptText::from(text.as_str());
                        let episode = StoredEpisode::new(row.clone(), text, IMPORTED);
                        if *is_new { &mut new } else { &mut others }.push(episode);
                    }
                    Held::InFile(at) => {
                        let row = episodes::stored_row(row, Some(&placed(at)));
                        if *is_new {
                            &mut new_rows
                        } else {
                            &mut other_rows
                        }
                        .push(row);
                    }
                }
            }
            let mut changes = episodes::storing(new, others);
            changes.push(DatabaseChange::AddRows(RowBatch::new(new_rows)));
            changes.push(DatabaseChange::PutRows(RowBatch::new(other_rows)));
            match storage::write(changes).await {
                Err(DatabaseError::Taken) => Err(Unkept::Taken(episodes)),
                kept => kept.map_err(|error| Unkept::InMemory(refused(&error))),
            }
        }
        .boxed_local()
    }

    fn label(&self, rows: Vec<Row>) -> Stored<'_> {
        async move {
            let ids: Vec<Text> = rows.iter().map(|row| row.id.clone()).collect();
            // Rows that cannot be read are treated as missing.
            let known = episodes::listed(&owned(&ids)).await.unwrap_or_default();
            let places = known.into_iter().map(|known| (known.row.id, known.place));
            let places: HashMap<Text, _> = places.collect();
            let mut changes = Vec::new();
            let mut labelled = Vec::with_capacity(rows.len());
            for row in &rows {
                if let Some(place) = places.get(&row.id) {
                    // Otherwise the next visit would find a row without its text.
                    changes.extend(episodes::putting_unstored(&row.id));
                    labelled.push(episodes::stored_row(row, place.as_ref()));
                }
            }
            changes.push(DatabaseChange::PutRows(RowBatch::new(labelled)));
            let kept = storage::write(changes).await;
            kept.map_err(|error| refused(&error))
        }
        .boxed_local()
    }

    fn rows_of<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, Vec<ListedRow>> {
        async move {
            let found = episodes::listed(&owned(ids)).await.unwrap_or_default();
            found.into_iter().map(listed).collect()
        }
        .boxed_local()
    }

    fn text<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, LibraryError>> {
        async move {
            let text = episodes::text(id).await.ok().flatten();
            Ok(text.map(|text| text.to_text()))
        }
        .boxed_local()
    }

    fn rows(&self) -> LocalBoxFuture<'_, Result<Vec<ListedRow>, LibraryError>> {
        async move {
            match episodes::list().await {
                Ok(rows) => Ok(rows.into_iter().map(listed).collect()),
                // Without a database, nothing was stored.
                Err(DatabaseError::Absent | DatabaseError::Refused { .. }) => Ok(Vec::new()),
                Err(error) => Err(refused(&error)),
            }
        }
        .boxed_local()
    }

    fn notice(&self) -> Option<Notice> {
        if storage::is_read_only() {
            let error = DatabaseError::Newer;
            let what = "The library is read-only.";
            return Some(Notice::new(what, error.to_string(), error.advice()));
        }
        unreadable_notice(unreadable::all().len())
    }

    fn forget<'a>(&'a self, ids: &'a [Text]) -> LocalBoxFuture<'a, ()> {
        async move {
            // Episodes that cannot be deleted are shown again at the next visit.
            let _ = episodes::forget(&owned(ids)).await;
        }
        .boxed_local()
    }

    fn keep_file(&self, file: KnownFile) -> Stored<'_> {
        async move {
            let about = About {
                name: file.name.clone(),
                size: file.size,
                whole: file.whole,
                end: file.end.clone(),
                fields: file.fields.clone(),
            };
            let again = |why: String| {
                let why = format!(
                    "{} ({}) was not copied into this browser: {why} Its trajectories can be \
                     opened until you leave this page. After that, import the file again.",
                    file.name,
                    size_text(file.size)
                );
                LibraryError::Store { why: why.into() }
            };
            let known = sources::keep_about(&file.id, &about).await;
            known.map_err(|error| again(error.to_string()))?;
            let Some(source) = &file.source else {
                return Ok(());
            };
            let source = source.as_any();
            let given = match source.downcast_ref::<DownloadSource>() {
                Some(DownloadSource(download)) => Some(
                    download
                        .whole()
                        .await
                        .map_err(|error| again(error.to_string()))?,
                ),
                None => source
                    .downcast_ref()
                    .map(|GivenSource(given)| given.clone()),
            };
            let Some(given) = given else {
                return Ok(());
            };
            if let Ok(Some(_)) = sources::file(&file.id, &file.name).await {
                return Ok(());
            }
            if let Some(room) = storage_quota::quota().await {
                let free = (room.quota * (1.0 - SPARED) - room.used).max(0.0);
                if file.size as f64 > free {
                    let free = size_text(free as u64);
                    return Err(again(format!("this browser has only {free} left.")));
                }
            }
            let kept = sources::keep(&file.id, &given).await;
            kept.map_err(|error| again(format!("{error}")))
        }
        .boxed_local()
    }

    fn file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, Option<KnownFile>> {
        async move {
            let about = sources::about(id).await.ok().flatten()?;
            let file = sources::file(id, &about.name).await.ok().flatten();
            Some(KnownFile {
                id: id.into(),
                name: about.name,
                size: about.size,
                whole: about.whole,
                end: about.end,
                fields: about.fields,
                source: file.map(|file| Rc::new(GivenSource(file)) as Rc<dyn Source>),
            })
        }
        .boxed_local()
    }

    fn forget_file<'a>(&'a self, id: &'a str) -> LocalBoxFuture<'a, ()> {
        async move {
            // A file that cannot be deleted is recognized when it is imported again.
            let _ = sources::forget(id).await;
        }
        .boxed_local()
    }
}
