//! Tells the state machine which environments can be opened.

use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::known::KnownEnvironments;

use super::python;
use super::remote_environments;
use super::state::Playground;

/// Follows the environments that can be opened: the page's, those of servers, and those of Python files.
pub(super) fn follow_known(playground: Playground) {
    untrack(|| report_known(playground));
    Effect::new(move |_| report_known(playground));
}

/// Reports the environments that can be opened now. Tracks changes.
pub(super) fn report_known(playground: Playground) {
    playground.whole().track();
    let known = KnownEnvironments {
        built_in: playground
            .registry()
            .with_value(|registry| registry.available().collect()),
        others: remote_environments::others(playground),
        code: python::known_code(playground),
    };
    if playground.with_untracked(|machine| *machine.known() != known) {
        playground.update(Event::Known(known));
    }
}
