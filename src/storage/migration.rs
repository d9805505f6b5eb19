//! What earlier versions stored in other ways is moved when the database is opened.
//!
//! What cannot be moved (a full disk, a database that may only be read) is returned as changes, to be made in memory: it
//! is read from there, and the next visit tries again.

use super::unreadable::{self, Place};
use crate::shell::database::{Change, Damage, Database, DatabaseError, Store, row_changes};

/// How many rows are read at once where they cannot be moved.
const ROWS: u32 = 2000;

/// Moves everything; what could not be moved is added to `left`.
pub(super) async fn run(database: &Database, left: &mut Vec<Change>) -> Result<(), DatabaseError> {
    let journal = database.keys(Store::LegacyJournal, "").await?;
    let mut moved = Ok(());
    for key in journal {
        let damage = match database.move_journal(&key).await {
            Ok(read) => read.err(),
            Err(error) => {
                moved = Err(error);
                match database.journal(&key).await? {
                    Some(Ok(changes)) => {
                        left.extend(changes);
                        None
                    }
                    Some(Err(damage)) => Some(damage),
                    None => None,
                }
            }
        };
        if let Some(damage) = damage {
            unreadable::note(Place::Record(Store::LegacyJournal, key), &damage);
        }
    }
    if database.keys(Store::LegacyRows, "").await?.is_empty() {
        return moved;
    }
    loop {
        match database.move_rows().await {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => {
                moved = Err(error);
                break;
            }
        }
    }
    if moved.is_err() {
        let mut last = String::new();
        loop {
            let rows = database.some(Store::LegacyRows, &last, ROWS).await?;
            let Some((key, _)) = rows.last() else { break };
            last = key.clone();
            left.extend(row_changes(rows));
        }
        return moved;
    }
    // What is no text was left.
    for key in database.keys(Store::LegacyRows, "").await? {
        unreadable::note(Place::Record(Store::LegacyRows, key), &Damage::Shape);
    }
    moved
}
