//! Reads and writes the episodes that are stored in this browser. The machine decides when, and under which id.

use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_core::json::Text;
use volary_episode::{Episode, native};

use super::state::Playground;
use volary_browser::database::KeptText;
use volary_browser::{self as browser, crash_recovery, location};
use volary_storage as storage;
use volary_storage::episodes::{self, StoredEpisode};
use volary_storage::origin::PLAYED;
use volary_ui::navigation::{Page, use_pages};

/// Stores an episode that was played here.
pub(super) fn store(playground: Playground, episode: Episode) {
    let row = Row::of(&episode, Vec::new());
    let text = KeptText::from(native::to_text(&episode));
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

/// Reads an episode that is stored in this browser.
pub(super) fn read_stored(playground: Playground, id: Text) {
    browser::spawn(async move {
        let stored = episodes::text(&id).await.ok().flatten();
        let read = stored.and_then(|stored| native::read(&stored.to_text()).ok());
        let episode = read.and_then(|reading| reading.episodes.into_iter().next());
        let episode = episode.map(Box::new);
        playground.update(Event::StoredRead { id, episode });
    });
}

/// Preserves the episode if the page crashes.
pub(super) fn preserve_in_crash(playground: Playground) {
    let episode = playground.episode();
    crash_recovery::save_with(move || {
        let text = episode.try_with_untracked(|episode| native::to_text(episode));
        text.filter(|_| playground.last_step() > 0)
    });
}

/// Stores the shown episode whenever the user leaves it.
pub(super) fn keep_on_leaving(playground: Playground) {
    let leave = move || playground.update(Event::Leave);
    let pages = use_pages();
    Effect::new(move |_| {
        if pages.shown.get() != Page::Playground {
            leave();
        }
    });
    location::on_leave(leave);
    location::on_hidden(leave);
}
