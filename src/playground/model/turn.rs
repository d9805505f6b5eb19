//! The streaming response at the end of the transcript, while the episode is where it was asked for.

use leptos::prelude::*;

use super::seat::seat;
use crate::components::turn::{TurnActions, TurnView};
use crate::playground::intents::Intent;
use crate::playground::state::use_playground;

/// The streaming response.
pub(super) fn turn_pane() -> AnyView {
    let playground = use_playground();
    let seat = seat();
    let here = Memo::new(move |_| {
        let edition = playground.edition.get();
        let steps = playground.episode.with(|episode| episode.steps.len());
        seat.turn
            .with(|turn| turn.as_ref().is_some_and(|turn| turn.is_at(edition, steps)))
    });
    let actions = TurnActions {
        inspect: Callback::new(move |()| {
            let step = seat
                .turn
                .with_untracked(|turn| turn.as_ref().map(|turn| turn.step));
            playground.drive.inspected.set(step);
        }),
        stop: Callback::new(move |()| playground.intend(Intent::Stop)),
        again: Callback::new(move |()| playground.intend(Intent::RunAgain)),
        dismiss: Callback::new(move |()| seat.turn.set(None)),
    };
    view! {
        <Show when=move || here.get()>
            <TurnView turn=seat.turn clock=seat.clock.into() actions/>
        </Show>
    }
    .into_any()
}
