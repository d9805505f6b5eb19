//! Links that contain an episode: opens them, and writes the address of the shown episode.

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::consent::{
    Author, PlannedEpisode, Reach, RequestDecision, Then, judge,
};
use volary_core::json::Text;
use volary_episode::share;
use volary_view::route::PlaygroundPlace;

use super::episode_address;
use super::lazy_code::StartOf;
use super::remote_environments;
use super::shown_place;
use super::state::Playground;
use super::url_sync;

/// The place of the shown episode, policy and step. `start_of` returns the start that opens a recipe, if an address can
/// name it.
pub(super) fn address(playground: Playground, start_of: StartOf) -> PlaygroundPlace {
    url_sync::with_context(playground, |context| {
        playground.episode().with_untracked(|episode| {
            episode_address::address(
                episode,
                context,
                |recipe| start_of(playground, recipe),
                || playground.with_untracked(|machine| Some(machine.stored_id()?.to_string())),
            )
        })
    })
}

/// Opens the episode in a link. If it cannot be read, opens the environment that the address names, if any.
pub(super) fn open(playground: Playground, text: &str, environment: Option<&str>) {
    let shared = match share::decode(text) {
        Ok(shared) => shared,
        Err(error) => return say_unreadable(playground, &error.to_string(), environment),
    };
    let reach =
        playground.with_untracked(|machine| machine.known().reach_of_recipe(&shared.recipe));
    match judge(Author::Content, reach) {
        RequestDecision::Run => {
            playground.replay(shared.recipe, shared.actions);
        }
        RequestDecision::Ask => {
            let step = playground.with_untracked(|machine| machine.wanted_step());
            playground.update(Event::SelectOnceShown(None));
            playground.update(Event::Plan(PlannedEpisode {
                recipe: shared.recipe,
                actions: shared.actions,
                then: Then::Open(step),
            }));
        }
        RequestDecision::NotConnected => {
            say_unreadable(
                playground,
                "It was recorded on a server that you are not connected to.",
                environment,
            );
            remote_environments::say_not_connected(playground, &shared.recipe.environment);
        }
        RequestDecision::Unknown => say_unreadable(
            playground,
            &format!(
                "It uses the environment \"{}\", which this page does not have.",
                shared.recipe.environment
            ),
            environment,
        ),
    }
}

/// Reports a link that can't be read. A running episode is left unchanged; on a fresh page the environment is opened
/// without the link's episode.
fn say_unreadable(playground: Playground, reason: &str, environment: Option<&str>) {
    playground.update(Event::SelectOnceShown(None));
    let place = playground.place().get_untracked();
    shown_place::set_place(
        playground,
        PlaygroundPlace {
            environment: place.environment,
            ..PlaygroundPlace::default()
        },
    );
    if playground.edition().get_untracked() == 0 {
        let local = environment.filter(|name| {
            playground.with_untracked(|machine| machine.known().reach(name)) == Reach::Local
        });
        playground.update(Event::Begin(local.map(Text::from)));
    }
    playground.alert(Notice::new(
        "The episode in the link could not be opened.",
        reason,
        "Ask for the complete link or for the episode as a file.",
    ));
}
