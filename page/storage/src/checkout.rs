//! The stored checkout of tau-bench: the files that environments need, and the tasks of each split.
//!
//! Invariant: files, tasks and id belong to one checkout, because one transaction writes them.

use super::{all, get, write};
use volary_browser::database::{DatabaseChange, DatabaseError, Store};

/// The key of the id, and the prefix of the keys of files and tasks.
const KEY: &str = "tau-bench";

/// The key of the tasks of a split, by the name of its data.
fn tasks_key(name: &str) -> String {
    format!("{KEY}/tasks/{name}")
}

fn file_key(path: &str) -> String {
    format!("{KEY}/files/{path}")
}

/// Stores a checkout in place of the previous one: files by path, and tasks by the name of their data.
pub async fn keep(
    id: &str,
    files: impl IntoIterator<Item = (String, String)>,
    tasks: impl IntoIterator<Item = (String, String)>,
) -> Result<(), DatabaseError> {
    let files = files.into_iter();
    let files = files.map(|(path, text)| (file_key(&path), text));
    let tasks = tasks.into_iter();
    let tasks = tasks.map(|(name, text)| (tasks_key(&name), text));
    let mut changes = deletions();
    changes.push(DatabaseChange::Put(
        Store::Sources,
        KEY.to_owned(),
        id.into(),
    ));
    let put = |(key, text): (String, String)| DatabaseChange::Put(Store::Files, key, text.into());
    changes.extend(files.chain(tasks).map(put));
    write(changes).await
}

/// Returns the id of the stored checkout; `None` if there is none.
pub async fn id() -> Result<Option<String>, DatabaseError> {
    let id = get(Store::Sources, KEY).await?;
    Ok(id.map(|id| id.to_text()))
}

/// Returns the stored files whose paths have a prefix, by path.
pub async fn files(prefix: &str) -> Result<Vec<(String, String)>, DatabaseError> {
    let stored = all(Store::Files, &file_key(prefix)).await?;
    let start = file_key("");
    let files = stored.into_iter().filter_map(|(key, text)| {
        let path = key.strip_prefix(&start)?.to_owned();
        Some((path, text.to_text()))
    });
    Ok(files.collect())
}

/// Returns the tasks of a split, by the name of its data.
pub async fn tasks(name: &str) -> Result<Option<String>, DatabaseError> {
    let tasks = get(Store::Files, &tasks_key(name)).await?;
    Ok(tasks.map(|tasks| tasks.to_text()))
}

/// Deletes the checkout.
pub async fn forget() -> Result<(), DatabaseError> {
    write(deletions()).await
}

fn deletions() -> Vec<DatabaseChange> {
    vec![
        DatabaseChange::Delete(Store::Sources, KEY.to_owned()),
        DatabaseChange::DeletePrefix(Store::Files, format!("{KEY}/")),
    ]
}
