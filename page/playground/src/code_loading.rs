//! The code of the playground that the first load does not contain: pointers to it once it is loaded, and what waits until
//! then.
//!
//! Invariant: intents and events are handled in order of arrival, at once if the code is loaded.

use leptos::prelude::*;
use volary_app::playground::Event;

use super::intent::Intent;
use super::state::Playground;

/// What handles intents, and what draws the dialogs.
#[derive(Clone, Copy)]
pub(super) struct Handlers {
    pub act: fn(Playground, Intent),
    pub dialogs: fn() -> AnyView,
}

/// What waits for the code.
enum Waiting {
    Event(Event),
    Intent(Intent),
}

/// Where the loading is, and what waits for it.
pub(super) struct CodeLoading {
    /// Starts to load the code.
    load: fn(Playground),
    /// Handles events. A view without the playground has no other handlers.
    update: Option<fn(Playground, Event)>,
    handlers: Option<Handlers>,
    waiting: Vec<Waiting>,
    is_loading: bool,
    /// Owner of the lazily loaded code's signals: the page itself, not the component that was used first.
    pub owner: Option<Owner>,
}

impl CodeLoading {
    pub fn new(load: fn(Playground)) -> Self {
        CodeLoading {
            load,
            update: None,
            handlers: None,
            waiting: Vec::new(),
            is_loading: false,
            owner: None,
        }
    }
}

/// Handles an event: at once if the code is loaded, else after loading it.
pub(super) fn update(playground: Playground, event: Event) {
    match playground.code().with_value(|code| code.update) {
        Some(update) => update(playground, event),
        None => wait(playground, Waiting::Event(event), true),
    }
}

/// Handles an intent: at once if the code is loaded, else after loading it.
pub(super) fn intend(playground: Playground, intent: Intent) {
    if let Some(handlers) = playground.code().with_value(|code| code.handlers) {
        return (handlers.act)(playground, intent);
    }
    if let Intent::GoToEnvironment(_) = intent {
        playground.switching().set(true);
    }
    let is_wanted = !matches!(intent, Intent::LoadCode | Intent::StoreOffline);
    wait(playground, Waiting::Intent(intent), is_wanted);
}

/// Keeps an event or an intent until the code is loaded.
fn wait(playground: Playground, waiting: Waiting, is_wanted: bool) {
    playground
        .code()
        .update_value(|code| code.waiting.push(waiting));
    load(playground, is_wanted);
}

/// Starts to load the code unless that is in progress. `is_wanted` says that a person waits for it.
fn load(playground: Playground, is_wanted: bool) {
    if is_wanted {
        playground.wanted().set(true);
    }
    let load = playground.code().try_update_value(|code| {
        let is_loading = std::mem::replace(&mut code.is_loading, true);
        (!is_loading).then_some(code.load)
    });
    if let Some(load) = load.flatten() {
        load(playground);
    }
}

/// Sets what handles events.
pub(super) fn handle_events(playground: Playground, update: fn(Playground, Event)) {
    playground
        .code()
        .update_value(|code| code.update = Some(update));
}

/// Sets what handles intents and draws the dialogs, and handles all that waits.
pub(super) fn handle_intents(playground: Playground, handlers: Handlers) {
    let waiting = playground.code().try_update_value(|code| {
        code.handlers = Some(handlers);
        std::mem::take(&mut code.waiting)
    });
    for waiting in waiting.into_iter().flatten() {
        match waiting {
            Waiting::Event(event) => update(playground, event),
            Waiting::Intent(intent) => intend(playground, intent),
        }
    }
}

/// Drops what waits because the code could not be loaded. Returns whether a person waited. The next intent tries again.
pub(super) fn give_up(playground: Playground) -> bool {
    playground.code().update_value(|code| {
        code.is_loading = false;
        code.waiting.clear();
    });
    playground.switching().set(false);
    let was_wanted = playground.wanted().get_untracked();
    if was_wanted {
        playground.wanted().set(false);
    }
    was_wanted
}

/// The dialogs; empty until their code is loaded.
pub(super) fn dialogs(playground: Playground) -> AnyView {
    (move || {
        playground.whole().track();
        let handlers = playground.code().with_value(|code| code.handlers)?;
        Some((handlers.dialogs)())
    })
    .into_any()
}
