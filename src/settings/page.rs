//! The settings as a page: one section below the other.

use leptos::prelude::*;

use super::{keys, model_connections, prices, servers, storage};
use crate::components::markup::{El, el};

/// The sections, in the order of display.
const SECTIONS: &[fn() -> El] = &[
    model_connections::section,
    servers::section,
    keys::section,
    prices::section,
    storage::section,
];

/// The settings.
pub fn page() -> AnyView {
    // What a section reads while it is made is no reason to make all of them anew.
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
