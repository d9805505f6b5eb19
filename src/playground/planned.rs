//! Episodes that wait for consent before they run: what asks for it, and what happens on the answer.
//! [`volary_app::playground::consent`] decides which ones wait.

use leptos::prelude::*;
use volary_remote::task;
use volary_trajectory::Recipe;

use super::intents::Intent;
use super::state::Playground;
use crate::remote::servers;
use crate::route::Place;
use volary_app::playground::consent::{PlannedEpisode, Resumed, Standing, Then};

impl Playground {
    /// What this page knows of an environment.
    pub(super) fn standing(self, environment: &str) -> Standing {
        untrack(|| {
            if self.entry(environment).is_some() {
                Standing::Local
            } else if self.server(environment).is_some() {
                Standing::Connected
            } else if let Some(entry) = self.python_entry(environment) {
                // Code that ran in this browser was seen and agreed to: its name is the hash of the code.
                match entry.description {
                    Some(_) => Standing::Local,
                    None => Standing::Connected,
                }
            } else if task::python_file(environment).is_some() {
                Standing::Connected
            } else if task::is_server(environment) {
                Standing::NotConnected
            } else {
                Standing::Unknown
            }
        })
    }

    /// Shows an episode that content wants to run as a plan. A page that shows nothing yet shows its first episode behind
    /// it, which calls nobody.
    pub(super) fn plan(self, plan: PlannedEpisode) {
        self.begin_behind();
        self.planned.set(Some(plan));
    }

    /// Shows the first episode behind a question if nothing is shown yet.
    pub(super) fn begin_behind(self) {
        if self.edition.get_untracked() == 0 {
            self.wanted_step.set_value(None);
            self.begin_known();
        }
    }

    /// Plans a new environment on a server that an address names without an episode.
    pub(super) fn plan_task(self, url: &str) {
        let Some(server) = untrack(|| self.server(url)) else {
            return;
        };
        let configuration = servers::first_task(&server);
        let recipe = servers::recipe(&server.url, &configuration).unwrap_or_else(|_| Recipe {
            environment: server.url.clone(),
            ..Recipe::default()
        });
        self.plan(PlannedEpisode {
            recipe,
            actions: Vec::new(),
            then: Then::Open(None),
        });
    }

    /// Plans what an intent would run on a server if the user has not agreed to that. Whether it did: then the intent waits.
    pub(super) fn must_ask(self, intent: &Intent) -> bool {
        let Some(wanted) = resumed(intent) else {
            return false;
        };
        let plan = self.episode.with_untracked(|episode| {
            let plan = PlannedEpisode::of_record(episode, wanted)?;
            let may_run = self
                .session
                .with_untracked(|session| session.may_rerun(episode, plan.actions.len()));
            (!may_run).then_some(plan)
        });
        let Some(mut plan) = plan else { return false };
        if self.standing(&plan.recipe.environment) != Standing::Connected {
            // It can't run at all, which is said where it is tried.
            return false;
        }
        if wanted == Resumed::Reset {
            let setup = self.setup;
            let chosen = setup.environment.get_untracked();
            if chosen != plan.recipe.environment {
                // The user chose another environment since.
                return false;
            }
            let configuration = setup.form.with_untracked(|form| form.filled());
            plan.recipe.configuration = configuration.as_object().cloned().unwrap_or_default();
        }
        self.planned.set(Some(plan));
        true
    }

    /// Takes what is planned; where nothing is, nobody hears of a change.
    fn take_planned(self) -> Option<PlannedEpisode> {
        let is_planned = self.planned.with_untracked(Option::is_some);
        is_planned
            .then(|| self.planned.try_update(Option::take).flatten())
            .flatten()
    }

    /// The user agreed: runs what is planned.
    pub(super) fn run_planned(self) {
        let Some(plan) = self.take_planned() else {
            return;
        };
        match plan.then {
            Then::Open(step) => {
                self.show_recipe(&plan.recipe);
                self.wanted_step.set_value(step);
                self.open(plan.recipe, plan.actions);
            }
            Then::Resume(Resumed::Reset) => self.reset(),
            Then::Resume(wanted) => {
                let actions = plan.actions.len();
                self.session
                    .update_untracked(|session| session.agree(actions));
                self.intend(wanted.into());
            }
        }
    }

    /// The user does not want what is planned: the address says again what is shown.
    pub(super) fn dismiss_planned(self) {
        let Some(plan) = self.take_planned() else {
            return;
        };
        if matches!(plan.then, Then::Open(_)) {
            self.wanted_step.set_value(None);
            let environment = self.setup.environment.get_untracked();
            self.set_place(Place {
                environment: (!environment.is_empty()).then(|| environment.to_string()),
                ..Place::default()
            });
        }
    }
}

/// What of a record an intent runs again.
fn resumed(intent: &Intent) -> Option<Resumed> {
    match intent {
        Intent::Reset => Some(Resumed::Reset),
        Intent::Step => Some(Resumed::Step),
        Intent::StepByHand => Some(Resumed::StepByHand),
        Intent::EditLastAction => Some(Resumed::EditLastAction),
        Intent::GoBack(steps) => Some(Resumed::GoBack(*steps)),
        Intent::Run => Some(Resumed::Run),
        Intent::RunAgain => Some(Resumed::RunAgain),
        _ => None,
    }
}

impl From<Resumed> for Intent {
    fn from(wanted: Resumed) -> Intent {
        match wanted {
            Resumed::Reset => Intent::Reset,
            Resumed::Step => Intent::Step,
            Resumed::StepByHand => Intent::StepByHand,
            Resumed::EditLastAction => Intent::EditLastAction,
            Resumed::GoBack(steps) => Intent::GoBack(steps),
            Resumed::Run => Intent::Run,
            Resumed::RunAgain => Intent::RunAgain,
        }
    }
}
