//! Stores episodes that were played here in the library. When and under which id, `volary_app::playground::saver` decides.

use leptos::prelude::*;
use volary_trajectory::table::Row;
use volary_trajectory::{Episode, native};

use super::state::Playground;
use crate::browser::database::KeptText;
use crate::browser::{self, location};
use crate::navigation::{Page, use_pages};
use crate::storage;
use crate::storage::episodes::{self, StoredEpisode};
use crate::storage::origin::PLAYED;
use volary_app::playground::replay::is_over;

impl Playground {
    /// A step was taken here.
    pub(super) fn played(self) {
        self.saver.update_value(|saver| saver.step_taken());
        if self.episode.with_untracked(|episode| is_over(episode)) {
            self.keep_played();
        }
    }

    /// The id under which the shown episode is stored.
    pub(super) fn stored_id(self, episode: &Episode) -> Option<String> {
        let branch = (episode.id.clone(), self.edition.get_untracked());
        let id = self.saver.with_value(|saver| saver.stored_id(&branch));
        id.map(|id| id.to_string())
    }

    /// Stores the shown episode if steps were taken since it was stored.
    pub(super) fn keep_played(self) {
        let edition = self.edition.get_untracked();
        let copy = self.episode.with_untracked(|episode| {
            let branch = (episode.id.clone(), edition);
            let id = self.saver.try_update_value(|saver| saver.take(branch));
            id.flatten().map(|id| Episode {
                id,
                ..Episode::clone(episode)
            })
        });
        let Some(copy) = copy.filter(|copy| !copy.steps.is_empty()) else {
            return;
        };
        // The page may be about to close, so the address of a long episode is written with its id now.
        self.write_now();
        let row = Row::of(&copy, Vec::new());
        let text = KeptText::from(native::to_text(&copy));
        let episode = StoredEpisode::new(row, text, PLAYED);
        browser::spawn(async move {
            // What the browser refuses is in memory, and the library shows it from there.
            let _ = storage::write(episodes::storing(Vec::new(), vec![episode])).await;
        });
    }

    /// Stores the shown episode whenever the user leaves it.
    pub(super) fn keep_on_leaving(self) {
        let pages = use_pages();
        Effect::new(move |_| {
            if pages.shown.get() != Page::Playground {
                self.keep_played();
            }
        });
        location::on_leave(move || self.keep_played());
        location::on_hidden(move || self.keep_played());
    }
}
