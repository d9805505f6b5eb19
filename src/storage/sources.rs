//! Large files in which episodes stand: kept as they are, so that an episode can be opened in its place.

use volary_core::json::Text;

use super::record::{self, FORMAT, SourceRecord};
use super::{database, get, unreadable, write};
use crate::browser::database::{Change, DatabaseError, Store};
use crate::browser::files::GivenFile;

/// What is known of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Its path.
    pub name: Text,
    /// How many bytes it has.
    pub size: u64,
    /// Whether it was read to its end.
    pub whole: bool,
    /// What tells it from files that begin alike, once its end was seen.
    pub end: Option<Text>,
}

/// Keeps what is known of a file.
pub async fn keep_about(id: &str, about: &About) -> Result<(), DatabaseError> {
    let text = record::write(&SourceRecord {
        format: FORMAT,
        name: about.name.to_string(),
        size: about.size,
        whole: about.whole,
        end: about.end.as_ref().map(Text::to_string),
    });
    write(vec![Change::Put(Store::Sources, id.to_owned(), text)]).await
}

/// What is known of a file; `None` if there is none of the id.
pub async fn about(id: &str) -> Result<Option<About>, DatabaseError> {
    let text = get(Store::Sources, id).await?;
    let read = text.map(|text| record::read::<SourceRecord>(&text.to_text()));
    let known = read.and_then(|read| unreadable::noted(Store::Sources, id, read));
    Ok(known.map(|known| About {
        name: known.name.into(),
        size: known.size,
        whole: known.whole,
        end: known.end.map(Text::from),
    }))
}

/// Keeps a file.
pub async fn keep(id: &str, file: &GivenFile) -> Result<(), DatabaseError> {
    database().await?.put_file(Store::Files, id, file).await
}

/// A file, if it could be kept.
pub async fn file(id: &str, name: &str) -> Result<Option<GivenFile>, DatabaseError> {
    let database = database().await?;
    database.get_file(Store::Files, id, name).await
}

/// Forgets a file, and what is known of it.
pub async fn forget(id: &str) -> Result<(), DatabaseError> {
    write(vec![
        Change::Forget(Store::Sources, id.to_owned()),
        Change::Forget(Store::Files, id.to_owned()),
    ])
    .await
}
