//! The turn at the end of the transcript, as long as the episode stands where it began.

use leptos::prelude::*;

use super::seat::seat;
use crate::components::erased::shown;
use crate::components::turn::{TurnActions, turn_view};
use crate::playground::intents::Intent;
use crate::playground::state::use_playground;

/// What the model is saying.
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
    shown(
        move || here.get(),
        move || turn_view(seat.turn, seat.clock.into(), actions),
    )
}
