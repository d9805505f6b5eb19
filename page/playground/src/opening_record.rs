//! The first episode, from the opening record, and what can be chosen before the rest of the playground is loaded.

use leptos::prelude::*;
use volary_app::playground::tasks::TaskPlace;
use volary_app::playground::{Event, episode_name};
use volary_browser as browser;
use volary_core::json::Text;
use volary_episode::{Episode, Recipe};
use volary_view::form::Form;

use super::first_view;
use super::manual_action;
use super::mirror::show_machine;
use super::redraws;
use super::state::Playground;

/// Shows the first task's episode from the opening record, which needs none of the lazily loaded code.
pub(super) fn begin_known(playground: Playground) -> bool {
    let Some((mut episode, schema)) = first_view::episode().zip(first_view::configuration()) else {
        return false;
    };
    (episode.id, episode.name) = names(episode.recipe.as_ref());
    if let Some(recipe) = &episode.recipe {
        let setup = playground.setup();
        let value = recipe.configuration.clone().into();
        setup.form.set(Form::holding(schema, &value));
    }
    begin_with(playground, episode, TaskPlace { source: 0, task: 0 });
    true
}

/// Shows the first episode behind a question if nothing is shown yet.
pub(super) fn begin_behind(playground: Playground) {
    if playground.edition().get_untracked() == 0 {
        playground.update(Event::SelectOnceShown(None));
        begin_known(playground);
    }
}

/// Generates the id and the name of a new episode.
pub(super) fn names(recipe: Option<&Recipe>) -> (Text, Text) {
    let name = recipe.map(episode_name);
    (browser::random_id(), name.unwrap_or_default())
}

/// Shows a first episode. It needs none of the lazily loaded code.
pub(super) fn begin_with(playground: Playground, episode: Episode, task: TaskPlace) {
    playground
        .machine()
        .update_value(|machine| machine.start_with(episode, Some(task)));
    show_machine(playground);
    manual_action::adapt_to_episode(playground);
    redraws::redraw(playground);
}

/// Chooses a custom configuration, which keeps the one in the form. It needs none of the lazily loaded code.
pub(super) fn choose_custom(playground: Playground) {
    playground
        .machine()
        .update_value(|machine| machine.choose_custom());
    show_machine(playground);
}
