//! The **Request** dialog: the requests of a step, or of the streaming response that will become one.

use leptos::prelude::*;
use volary_agent::model::Exchange;
use volary_agent::model::exchange::KeptError;

use super::state;
use crate::state::use_playground;
use volary_connections::models::record;
use volary_ui::Dialog;
use volary_ui::inspector::Inspector;

/// The dialog, which is open while a step is inspected.
pub(super) fn requests_dialog() -> AnyView {
    let playground = use_playground();
    let inspected = playground.policy().inspected;
    let open = RwSignal::new(false);
    Effect::new(move |_| open.set(inspected.get().is_some()));
    Effect::new(move |_| {
        if !open.get() && inspected.get_untracked().is_some() {
            inspected.set(None);
        }
    });
    // Look the step up when the dialog opens, not on every new step.
    let found = Memo::new(move |_| inspected.get().map(found_at));
    let step = move || match inspected.get() {
        Some(step) => format!("Step {step}"),
        None => String::new(),
    };
    view! {
        <Dialog open title="Request">
            <p class="inspector-step">{step}</p>
            <Inspector exchanges=Signal::derive(move || found.get().unwrap_or_default())/>
        </Dialog>
    }
    .into_any()
}

fn found_at(step: usize) -> Vec<Result<Exchange, KeptError>> {
    let playground = use_playground();
    let recorded = playground.episode().with_untracked(|episode| {
        let place = step.checked_sub(1)?;
        let is_recorded = place < episode.steps.len();
        is_recorded.then(|| record::exchanges(&episode.steps, place))
    });
    recorded.unwrap_or_else(|| {
        state(playground).turn.with_untracked(|turn| {
            let turn = turn.as_ref().filter(|turn| turn.step == step);
            let exchanges = turn.map(|turn| turn.exchanges.clone());
            exchanges.unwrap_or_default().into_iter().map(Ok).collect()
        })
    })
}
