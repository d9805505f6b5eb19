//! The reward that the user chose for a run whose files do not say which one counts. It is kept in the browser, so that the user
//! chooses once. An address that names a reward comes first.

use volary_view::route::TrainingPlace;

use volary_browser::storage::{self, Keep};

fn key(run: &str) -> String {
    format!("training-reward.{run}")
}

/// The reward of a run at a place: what the address names, otherwise what was chosen before.
pub(super) fn reward(place: &TrainingPlace, run: &str) -> Option<String> {
    let named = place.reward.clone();
    named.or_else(|| storage::get(Keep::Always, &key(run)))
}

/// Keeps a choice. If the browser refuses, the address still names it.
pub(super) fn keep(run: &str, reward: &str) {
    storage::set(Keep::Always, &key(run), reward);
}
