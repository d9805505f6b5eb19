//! Writes the place of the playground into the address.

use leptos::prelude::*;
use volary_browser::location;
use volary_view::route::{PlaygroundPlace, Route};

use super::state::Playground;

/// Writes an environment that was configured by other means into the URL.
pub(super) fn show_environment_in_address(playground: Playground) {
    let environment = playground.setup().environment.get_untracked().to_string();
    if playground
        .place()
        .with_untracked(|place| place.environment.as_deref() != Some(&environment))
    {
        set_place(
            playground,
            PlaygroundPlace {
                environment: Some(environment),
                ..PlaygroundPlace::default()
            },
        );
    }
}

/// Writes the chosen environment into the address.
pub(super) fn restore(playground: Playground) {
    let environment = playground.setup().environment.get_untracked();
    set_place(
        playground,
        PlaygroundPlace {
            environment: (!environment.is_empty()).then(|| environment.to_string()),
            ..PlaygroundPlace::default()
        },
    );
}

/// Replaces the address, unless another page is shown: the episode may continue meanwhile.
pub(super) fn set_place(playground: Playground, place: PlaygroundPlace) {
    if matches!(Route::parse(&location::hash()), Route::Playground(_)) {
        location::replace(&Route::Playground(place.clone()).to_hash());
    }
    playground.place().set(place);
}
