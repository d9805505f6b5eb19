//! A person against a model: the model plays the task that the person played, with the same seed, and both
//! trajectories are compared while it plays. Without a connected model, the scripted student plays. Carries out the
//! effects of [`volary_app::playground::rival_match`].
//!
//! Invariant: the person's trajectory is in the library before the model's takes its place in the playground.

use std::collections::VecDeque;
use std::time::Duration;

use leptos::prelude::*;
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::rival_match::{Effect, Event, RivalMatch, ShownEpisode};
use volary_episode::{Episode, Recipe};
use volary_view::route::{IN_PLAYGROUND, ReviewPlace, Route};

use super::policy_settings;
use super::run_loop;
use super::state::Playground;
use super::url_sync;
use volary_browser::{self as browser, location, timers};
use volary_connections::models::connections;

/// How often the run is looked at until its first step.
const PERIOD: Duration = Duration::from_millis(100);

/// Lets a model play the task of a stored episode.
pub(super) fn play(playground: Playground, person: String, recipe: Recipe) {
    let is_connected = untrack(|| connections::read(|known| !known.list().is_empty()));
    let kind = if is_connected {
        PolicyKind::Model
    } else {
        PolicyKind::Student
    };
    policy_settings::choose_policy(playground, kind);
    let before = playground.edition().get_untracked();
    let rival = RivalMatch::new(recipe.environment.clone(), before);
    playground.replay(recipe, Vec::new());
    browser::spawn(async move {
        playground.settled().await;
        let mut effects = VecDeque::from(rival.update(Event::Settled(shown(playground))));
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Compare => location::go(&comparison(&person).to_hash()),
                Effect::Run => run_loop::run(playground),
                Effect::Wait => {
                    timers::sleep(PERIOD).await;
                    effects.extend(rival.update(Event::Waited {
                        run: playground.policy().run.get_untracked(),
                        shown: shown(playground),
                    }));
                }
                Effect::ShowPlayground => {
                    let place = playground.place().get_untracked();
                    location::go(&Route::Playground(place).to_hash());
                }
                Effect::ShowEpisode => {
                    let episode = playground.episode().get_untracked();
                    url_sync::visit(playground, Episode::clone(&episode));
                }
            }
        }
    });
}

/// The place that shows the person's episode next to the playground's.
fn comparison(person: &str) -> Route {
    Route::Review(ReviewPlace {
        episode: Some(person.to_owned()),
        beside: vec![IN_PLAYGROUND.to_owned()],
        ..ReviewPlace::default()
    })
}

fn shown(playground: Playground) -> ShownEpisode {
    playground.episode().with_untracked(|episode| ShownEpisode {
        environment: episode.environment().cloned(),
        edition: playground.edition().get_untracked(),
        steps: episode.steps.len(),
    })
}
