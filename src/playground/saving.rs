//! Stores episodes that were played here in the library. `volary_app::playground::saver` decides when, and under which
//! id.

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_app::playground::replay::is_over;
use volary_episode::{Episode, Link, Relation, native};

use super::state::Playground;
use super::url_sync;
use crate::browser::database::KeptText;
use crate::browser::{self, location};
use crate::navigation::{Page, use_pages};
use crate::storage;
use crate::storage::episodes::{self, StoredEpisode};
use crate::storage::origin::PLAYED;
use volary_app::notice::Notice;

/// Records that a step was taken here.
pub(super) fn played(playground: Playground) {
    playground.saver.update_value(|saver| saver.step_taken());
    if playground
        .episode
        .with_untracked(|episode| is_over(episode))
    {
        keep_played(playground);
    }
}

/// Records that the episode was replayed up to its current step, and where the replay first differs.
pub(super) fn replayed(playground: Playground, differs: Option<usize>) {
    let steps = playground
        .episode
        .with_untracked(|episode| episode.steps.len());
    playground
        .saver
        .update_value(|saver| saver.replayed(steps, differs));
}

/// The stored branch of which the shown episode is a fork, if any.
pub(super) fn fork_of(playground: Playground, episode: &Episode) -> Option<Link> {
    let branch = (episode.id.clone(), playground.edition.get());
    playground.saver.with_value(|saver| saver.fork_of(&branch))
}

/// The id under which the shown episode is stored.
pub(super) fn stored_id(playground: Playground, episode: &Episode) -> Option<String> {
    let branch = (episode.id.clone(), playground.edition.get_untracked());
    let id = playground
        .saver
        .with_value(|saver| saver.stored_id(&branch));
    id.map(|id| id.to_string())
}

/// Stores the shown episode if steps were taken since it was stored.
pub(super) fn keep_played(playground: Playground) {
    let edition = playground.edition.get_untracked();
    let copy = playground.episode.with_untracked(|episode| {
        let branch = (episode.id.clone(), edition);
        let taken = playground.saver.try_update_value(|saver| {
            let id = saver.take(branch.clone())?;
            Some((id, saver.fork_of(&branch)))
        });
        taken.flatten().map(|(id, origin)| {
            let mut copy = Episode {
                id,
                ..Episode::clone(episode)
            };
            if let Some(origin) = origin {
                copy.links.retain(|link| link.relation != Relation::Branch);
                copy.links.push(origin);
            }
            copy
        })
    });
    let Some(copy) = copy.filter(|copy| !copy.steps.is_empty()) else {
        return;
    };
    // The page may be about to close, so write the address of a long episode, which contains its id, now.
    url_sync::write_now(playground);
    let row = Row::of(&copy, Vec::new());
    let text = KeptText::from(native::to_text(&copy));
    let episode = StoredEpisode::new(row, text, PLAYED);
    browser::spawn(async move {
        let was_refused = untrack(storage::problem).is_some();
        match storage::write(episodes::storing(Vec::new(), vec![episode])).await {
            // There is space again, for earlier episodes too.
            Ok(()) if was_refused => {
                // The notice about the first refusal covers another one.
                let _ = storage::keep_all().await;
            }
            Ok(()) => {}
            // One notice until something can be stored again: in a private window, every episode is refused.
            Err(_) if was_refused => {}
            Err(error) => playground.alert(Notice::new(
                "The episode is not stored: it is lost when you leave this page.",
                error.to_string(),
                format!("{} Export saves this episode.", error.advice()),
            )),
        }
    });
}

/// Stores the shown episode whenever the user leaves it.
pub(super) fn keep_on_leaving(playground: Playground) {
    let pages = use_pages();
    Effect::new(move |_| {
        if pages.shown.get() != Page::Playground {
            keep_played(playground);
        }
    });
    location::on_leave(move || keep_played(playground));
    location::on_hidden(move || keep_played(playground));
}
