//! The address is the state of the playground: opening it gives the same episode, policy and selected step again.
//!
//! Invariants: an address is written only while nothing is being opened and nothing waits for consent; reading one
//! makes nothing run on a server or in Python without consent (`consent.rs`).

use std::time::Duration;
use volary_app::playground::policy::PolicyKind;

use leptos::prelude::*;
use volary_trajectory::{Episode, Recipe, native, share};

use super::intents::Intent;
use super::linked_code;
use super::state::Playground;
use crate::browser::{self, location, timers};
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::route::{Place, Route};
use crate::storage::episodes;
use volary_app::playground::address::{Start, encoded_steps, start_of, step_in_address};
use volary_app::playground::consent::{Author, PlannedEpisode, Standing, Then, Verdict, judge};
use volary_app::playground::session::Session;
use volary_app::playground::tasks;

/// How long the state must rest before it is written into the address: browsers throttle frequent changes.
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
            | Route::Template { .. }
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
        let is_known = place.is_plain()
            && place.policy.is_none()
            && place
                .environment
                .as_deref()
                .is_none_or(|name| name == volary_envs::CARDS[0].name);
        if is_known && self.edition.get_untracked() == 0 && !self.whole.get_untracked() {
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
        let elsewhere = !here.has_episode_of(place) || first;
        self.place.set(place.clone());
        self.follow_policy(place);
        if !elsewhere {
            if let Some(step) = place.step {
                self.selected.set(step.min(self.last_step()));
            }
            return;
        }
        self.planned.set(None);
        linked_code::asked(self).set(None);
        self.wanted_step.set_value(place.step);
        let environment = place.environment.as_deref();
        if let (Some(linked_code::ENVIRONMENT), Some(url)) = (environment, &place.url) {
            return linked_code::open(self, url);
        }
        match (&place.episode, &place.stored, environment) {
            (Some(text), _, _) => self.open_link(text, environment),
            (None, Some(id), _) => self.open_stored(id, environment),
            (None, None, Some(name)) if self.judge_address(name) == Verdict::Ask => {
                self.plan_task(name);
            }
            (None, None, _) => self.begin_task(place),
        }
    }

    /// Selects the policy of an address. An unknown one leaves the policy as it is.
    fn follow_policy(self, place: &Place) {
        let wanted = place.policy.as_deref().and_then(PolicyKind::of_address);
        let wanted = wanted.filter(|kind| *kind != self.drive.kind.get_untracked());
        if let Some(kind) = wanted {
            self.choose_policy(kind);
        }
    }

    /// Starts the task of an address.
    fn begin_task(self, place: &Place) {
        if let Some(seed) = place.seed {
            self.setup.seed.set(seed.to_string());
        }
        let environment = place.environment.as_deref();
        let Some(id) = &place.task else {
            return self.begin(environment);
        };
        let sources = self.setup.sources;
        match sources.with_untracked(|sources| tasks::find(sources, environment, id)) {
            Some(task) => self.pick_task(Some(task)),
            None => {
                self.begin(environment);
                let id: String = id.chars().take(60).collect();
                self.alert(Notice::new(
                    format!("Unknown task \"{id}\"."),
                    "The address names a task that this environment does not have.",
                    "Choose one of its tasks on the left.",
                ));
            }
        }
    }

    /// Shows an episode that is stored in this browser.
    fn open_stored(self, id: &str, environment: Option<&str>) {
        let (id, environment) = (id.to_owned(), environment.map(str::to_owned));
        browser::spawn(async move {
            let stored = episodes::text(&id).await.ok().flatten();
            let read = stored.and_then(|stored| native::read(&stored.to_text()).ok());
            // The user may have gone elsewhere meanwhile.
            if self
                .place
                .with_untracked(|place| place.stored.as_ref() != Some(&id))
            {
                return;
            }
            match read.and_then(|reading| reading.episodes.into_iter().next()) {
                Some(episode) => self.show(episode),
                None => {
                    self.begin(environment.as_deref());
                    self.alert(Notice::new(
                        "The episode of this address could not be opened.",
                        "It was stored in the browser that made the address, and is not in this one.",
                        "Ask for the episode as a file.",
                    ));
                }
            }
        });
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

    /// Writes the state into the address, whenever it rests.
    pub fn write_address(self) {
        let soon = StoredValue::new_local(None);
        let is_opening = Memo::new(move |_| self.session.with(Session::is_opening));
        Effect::new(move |_| {
            self.selected.track();
            self.edition.track();
            self.episode.track();
            self.drive.kind.track();
            is_opening.track();
            soon.set_value(Some(timers::alarm(REST, move || self.write_now())));
        });
    }

    /// The selected step, as an address names it: without one it leads to the last.
    pub(super) fn step_in_address(self) -> Option<usize> {
        step_in_address(self.selected.get_untracked(), self.last_step())
    }

    pub(super) fn write_now(self) {
        let is_shown = self.planned.with_untracked(Option::is_none)
            && linked_code::asked(self).with_untracked(Option::is_none);
        let has_begun = self.edition.get_untracked() > 0;
        if !is_shown || !has_begun || self.is_opening() {
            return;
        }
        let place = self.address();
        if self.place.with_untracked(|shown| *shown != place) {
            self.set_place(place);
        }
    }

    /// The place of what is shown.
    fn address(self) -> Place {
        let kind = self.drive.kind.get_untracked();
        let place = self.place_of_episode();
        let leads_to_steps = place.episode.is_some() || place.stored.is_some();
        Place {
            policy: kind.in_address(),
            // An address without the steps cannot select one of them.
            step: self.step_in_address().filter(|_| leads_to_steps),
            ..place
        }
    }

    /// The place of the shown episode: its task if no step was taken; otherwise the episode, encoded or stored.
    fn place_of_episode(self) -> Place {
        self.episode.with_untracked(|episode| {
            let environment = episode.environment().map(|name| name.to_string());
            let chosen = self.setup.environment.get_untracked();
            let place = Place {
                environment: environment.or((!chosen.is_empty()).then(|| chosen.to_string())),
                ..Place::default()
            };
            // A record from the library stays what it is until a step is taken.
            let shown = self.place.get_untracked();
            let is_record = self.session.with_untracked(Session::is_record);
            if shown.stored.is_some() && is_record {
                return Place {
                    stored: shown.stored,
                    ..place
                };
            }
            let Some(recipe) = episode.recipe.as_ref() else {
                return place;
            };
            if episode.steps.is_empty()
                && let Some(start) = self.start_of(recipe)
            {
                return Place {
                    environment: Some(start.environment),
                    task: start.task,
                    seed: start.seed,
                    ..Place::default()
                };
            }
            let encoded = encoded_steps(recipe, episode);
            let stored = match encoded {
                Some(_) => None,
                None => self.stored_id(episode),
            };
            Place {
                episode: encoded,
                stored,
                ..place
            }
        })
    }

    /// The place that starts a recipe, if an address can name it.
    fn start_of(self, recipe: &Recipe) -> Option<Start> {
        let environment = &recipe.environment;
        let default = || {
            let entry = untrack(|| self.entry(environment))?;
            let filled = Form::new((entry.configuration)()).filled();
            filled.as_object().cloned()
        };
        self.setup.sources.with_untracked(|sources| {
            start_of(recipe, self.standing(environment), sources, default)
        })
    }

    /// Shows an episode that was kept, from whatever page.
    pub fn visit(self, episode: Episode) {
        let environment = episode.environment().map(|name| name.to_string());
        let place = Place {
            environment,
            stored: Some(episode.id.to_string()),
            ..Place::default()
        };
        self.show(episode);
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
            environment: place.environment,
            ..Place::default()
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
