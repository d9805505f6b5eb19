//! Work of the worker: how far it is, with a button that stops it, or why it failed.

use leptos::prelude::*;
use volary_app::behaviour::work::BehaviourWork;
use volary_app::behaviour::{BehaviourEvent, BehaviourJob};
use volary_ui::alert_box::AlertWords;
use volary_ui::text::inert;

use super::state::BehaviourState;

/// The work of a job, unless it is done. `what` says what failed.
pub(super) fn work_view(
    state: BehaviourState,
    job: BehaviourJob,
    what: &'static str,
    work: &BehaviourWork<()>,
) -> Option<AnyView> {
    match work {
        BehaviourWork::Nothing | BehaviourWork::Ready(_) => None,
        BehaviourWork::Running { doing, done } => Some(
            view! {
                <div class="behaviour-work">
                    <p role="status">{inert(doing)}</p>
                    <progress aria-label="Progress" value=done.map(|done| done.to_string())></progress>
                    <button
                        type="button"
                        class="small"
                        on:click=move |_| state.update(BehaviourEvent::Stop(job))
                    >
                        {"Stop"}
                    </button>
                </div>
            }
            .into_any(),
        ),
        BehaviourWork::Failed(why) => Some(
            view! {
                <div class="alert" role="alert">
                    <AlertWords what why=why.clone() advice="Try it again."/>
                </div>
            }
            .into_any(),
        ),
    }
}
