//! Choices of the user that need the code that plays, for panes and other pages.

use leptos::prelude::*;
use volary_app::playground::policy::PolicyKind;

use super::state::Playground;

/// Opens an environment and navigates to it.
pub fn choose_environment(playground: Playground, name: String) {
    if !playground.can_play_untracked() {
        playground.switching().set(true);
    }
    playground.play_with(move |code| (code.go_to_environment)(playground, &name));
}

/// Opens an episode of the setup.
pub fn start_over(playground: Playground) {
    playground.play_with(move |code| (code.start_over)(playground));
}

/// Leaves the next actions to a policy, or to the person.
pub(super) fn choose_policy(playground: Playground, kind: PolicyKind) {
    playground.play_with(move |code| (code.choose_policy)(playground, kind));
}
