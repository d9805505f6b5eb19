//! The address and the playground: what the hash says is opened, and what is selected is written
//! into the hash, so that a copied address leads to the same place.

use std::time::Duration;

use leptos::prelude::*;
use volary_trajectory::{Episode, share};

use super::consent::{Author, PlannedEpisode, Standing, Then, Verdict, judge};
use super::intents::Intent;
use super::session::Session;
use super::state::Playground;
use crate::browser::{location, timers};
use crate::components::erased::watch;
use crate::projection::notice::Notice;
use crate::route::{Place, Route};

/// How long the selection must rest before it is written into the address: browsers refuse
/// addresses that change too often.
const REST: Duration = Duration::from_millis(400);

impl Playground {
    /// Follows the address: opens what it names, selects the step that it names. An address that
    /// leads nowhere leads to the playground, which says so.
    pub fn follow(self, route: Route) {
        match route {
            Route::Playground(place) => self.go_to(place),
            // Another page is shown; the playground stays as it is.
            Route::Evaluate { .. }
            | Route::Review(_)
            | Route::Settings
            | Route::Template
            | Route::Environments { .. } => {}
            Route::Unknown { path } => {
                self.go_to(Place::default());
                let path: String = path.chars().take(60).collect();
                self.alert(Notice::new(
                    format!("Page \"{path}\" not found."),
                    "This address does not exist.",
                    "You can continue here in the playground.",
                ));
            }
        }
    }

    /// The first environment's place needs no code that is not here.
    fn go_to(self, place: Place) {
        let plain = place.episode.is_none()
            && place
                .environment
                .as_deref()
                .is_none_or(|name| name == volary_envs::CARDS[0].name);
        if plain && self.edition.get_untracked() == 0 && !self.whole.get_untracked() {
            self.place.set(place.clone());
            if self.begin_known() {
                return;
            }
        }
        self.intend(Intent::Follow(place));
    }

    pub(super) fn follow_place(self, place: &Place) {
        let here = self.place.get_untracked();
        let first = self.edition.get_untracked() == 0 && !self.is_opening();
        let elsewhere =
            here.environment != place.environment || here.episode != place.episode || first;
        self.place.set(place.clone());
        if !elsewhere {
            if let Some(step) = place.step {
                self.selected.set(step.min(self.last_step()));
            }
            return;
        }
        self.planned.set(None);
        self.wanted_step.set_value(place.step);
        match (&place.episode, place.environment.as_deref()) {
            (Some(text), environment) => self.open_link(text, environment),
            (None, Some(name)) if self.judge_address(name) == Verdict::Ask => self.plan_task(name),
            (None, environment) => self.begin(environment),
        }
    }

    /// Goes to an environment because the user chose it.
    pub fn go_to_environment(self, name: &str) {
        let place = Place {
            environment: Some(name.to_owned()),
            ..Place::default()
        };
        let hash = place.to_hash();
        if self.standing(name) == Standing::Connected {
            // The address says it afterwards: what an address names does not run on a server by itself.
            self.planned.set(None);
            self.place.set(place);
            location::go(&hash);
            self.begin(Some(name));
        } else if location::hash() == hash {
            self.begin(Some(name));
        } else {
            location::go(&hash);
        }
    }

    /// What is done with an environment that the address names.
    fn judge_address(self, environment: &str) -> Verdict {
        judge(Author::Content, self.standing(environment))
    }

    /// Writes the environment that was set up in another way into the address.
    pub(super) fn show_environment_in_address(self) {
        let environment = self.setup.environment.get_untracked().to_string();
        if self
            .place
            .with_untracked(|place| place.environment.as_deref() != Some(&environment))
        {
            self.set_place(Place {
                environment: Some(environment),
                ..Place::default()
            });
        }
    }

    /// The episode goes another way than the link that it came from.
    pub(super) fn depart_from_link(self) {
        if self.is_linked() {
            let environment = self.place.with_untracked(|place| place.environment.clone());
            self.set_place(Place {
                environment,
                ..Place::default()
            });
        }
    }

    /// Writes the selected step into the address, whenever it rests. An address without the episode leads to
    /// no step of it, so it names none.
    pub fn write_address(self) {
        let soon = StoredValue::new_local(None);
        // Nothing is written while an episode is being opened; what was selected meanwhile is written then.
        let opening = Memo::new(move |_| self.session.with(Session::is_opening));
        watch(move || {
            self.selected.track();
            self.edition.track();
            opening.track();
            let write = move || self.write_step();
            soon.set_value(self.is_linked().then(|| timers::alarm(REST, write)));
        });
    }

    /// Whether the address holds the episode.
    fn is_linked(self) -> bool {
        self.place.with_untracked(|place| place.episode.is_some())
    }

    /// The selected step, as an address names it: without one it leads to the last.
    pub(super) fn step_in_address(self) -> Option<usize> {
        let selected = self.selected.get_untracked();
        (selected != self.last_step()).then_some(selected)
    }

    fn write_step(self) {
        let place = self.place.get_untracked();
        let step = self.step_in_address();
        let is_shown = self.planned.with_untracked(Option::is_none);
        if place.step != step && place.episode.is_some() && !self.is_opening() && is_shown {
            self.set_place(Place { step, ..place });
        }
    }

    /// Shows an episode that was kept, from whatever page.
    pub fn visit(self, episode: Episode) {
        let environment = episode.environment().map(|name| name.to_string());
        self.show(episode);
        let place = Place {
            environment,
            ..Place::default()
        };
        self.wanted_step.set_value(None);
        self.selected.set(0);
        // Before the address says it: going there must not open anything else.
        self.place.set(place.clone());
        location::go(&place.to_hash());
    }

    pub(super) fn set_place(self, place: Place) {
        // The episode may go on while another page is shown.
        if matches!(Route::parse(&location::hash()), Route::Playground(_)) {
            location::replace(&Route::Playground(place.clone()).to_hash());
        }
        self.place.set(place);
    }

    fn is_opening(self) -> bool {
        self.session.with_untracked(Session::is_opening)
    }

    fn open_link(self, text: &str, environment: Option<&str>) {
        let shared = match share::decode(text) {
            Ok(shared) => shared,
            Err(error) => return self.say_unreadable(&error.to_string(), environment),
        };
        match self.judge_address(&shared.recipe.environment) {
            Verdict::Run => {
                self.show_recipe(&shared.recipe);
                self.open(shared.recipe, shared.actions);
            }
            Verdict::Ask => {
                let step = self.wanted_step.try_update_value(Option::take).flatten();
                self.plan(PlannedEpisode {
                    recipe: shared.recipe,
                    actions: shared.actions,
                    then: Then::Open(step),
                });
            }
            Verdict::NotConnected => {
                self.say_unreadable(
                    "It was recorded on a server that you are not connected to.",
                    environment,
                );
                self.say_not_connected(&shared.recipe.environment);
            }
            Verdict::Unknown => self.say_unreadable(
                &format!(
                    "It uses the environment \"{}\", which this page does not have.",
                    shared.recipe.environment
                ),
                environment,
            ),
        }
    }

    /// A link that can't be read leaves a running episode alone; on a fresh page the environment is
    /// opened without it.
    fn say_unreadable(self, reason: &str, environment: Option<&str>) {
        self.wanted_step.set_value(None);
        let place = self.place.get_untracked();
        self.set_place(Place {
            episode: None,
            ..place
        });
        if self.edition.get_untracked() == 0 {
            let local = environment.filter(|name| self.standing(name) == Standing::Local);
            self.begin(local);
        }
        self.alert(Notice::new(
            "The episode in the link could not be opened.",
            reason,
            "Ask for the complete link or for the episode as a file.",
        ));
    }
}
