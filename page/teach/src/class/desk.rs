//! A pupil's work on an assignment as signals: carries out the effects of [`volary_app::class::work_desk`].
//!
//! Invariant: what the state machine says is kept is in the browser's storage before the next event is handled.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::class::work_desk::{self, Event, HandInRoute, WorkDesk};
use volary_classroom::{Assignment, Name};

use super::service;
use crate::learn::player::EpisodePlayer;
use volary_browser::storage::{self, Keep};
use volary_browser::{self as browser, files, timers};

/// The work on an assignment.
#[derive(Clone, Copy)]
pub struct Desk {
    pub state: RwSignal<WorkDesk>,
}

impl Desk {
    /// The work that this browser keeps, or a new one.
    pub fn open(assignment: Arc<Assignment>) -> Desk {
        let class = assignment.class.clone();
        let class = class.filter(|class| service::address(&class.url).is_ok());
        let route = class.map_or(HandInRoute::File, HandInRoute::Class);
        let given = Arc::clone(&assignment);
        let kept = |record: work_desk::WorkRecord| storage::get(Keep::Always, &record.key(&given));
        let desk = WorkDesk::open(assignment, route, kept, browser::random_secret);
        Desk {
            state: RwSignal::new(desk),
        }
    }

    /// Keeps what a player shows, whenever it has changed and nothing is in progress.
    pub fn follow(self, place: usize, player: EpisodePlayer) {
        Effect::new(move |_| {
            let has_begun = player.edition.get() > 0;
            let is_settled = !player.is_busy.get();
            // After an error the player may show less than was played.
            let is_sound = player.problem.with(Option::is_none);
            player.episode.track();
            if has_begun && is_settled && is_sound {
                let episode = player.episode.get_untracked();
                self.handle(Event::Played { place, episode });
            }
        });
    }

    pub fn name(self, name: Name) {
        self.handle(Event::Named(name));
    }

    /// Hands in: to the class if it can be reached, otherwise as a file.
    pub fn hand_in(self) {
        let now = timers::wall_clock();
        self.handle(Event::HandIn { now });
    }

    /// Saves the work as a file.
    pub fn save(self) {
        let now = timers::wall_clock();
        self.handle(Event::Save { now });
    }

    fn handle(self, event: Event) {
        // The page may show another assignment by now.
        let effects = self.state.try_update(|desk| desk.update(event));
        for effect in effects.into_iter().flatten() {
            self.carry_out(effect);
        }
    }

    fn carry_out(self, effect: work_desk::Effect) {
        match effect {
            work_desk::Effect::Keep { record, text } => {
                let is_kept = storage::set(Keep::Always, &self.key(record), &text);
                self.handle(Event::Kept { record, is_kept });
            }
            work_desk::Effect::Remove(record) => storage::remove(Keep::Always, &self.key(record)),
            work_desk::Effect::Submit { class, submission } => browser::spawn(async move {
                let receipt = service::hand_in(&class, &submission).await;
                self.handle(Event::Answered(receipt.map(|receipt| receipt.received)));
            }),
            work_desk::Effect::Download { name, text } => {
                files::download(&name, "application/json", text.as_bytes());
            }
        }
    }

    fn key(self, record: work_desk::WorkRecord) -> String {
        self.state
            .with_untracked(|desk| record.key(desk.assignment()))
    }
}
