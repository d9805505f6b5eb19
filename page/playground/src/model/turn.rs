//! The streaming response at the end of the transcript. It is shown only while the episode is at the step where the
//! model was asked.

use leptos::prelude::*;

use super::state;
use crate::state::use_playground;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_ui::turn::{TurnActions, TurnView};

pub(super) fn turn_pane() -> AnyView {
    let playground = use_playground();
    let state = state(playground);
    let here = Memo::new(move |_| {
        let edition = playground.edition().get();
        let steps = playground.episode().with(|episode| episode.steps.len());
        state
            .turn
            .with(|turn| turn.as_ref().is_some_and(|turn| turn.is_at(edition, steps)))
    });
    let actions = TurnActions {
        inspect: Callback::new(move |()| {
            let step = state
                .turn
                .with_untracked(|turn| turn.as_ref().map(|turn| turn.step));
            playground.policy().inspected.set(step);
        }),
        stop: Callback::new(move |()| playground.update(Event::Stop)),
        again: Callback::new(move |()| playground.update(Event::Attempt(EpisodeAttempt::RunAgain))),
        dismiss: Callback::new(move |()| state.turn.set(None)),
    };
    view! {
        <Show when=move || here.get()>
            <TurnView turn=state.turn clock=state.clock.into() actions/>
        </Show>
    }
    .into_any()
}
