//! Entries of the environments that the page contains.

use leptos::prelude::*;
use volary_core::registry::EnvironmentEntry;

use super::state::Playground;

/// The registry entry of an environment.
pub fn entry(playground: Playground, name: &str) -> Option<EnvironmentEntry> {
    playground.can_play();
    playground.registry().with_value(|registry| {
        let mut entries = registry.environments.iter();
        entries.find(|entry| entry.name == name).copied()
    })
}

/// The registry entry of the chosen environment.
pub fn chosen(playground: Playground) -> Option<EnvironmentEntry> {
    playground
        .setup()
        .environment
        .with(|name| entry(playground, name))
}
