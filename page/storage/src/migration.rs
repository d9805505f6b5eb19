//! Migrates the records of earlier versions when the database is opened.
//!
//! If a record cannot be moved (out of space, a read-only database), it is returned as changes to be made in memory.
//! The page reads it from there, and the next visit tries again.

use volary_view::recovery::Recovery;

use super::unreadable::{self, RecordLocation};
use volary_browser::database::{
    Damage, Database, DatabaseChange, DatabaseError, Store, move_journal_record, move_next_rows,
    read_journal_record, row_changes,
};

/// The number of rows per read when they cannot be moved.
const ROWS: u32 = 2000;

/// Migrates everything; the records that could not be moved are added to `left`.
pub(super) async fn run(
    database: &Database,
    left: &mut Vec<DatabaseChange>,
) -> Result<(), DatabaseError> {
    let journal = move_journal(database, left).await;
    // Even if moving the journal failed: the journal may have been too large for the remaining space.
    let rows = move_rows(database, left).await;
    journal.and(rows)
}

async fn move_journal(
    database: &Database,
    left: &mut Vec<DatabaseChange>,
) -> Result<(), DatabaseError> {
    let keys = database.keys(Store::LegacyJournal, "").await?;
    let total = keys.len();
    let mut moved = Ok(());
    for (done, key) in keys.into_iter().enumerate() {
        super::set_recovery(Some(Recovery { done, total }));
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
            unreadable::note(RecordLocation::Record(Store::LegacyJournal, key), &damage);
        }
    }
    if total > 0 {
        super::set_recovery(None);
    }
    moved
}

async fn move_rows(
    database: &Database,
    left: &mut Vec<DatabaseChange>,
) -> Result<(), DatabaseError> {
    // Most databases have none, and a read-only transaction does not wait for others.
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
    // Only values that are not strings are left.
    for key in database.keys(Store::LegacyRows, "").await? {
        unreadable::note(
            RecordLocation::Record(Store::LegacyRows, key),
            &Damage::Shape,
        );
    }
    Ok(())
}
