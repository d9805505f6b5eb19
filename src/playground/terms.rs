//! Explanations of the words of the playground. Their code comes with the rest of the playground.

use leptos::prelude::*;

use super::state::Playground;
use crate::components::term::TERMS;

/// What the words at a place mean.
pub(super) fn terms(
    playground: Playground,
    place: &'static str,
    terms: &'static [&'static str],
) -> AnyView {
    (move || {
        playground.whole.track();
        TERMS.get().map(|view| view(place, terms))
    })
    .into_any()
}
