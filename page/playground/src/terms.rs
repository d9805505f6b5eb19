//! Explanations of the playground's terms. Their code is loaded with the rest of the playground.

use leptos::prelude::*;

use super::state::Playground;
use volary_ui::term::TERMS;

/// The explanations of the terms at a place.
pub(super) fn terms(
    playground: Playground,
    place: &'static str,
    terms: &'static [&'static str],
) -> AnyView {
    (move || {
        playground.whole().track();
        TERMS.get().map(|view| view(place, terms))
    })
    .into_any()
}
