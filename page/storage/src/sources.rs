//! Large files that hold episodes. They are stored unchanged, so that an episode can be opened in place.

use volary_core::json::Text;
use volary_formats::import::fields::FieldMapping;

use super::record::{self, FORMAT, SourceRecord};
use super::{database, get, unreadable, write};
use volary_browser::database::{DatabaseChange, DatabaseError, Store};
use volary_browser::files::GivenFile;

/// Metadata of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// The path.
    pub name: Text,
    /// The size in bytes.
    pub size: u64,
    /// Whether it was read to its end.
    pub whole: bool,
    /// Distinguishes files with the same beginning; `None` until the end was read.
    pub end: Option<Text>,
    /// The mapping by which it was read, if no reader knows it.
    pub fields: Option<FieldMapping>,
}

/// Stores the metadata of a file.
pub async fn keep_about(id: &str, about: &About) -> Result<(), DatabaseError> {
    let text = record::write(&SourceRecord {
        format: FORMAT,
        name: about.name.to_string(),
        size: about.size,
        whole: about.whole,
        end: about.end.as_ref().map(Text::to_string),
        fields: about.fields.clone(),
    });
    write(vec![DatabaseChange::Put(
        Store::Sources,
        id.to_owned(),
        text,
    )])
    .await
}

/// Returns the metadata of a file; `None` if there is none.
pub async fn about(id: &str) -> Result<Option<About>, DatabaseError> {
    let text = get(Store::Sources, id).await?;
    let read = text.map(|text| record::read::<SourceRecord>(&text.to_text()));
    let known = read.and_then(|read| unreadable::noted(Store::Sources, id, read));
    Ok(known.map(|known| About {
        name: known.name.into(),
        size: known.size,
        whole: known.whole,
        end: known.end.map(Text::from),
        fields: known.fields,
    }))
}

/// Stores a file.
pub async fn keep(id: &str, file: &GivenFile) -> Result<(), DatabaseError> {
    database().await?.put_file(Store::Files, id, file).await
}

/// Returns a file, if it could be stored.
pub async fn file(id: &str, name: &str) -> Result<Option<GivenFile>, DatabaseError> {
    let database = database().await?;
    database.get_file(Store::Files, id, name).await
}

/// Deletes a file and its metadata.
pub async fn forget(id: &str) -> Result<(), DatabaseError> {
    write(vec![
        DatabaseChange::Delete(Store::Sources, id.to_owned()),
        DatabaseChange::Delete(Store::Files, id.to_owned()),
    ])
    .await
}
