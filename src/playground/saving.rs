//! Episodes that are played here go into the library. The rule: one in which a step was taken here is kept when it
//! ends, and when it is left, be it for another episode, another way from an earlier step, another page or
//! another tab. Whoever goes on with it then keeps it under the same id; another way gets one of its own.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trajectory::table::Row;
use volary_trajectory::{Episode, native};

use super::state::Playground;
use crate::browser::database::KeptText;
use crate::browser::{self, location};
use crate::components::erased::watch;
use crate::navigation::{Page, use_pages};
use crate::storage;
use crate::storage::episodes::{self, StoredEpisode};
use crate::storage::origin::PLAYED;
use volary_app::playground::replay::is_over;

/// What of the shown episode is kept.
#[derive(Clone, Debug, Default)]
pub struct Saver {
    /// Whether steps were taken here since it was kept.
    is_unsaved: bool,
    /// Which way it was when it was kept, and under which id.
    kept: Option<(Way, Text)>,
    /// How many ways of the episode were kept.
    ways: u32,
}

/// The id of an episode, and how often steps of it were replaced.
type Way = (Text, u32);

impl Saver {
    /// The id under which a way is stored with all its steps.
    fn stored(&self, way: &Way) -> Option<Text> {
        let kept = self.kept.as_ref().filter(|_| !self.is_unsaved);
        kept.filter(|(known, _)| known == way)
            .map(|(_, id)| id.clone())
    }

    /// The id under which to keep what is unsaved, if anything is.
    fn take(&mut self, way: Way) -> Option<Text> {
        if !std::mem::take(&mut self.is_unsaved) {
            return None;
        }
        let known = self.kept.take();
        let id = match known {
            Some((known, id)) if known == way => id,
            known => {
                let is_other = known.is_some_and(|((id, _), _)| id == way.0);
                self.ways = if is_other { self.ways + 1 } else { 1 };
                match self.ways {
                    1 => format!("played-{}", way.0).into(),
                    ways => format!("played-{}-{ways}", way.0).into(),
                }
            }
        };
        self.kept = Some((way, id.clone()));
        Some(id)
    }
}

impl Playground {
    /// A step was taken here.
    pub(super) fn played(self) {
        self.saver.update_value(|saver| saver.is_unsaved = true);
        if self.episode.with_untracked(|episode| is_over(episode)) {
            self.keep_played();
        }
    }

    /// The id under which the shown episode is stored.
    pub(super) fn stored_id(self, episode: &Episode) -> Option<String> {
        let way = (episode.id.clone(), self.edition.get_untracked());
        let id = self.saver.with_value(|saver| saver.stored(&way));
        id.map(|id| id.to_string())
    }

    /// Keeps the shown episode, if steps were taken in it since it was kept.
    pub(super) fn keep_played(self) {
        let edition = self.edition.get_untracked();
        let copy = self.episode.with_untracked(|episode| {
            let way = (episode.id.clone(), edition);
            let id = self.saver.try_update_value(|saver| saver.take(way));
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

    /// Keeps the shown episode whenever the person goes elsewhere.
    pub(super) fn keep_on_leaving(self) {
        let pages = use_pages();
        watch(move || {
            if pages.shown.get() != Page::Playground {
                self.keep_played();
            }
        });
        location::on_leave(move || self.keep_played());
        location::on_hidden(move || self.keep_played());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(saver: &mut Saver, id: &str, edition: u32) -> Option<String> {
        saver.is_unsaved = true;
        let id = saver.take((id.into(), edition));
        id.map(|id| id.to_string())
    }

    #[test]
    fn going_on_is_the_same_episode_and_another_way_is_not() {
        let mut saver = Saver::default();
        assert_eq!(saver.take(("a".into(), 0)), None);
        assert_eq!(take(&mut saver, "a", 0).as_deref(), Some("played-a"));
        assert_eq!(take(&mut saver, "a", 0).as_deref(), Some("played-a"));
        assert_eq!(saver.take(("a".into(), 0)), None);
        assert_eq!(take(&mut saver, "a", 1).as_deref(), Some("played-a-2"));
        assert_eq!(take(&mut saver, "b", 2).as_deref(), Some("played-b"));
    }
}
