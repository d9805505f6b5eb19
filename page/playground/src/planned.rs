//! Episodes that wait for consent before they run: what requests consent, and how the answer is handled.
//! [`volary_app::playground::consent`] decides which episodes wait.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::{PlannedEpisode, Reach, Resumed, Then};
use volary_core::{AnyMessage, Object};
use volary_episode::Recipe;
use volary_remote::task;
use volary_view::route::PlaygroundPlace;

use super::entries;
use super::intent::Intent;
use super::opening_record;
use super::python;
use super::remote_environments;
use super::setup;
use super::shown_place;
use super::state::Playground;
use volary_connections::remote::servers;

/// Returns how much this page trusts and knows an environment.
pub(super) fn reach(playground: Playground, environment: &str) -> Reach {
    untrack(|| {
        if entries::entry(playground, environment).is_some() {
            Reach::Local
        } else if remote_environments::server(playground, environment).is_some() {
            Reach::Connected
        } else if let Some(entry) = python::python_entry(playground, environment) {
            // What a name opens is the code of the entry.
            if python::is_known_code(playground, &entry.recipe(&Object::new(), 0)) {
                Reach::Local
            } else {
                Reach::Connected
            }
        } else if task::python_file(environment).is_some() {
            Reach::Connected
        } else if task::is_server(environment) {
            Reach::NotConnected
        } else {
            Reach::Unknown
        }
    })
}

/// Returns how much this page trusts and knows the environment of a recipe, which contains the code of a Python file.
pub(super) fn reach_of_recipe(playground: Playground, recipe: &Recipe) -> Reach {
    if task::python_file(&recipe.environment).is_none() {
        return reach(playground, &recipe.environment);
    }
    if python::is_known_code(playground, recipe) {
        Reach::Local
    } else {
        Reach::Connected
    }
}

/// Plans an episode whose Python code the user has not agreed to. Returns whether it did; the episode then waits.
pub(super) fn must_show_code(
    playground: Playground,
    recipe: &Recipe,
    actions: &[AnyMessage],
) -> bool {
    let is_python = task::python_file(&recipe.environment).is_some();
    let must_show = is_python && !python::is_known_code(playground, recipe);
    if must_show {
        plan(
            playground,
            PlannedEpisode {
                recipe: recipe.clone(),
                actions: actions.to_vec(),
                then: Then::Open(None),
            },
        );
    }
    must_show
}

/// Shows a plan for an episode that untrusted content wants to run. If the page shows nothing yet, its first episode is
/// shown behind the dialog; that one calls no server.
pub(super) fn plan(playground: Playground, plan: PlannedEpisode) {
    begin_behind(playground);
    playground.planned().set(Some(plan));
}

/// Shows the first episode behind a dialog if nothing is shown yet.
pub(super) fn begin_behind(playground: Playground) {
    if playground.edition().get_untracked() == 0 {
        playground.update(Event::SelectOnceShown(None));
        opening_record::begin_known(playground);
    }
}

/// Plans a new environment on a server, when an address names the server without an episode.
pub(super) fn plan_task(playground: Playground, url: &str) {
    let Some(server) = untrack(|| remote_environments::server(playground, url)) else {
        return;
    };
    let configuration = servers::first_task(&server);
    let recipe = servers::recipe(&server.url, &configuration).unwrap_or_else(|_| Recipe {
        environment: server.url.clone(),
        ..Recipe::default()
    });
    plan(
        playground,
        PlannedEpisode {
            recipe,
            actions: Vec::new(),
            then: Then::Open(None),
        },
    );
}

/// Plans what an intent would run on a server, if the user has not agreed to that. Returns whether it did; the intent
/// then waits.
pub(super) fn must_ask(playground: Playground, intent: &Intent) -> bool {
    let Some(wanted) = resumed(intent) else {
        return false;
    };
    let plan = playground.with_untracked(|machine| {
        let episode = machine.episode();
        let actions = wanted.repeated_actions(episode);
        let may_run = machine.session().may_rerun(episode, actions);
        if may_run {
            None
        } else {
            PlannedEpisode::of_record(episode, wanted)
        }
    });
    let Some(mut plan) = plan else { return false };
    match reach_of_recipe(playground, &plan.recipe) {
        Reach::Connected => {}
        Reach::Local => {
            // The user knows its code.
            let actions = plan.actions.len();
            playground.update(Event::Agree { actions });
            return false;
        }
        // It cannot run at all; the attempt reports that.
        Reach::NotConnected | Reach::Unknown => return false,
    }
    if wanted == Resumed::Reset {
        let setup = playground.setup();
        let chosen = setup.environment.get_untracked();
        if chosen != plan.recipe.environment {
            // The user has chosen another environment since.
            return false;
        }
        let configuration = setup.form.with_untracked(|form| form.filled());
        let configuration = configuration.as_object().cloned().unwrap_or_default();
        match python::python_recipe(playground, &configuration, plan.recipe.seed) {
            Some(recipe) => plan.recipe = recipe,
            None => plan.recipe.configuration = configuration,
        }
    }
    playground.planned().set(Some(plan));
    true
}

/// Takes the plan. Without one, no subscriber is notified.
fn take_planned(playground: Playground) -> Option<PlannedEpisode> {
    let is_planned = playground.planned().with_untracked(Option::is_some);
    is_planned
        .then(|| playground.planned().try_update(Option::take).flatten())
        .flatten()
}

/// Runs the plan after the user agreed.
pub(super) fn run_planned(playground: Playground) {
    let Some(plan) = take_planned(playground) else {
        return;
    };
    python::agree(playground, &plan.recipe);
    match plan.then {
        Then::Open(step) => {
            playground.update(Event::SelectOnceShown(step));
            playground.replay(plan.recipe, plan.actions);
        }
        Then::Resume(Resumed::Reset) => setup::reset(playground),
        Then::Resume(wanted) => {
            let actions = plan.actions.len();
            playground.update(Event::Agree { actions });
            playground.intend(wanted.into());
        }
    }
}

/// Discards the plan after the user declined, and restores the address of the shown episode.
pub(super) fn dismiss_planned(playground: Playground) {
    let Some(plan) = take_planned(playground) else {
        return;
    };
    if matches!(plan.then, Then::Open(_)) {
        playground.update(Event::SelectOnceShown(None));
        let environment = playground.setup().environment.get_untracked();
        shown_place::set_place(
            playground,
            PlaygroundPlace {
                environment: (!environment.is_empty()).then(|| environment.to_string()),
                ..PlaygroundPlace::default()
            },
        );
    }
}

/// What an intent would run again of a recorded episode; `None` if it runs nothing again.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// After the user agreed, exactly what waited is done.
    #[test]
    fn what_waits_for_consent_is_what_is_done_after_it() {
        for wanted in [
            Resumed::Reset,
            Resumed::Step,
            Resumed::StepByHand,
            Resumed::EditLastAction,
            Resumed::GoBack(3),
            Resumed::Run,
            Resumed::RunAgain,
        ] {
            assert_eq!(resumed(&Intent::from(wanted)), Some(wanted));
        }
    }

    #[test]
    fn what_runs_nothing_needs_no_consent() {
        for intent in [
            Intent::LoadCode,
            Intent::Stop,
            Intent::Share,
            Intent::Undo,
            Intent::RunPlanned,
            Intent::DismissPlanned,
        ] {
            assert_eq!(resumed(&intent), None);
        }
    }
}
