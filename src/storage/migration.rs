//! Moves what earlier versions stored in other ways, when the database is opened.
//!
//! What cannot be moved (out of space, a read-only database) is returned as changes, to be made in memory: it is
//! read from there, and the next visit tries again.

use super::unreadable::{self, Place};
use crate::browser::database::{
    Change, Damage, Database, DatabaseError, Store, move_journal_record, move_next_rows,
    read_journal_record, row_changes,
};
use crate::projection::recovery::Recovery;

/// How many rows are read at once where they cannot be moved.
const ROWS: u32 = 2000;

/// Moves everything; what could not be moved is added to `left`.
pub(super) async fn run(database: &Database, left: &mut Vec<Change>) -> Result<(), DatabaseError> {
    let journal = move_journal(database, left).await;
    // Also when the journal could not be moved: it may have been too large for the space left.
    let rows = move_rows(database, left).await;
    journal.and(rows)
}

async fn move_journal(database: &Database, left: &mut Vec<Change>) -> Result<(), DatabaseError> {
    let keys = database.keys(Store::LegacyJournal, "").await?;
    let total = keys.len();
    let mut moved = Ok(());
    for (done, key) in keys.into_iter().enumerate() {
        super::tell_recovery(Some(Recovery { done, total }));
        let damage = match move_journal_record(database, &key).await {
            Ok(read) => read.err(),
            Err(error) => {
                moved = Err(error);
                match read_journal_record(database, &key).await {
                    Ok(Some(Ok(changes))) => {
                        left.extend(changes);
                        None
                    }
                    Ok(Some(Err(damage))) => Some(damage),
                    Ok(None) | Err(_) => None,
                }
            }
        };
        if let Some(damage) = damage {
            unreadable::note(Place::Record(Store::LegacyJournal, key), &damage);
        }
    }
    if total > 0 {
        super::tell_recovery(None);
    }
    moved
}

async fn move_rows(database: &Database, left: &mut Vec<Change>) -> Result<(), DatabaseError> {
    // Most databases have none, and a transaction that only reads does not wait for others.
    if database.keys(Store::LegacyRows, "").await?.is_empty() {
        return Ok(());
    }
    let mut last = String::new();
    let moved = loop {
        match move_next_rows(database, &last).await {
            Ok(Some(key)) => last = key,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
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
    // Whatever is not a string is left.
    for key in database.keys(Store::LegacyRows, "").await? {
        unreadable::note(Place::Record(Store::LegacyRows, key), &Damage::Shape);
    }
    Ok(())
}
