//! The page of settings: its sections in order.

use leptos::prelude::*;

use super::{keys, model_connections, prices, servers, storage};
use crate::components::markup::{El, el};

/// The sections in order.
const SECTIONS: &[fn() -> El] = &[
    model_connections::section,
    servers::section,
    keys::section,
    prices::section,
    storage::section,
];

/// The settings.
pub fn page() -> AnyView {
    // Untracked: signals read while a section is built must not rebuild all of them.
    let sections = untrack(|| {
        let sections = SECTIONS.iter().map(|section| section().view());
        sections.collect::<Vec<_>>()
    });
    el("div")
        .class("settings")
        .child(el("h1").child("Settings"))
        .child(sections)
        .view()
}
