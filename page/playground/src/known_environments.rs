//! Tells the state machine which environments can be opened.

use leptos::prelude::*;
use volary_app::playground::Event;

use super::state::Playground;

/// Follows the environments that can be opened: the page's, those of servers, and those of Python files.
pub(super) fn follow_known(playground: Playground) {
    untrack(|| report_known(playground));
    Effect::new(move |_| report_known(playground));
}

/// Reports the environments that can be opened now. Tracks changes.
pub(super) fn report_known(playground: Playground) {
    let known = match playground.lazy_code() {
        Some(code) => (code.connected.known)(playground),
        None => playground.built_in_environments(),
    };
    if playground.with_untracked(|machine| *machine.known() != known) {
        playground.update(Event::Known(known));
    }
}
