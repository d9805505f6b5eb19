//! A pupil's work on an assignment: signals, and what is kept in the browser.
//!
//! Invariants: each step is kept before the next one can be taken. What is handed in is what is kept, so a task need
//! not be open. A failed hand-in changes nothing but the state of the delivery.

use std::sync::Arc;

use leptos::prelude::*;
use volary_classroom::wire::Submission;
use volary_classroom::work::Delivery;
use volary_classroom::{Assignment, HandIn, HandInError, Name, Standing, Work};
use volary_core::AnyMessage;
use volary_trajectory::{Episode, native};

use super::service;
use crate::browser::storage::{self, Keep};
use crate::browser::{self, files, timers};
use crate::learn::player::EpisodePlayer;
use crate::projection::notice::Notice;

/// Whether a hand-in is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandInState {
    Idle,
    Sending,
    /// The last one failed.
    Failed(Notice),
}

/// The work on an assignment.
#[derive(Clone, Copy)]
pub struct Desk {
    pub assignment: StoredValue<Arc<Assignment>>,
    pub work: RwSignal<Work>,
    /// The episode of each task; `None` if no step was taken.
    pub episodes: RwSignal<Vec<Option<Arc<Episode>>>>,
    pub sending: RwSignal<HandInState>,
    /// Whether the browser keeps the work. Some do not, in private windows or without space.
    pub is_kept: RwSignal<bool>,
    /// Incremented with each change of an episode.
    edits: StoredValue<u32>,
}

impl Desk {
    /// The work that this browser keeps, or a new one.
    pub fn open(assignment: Arc<Assignment>) -> Desk {
        let kept = storage::get(Keep::Always, &work_key(&assignment));
        let kept = kept.and_then(|text| Work::read(&text, &assignment));
        let episodes = (0..assignment.tasks.len()).map(|place| {
            kept.as_ref()?;
            let text = storage::get(Keep::Always, &episode_key(&assignment, place))?;
            let episode = native::read(&text).ok()?.episodes.into_iter().next()?;
            Some(Arc::new(episode))
        });
        let episodes = episodes.collect();
        let work = kept.unwrap_or_else(|| Work::new(&assignment, browser::random_secret()));
        Desk {
            assignment: StoredValue::new(assignment),
            work: RwSignal::new(work),
            episodes: RwSignal::new(episodes),
            sending: RwSignal::new(HandInState::Idle),
            is_kept: RwSignal::new(true),
            edits: StoredValue::new(0),
        }
    }

    /// The actions that were taken in a task.
    pub fn actions(self, place: usize) -> Vec<AnyMessage> {
        self.episodes.with_untracked(|episodes| {
            let episode = episodes.get(place).and_then(Option::as_ref);
            let actions = episode.map(|episode| episode.actions().cloned().collect());
            actions.unwrap_or_default()
        })
    }

    /// Keeps what a player shows, whenever it has changed and nothing is in progress.
    pub fn follow(self, place: usize, player: EpisodePlayer) {
        Effect::new(move |_| {
            let has_begun = player.edition.get() > 0;
            let is_settled = player.session.with(|session| !session.is_busy());
            // After an error the player may show less than was played.
            let is_sound = player.problem.with(Option::is_none);
            player.episode.track();
            if has_begun && is_settled && is_sound {
                self.keep_episode(place, &player.episode.get_untracked());
            }
        });
    }

    fn keep_episode(self, place: usize, episode: &Arc<Episode>) {
        let episode = (!episode.steps.is_empty()).then(|| Arc::clone(episode));
        let is_known = self.episodes.with_untracked(|episodes| {
            let known = episodes.get(place).and_then(Option::as_ref);
            match (known, &episode) {
                (Some(known), Some(episode)) => known.actions().eq(episode.actions()),
                (known, episode) => known.is_none() && episode.is_none(),
            }
        });
        if is_known {
            return;
        }
        let key = self
            .assignment
            .with_value(|assignment| episode_key(assignment, place));
        match &episode {
            Some(episode) => {
                let text = native::to_text(episode);
                self.is_kept.set(storage::set(Keep::Always, &key, &text));
            }
            None => storage::remove(Keep::Always, &key),
        }
        self.episodes.update(|episodes| {
            if let Some(known) = episodes.get_mut(place) {
                *known = episode;
            }
        });
        self.edits.update_value(|edits| *edits += 1);
        self.change(Work::change);
    }

    /// Changes the work and keeps it.
    pub fn change(self, change: impl FnOnce(&mut Work)) {
        // The page may show another assignment by now.
        let text = self.work.try_update(|work| {
            change(work);
            work.to_text()
        });
        if let Some(text) = text {
            let key = self
                .assignment
                .with_value(|assignment| work_key(assignment));
            if !storage::set(Keep::Always, &key, &text) {
                self.is_kept.set(false);
            }
        }
    }

    /// What was reached in a task.
    pub fn standing(self, place: usize) -> Standing {
        self.episodes.with(|episodes| {
            let episode = episodes.get(place).and_then(Option::as_deref);
            Standing::of(Name::default(), episode)
        })
    }

    /// The number of tasks with at least one step.
    pub fn played(self) -> usize {
        self.episodes
            .with(|episodes| episodes.iter().flatten().count())
    }

    fn hand_in_value(self) -> Result<HandIn, HandInError> {
        let episodes = self.episodes.get_untracked().into_iter();
        let episodes = episodes.map(|episode| episode.map(Arc::unwrap_or_clone));
        let pupil = self.work.with_untracked(|work| work.pupil.clone());
        self.assignment
            .with_value(|assignment| HandIn::new(assignment, pupil, timers::wall_clock(), episodes))
    }

    /// Hands in to the class.
    pub fn send(self) {
        let class = self
            .assignment
            .with_value(|assignment| assignment.class.clone());
        let (Some(class), Some(hand_in)) = (class, self.made()) else {
            return;
        };
        let secret = self.work.with_untracked(|work| work.secret.clone());
        let submission = Submission { secret, hand_in };
        let edits = self.edits.get_value();
        self.sending.set(HandInState::Sending);
        self.change(Work::send);
        browser::spawn(async move {
            let receipt = service::hand_in(&class, &submission).await;
            let outcome = match receipt {
                Ok(receipt) => {
                    let is_changed = self.edits.try_get_value() != Some(edits);
                    self.change(|work| work.confirm(receipt.received, is_changed));
                    HandInState::Idle
                }
                Err(notice) => HandInState::Failed(notice),
            };
            self.sending.try_set(outcome);
        });
    }

    /// Saves the work as a file. Without a class, that is how it is handed in.
    pub fn save(self) {
        let Some(hand_in) = self.made() else {
            return;
        };
        let name = file_name(&[hand_in.pupil.as_str(), hand_in.title.as_str()]);
        files::download(
            &format!("{name}.json"),
            "application/json",
            hand_in.to_text().as_bytes(),
        );
        let is_by_file = self
            .assignment
            .with_value(|assignment| assignment.class.is_none());
        if is_by_file {
            self.change(|work| work.confirm(hand_in.handed_in, false));
        }
    }

    /// The hand-in; shows what is missing.
    fn made(self) -> Option<HandIn> {
        match self.hand_in_value() {
            Ok(hand_in) => {
                self.sending.set(HandInState::Idle);
                Some(hand_in)
            }
            Err(error) => {
                self.sending.set(HandInState::Failed(Notice::new(
                    "Your work was not handed in.",
                    error.to_string(),
                    "",
                )));
                None
            }
        }
    }

    /// Whether a hand-in was sent and never confirmed, in this visit or an earlier one.
    pub fn is_unconfirmed(self) -> bool {
        let is_idle = self.sending.with(|sending| *sending == HandInState::Idle);
        is_idle
            && self
                .work
                .with(|work| work.delivery == Delivery::Unconfirmed)
    }
}

/// A file name of letters, digits and dashes.
pub fn file_name(parts: &[&str]) -> String {
    let joined = parts.join(" ").to_lowercase();
    let plain = joined.chars().map(|character| match character {
        character if character.is_alphanumeric() => character,
        _ => '-',
    });
    let plain: String = plain.take(80).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        true => "volary".to_owned(),
        false => words.join("-"),
    }
}

fn work_key(assignment: &Assignment) -> String {
    format!("class.{}", assignment.id)
}

fn episode_key(assignment: &Assignment, place: usize) -> String {
    format!("class.{}.{place}", assignment.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_of_any_text() {
        assert_eq!(file_name(&["Ada L.", "Sums / 1"]), "ada-l-sums-1");
        assert_eq!(file_name(&["李雷", "../x"]), "李雷-x");
        assert_eq!(file_name(&["", "?"]), "volary");
    }
}
