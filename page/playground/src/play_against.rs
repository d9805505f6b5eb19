//! The button **Play against a model**, and the same for an episode of another page. [`super::rival`] plays the match.

use leptos::prelude::*;
use volary_app::playground as machine;
use volary_app::playground::policy::PolicyKind;
use volary_episode::Episode;

use super::remote_environments::is_remote;
use super::state::{Playground, use_playground};

/// Offers the match while an episode is shown that a person played here.
#[component]
pub(super) fn PlayAgainst() -> impl IntoView {
    let playground = use_playground();
    let can_play = Memo::new(move |_| {
        let is_person = playground.policy().kind.get() == PolicyKind::Manual;
        playground.episode().with(|episode| {
            is_person
                && !episode.steps.is_empty()
                && !is_remote(episode)
                && playground.may_go_back()
        })
    });
    view! {
        <Show when=move || can_play.get()>
            <div class="button-row">
                <button
                    type="button"
                    class="quiet small"
                    title="It plays the same task with the same seed, next to yours"
                    on:click=move |_| challenge(playground)
                >
                    {"Play against a model"}
                </button>
            </div>
        </Show>
    }
}

/// Lets a model play the shown episode's task.
fn challenge(playground: Playground) {
    playground.update(machine::Event::Leave);
    let episode = playground.episode().get_untracked();
    let stored = playground.with_untracked(|machine| machine.stored_id());
    let id = stored.unwrap_or_else(|| episode.id.clone()).to_string();
    if let Some(recipe) = episode.recipe.clone() {
        drop(episode);
        playground.with_code("The match", move |code| {
            (code.play_rival)(playground, id, recipe);
        });
    }
}

/// Lets a model play the task of a stored episode, from any page.
pub fn play_from_elsewhere(playground: Playground, episode: &Episode) {
    let Some(recipe) = episode.recipe.clone() else {
        return;
    };
    let id = episode.id.to_string();
    playground.begin_attempt();
    playground.with_code("The match", move |code| {
        (code.play_rival)(playground, id, recipe)
    });
}
