//! Hides members of the frame's state from the player: those that the environment's configuration marks as `writeOnly`,
//! while the player may still find the answer ([`volary_view::hidden_answer`]), unless the user reveals them.

use leptos::prelude::*;
use volary_core::json::{Json, Text};
use volary_view::form::is_write_only;
use volary_view::hidden_answer::may_show_answer;

use super::entries;
use super::state::{Playground, use_playground};

/// Keeps the list of hidden members up to date and renders the button that reveals them.
#[component]
pub(super) fn HiddenMembers() -> impl IntoView {
    let playground = use_playground();
    let hidden = playground.hidden_members();
    // Id of the episode whose members are revealed. A new episode hides them again.
    let revealed = RwSignal::new(None);
    let marked = marked_members(playground);
    // While a step is under way, it may be the one that is taken back.
    let may_undo = Memo::new(move |_| {
        playground.may_take_back() || playground.with(|machine| machine.session().is_busy())
    });
    let is_hidden = Memo::new(move |_| {
        let may_undo = may_undo.get();
        playground.episode().with(|episode| {
            !may_show_answer(episode, may_undo)
                && revealed.with(|id| id.as_ref() != Some(&episode.id))
        })
    });
    Effect::new(move |_| {
        let members = if is_hidden.get() {
            marked.get()
        } else {
            Vec::new()
        };
        if hidden.with_untracked(|hidden| *hidden != members) {
            hidden.set(members);
        }
    });
    let reveal = move |_| {
        let id = playground
            .episode()
            .with_untracked(|episode| episode.id.clone());
        revealed.set(Some(id));
    };
    let note = move || {
        let names = hidden.with(|hidden| {
            let names: Vec<&str> = hidden.iter().map(|name| &**name).collect();
            names.join(", ")
        });
        format!("Hidden while you can still try: {names}.")
    };
    view! {
        <Show when=move || hidden.with(|hidden| !hidden.is_empty())>
            <p class="help hidden-members">
                {note}
                <button type="button" class="quiet small" on:click=reveal>
                    {"Reveal"}
                </button>
            </p>
        </Show>
    }
}

/// The marked members that are present in the state of the shown episode.
fn marked_members(playground: Playground) -> Memo<Vec<Text>> {
    let environment = Memo::new(move |_| {
        playground.episode().with(|episode| {
            let recipe = episode.recipe.as_ref();
            recipe.map(|recipe| recipe.environment.clone())
        })
    });
    Memo::new(move |_| {
        playground.edition().track();
        let entry = environment
            .get()
            .and_then(|name| entries::entry(playground, &name));
        let marked = entry.map_or_else(Vec::new, |entry| marked(&(entry.configuration)()));
        let first = playground
            .episode()
            .with_untracked(|episode| episode.frames.get(0));
        let has = |name: &Text| {
            let state = first.as_ref().map(|frame| &frame.state);
            state.is_some_and(|state| state.get(name).is_some())
        };
        marked.into_iter().filter(has).collect()
    })
}

/// Names of the properties of a schema that are marked as `writeOnly`.
pub fn marked(schema: &Json) -> Vec<Text> {
    let properties = schema.get("properties").and_then(Json::as_object);
    let properties = properties
        .into_iter()
        .flat_map(|properties| properties.iter());
    properties
        .filter(|(_, property)| is_write_only(property))
        .map(|(name, _)| Text::from(name.to_string()))
        .collect()
}
