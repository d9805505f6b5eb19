//! Writes the results of an evaluation to storage.

use volary_app::evaluation::{DraftChange, StoredResult};
use volary_core::json::Text;

use volary_browser::database::{DatabaseChange, DatabaseError};
use volary_storage as storage;
use volary_storage::episodes::{self, StoredEpisode};
use volary_storage::evaluations as kept;

/// Whether the episodes of first attempts are expected to be new.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstAttempts {
    New,
    MayExist,
}

/// Stores results with their episodes and drafts in one transaction.
pub(super) async fn store(
    id: &str,
    results: Vec<StoredResult<StoredEpisode>>,
) -> Result<(), DatabaseError> {
    match storage::write(changes(id, &results, FirstAttempts::New)).await {
        Err(DatabaseError::Taken) => {
            storage::write(changes(id, &results, FirstAttempts::MayExist)).await
        }
        stored => stored,
    }
}

fn changes(
    id: &str,
    results: &[StoredResult<StoredEpisode>],
    first_attempts: FirstAttempts,
) -> Vec<DatabaseChange> {
    let (mut new, mut others) = (Vec::new(), Vec::new());
    for StoredResult {
        result, episode, ..
    } in results
    {
        let is_new = result.attempts <= 1 && first_attempts == FirstAttempts::New;
        let episodes = if is_new { &mut new } else { &mut others };
        episodes.extend(episode.clone());
    }
    let mut changes = episodes::storing(new, others);
    for StoredResult { result, draft, .. } in results {
        changes.push(kept::keeping_result(id, result));
        match draft {
            DraftChange::None => {}
            DraftChange::Put(draft) => changes.push(kept::keeping_draft(id, result.cell, draft)),
            DraftChange::Delete => changes.extend(kept::forgetting_draft(id, result.cell)),
        }
    }
    changes
}

/// The message shown when the browser refuses to store results.
pub(super) fn problem(error: &DatabaseError) -> Text {
    format!(
        "{error} Results since then are only in this tab and are lost when it is closed: save them \
         as a file. {}",
        error.advice()
    )
    .into()
}
