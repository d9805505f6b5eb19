//! Train and Stop, the environment, and a line on where the run is.

use leptos::prelude::*;
use volary_app::school::{SchoolEvent, SchoolPhase, TrainingOrder};
use volary_school::{Knobs, learnables};
use volary_view::school::update_sentence;

use super::state::SchoolState;

#[component]
pub(super) fn Controls(state: SchoolState) -> impl IntoView {
    let school = state.school;
    let is_training = Memo::new(move |_| school.with(|school| school.is_training()));
    let is_busy = Memo::new(move |_| {
        school.with(|school| matches!(school.phase, SchoolPhase::Training { .. }))
    });
    let main = move || {
        if is_training.get() {
            view! {
                <button
                    type="button"
                    class="primary"
                    on:click=move |_| state.send(SchoolEvent::Stop)
                >
                    {"Stop"}
                </button>
            }
            .into_any()
        } else {
            let train = move |_| state.send(SchoolEvent::Train(TrainingOrder::UntilStopped));
            view! {
                <button type="button" class="primary" disabled=move || is_busy.get() on:click=train>
                    {"Train"}
                </button>
            }
            .into_any()
        }
    };
    let status = move || {
        school.with(|school| match (school.phase, school.history.last()) {
            (SchoolPhase::Beginning { .. }, None) => "Loading the agent…".to_owned(),
            (_, None) => "Not trained yet. Press Train.".to_owned(),
            (_, Some(latest)) => {
                format!("Update {}: {}", latest.update + 1, update_sentence(latest))
            }
        })
    };
    let environments: Vec<&'static str> = learnables()
        .iter()
        .map(|learnable| learnable.environment())
        .collect();
    let chosen = move || school.with(|school| school.knobs.environment.clone());
    let choose = move |event| {
        let environment = event_target_value(&event);
        let knobs = school.with_untracked(|school| school.knobs.clone());
        state.send(SchoolEvent::Change(Knobs {
            environment,
            ..knobs
        }));
    };
    view! {
        <section class="school-controls" aria-label="Training">
            <div class="button-row">
                {main}
                <button
                    type="button"
                    disabled=move || is_training.get() || is_busy.get()
                    on:click=move |_| state.send(SchoolEvent::Train(TrainingOrder::One))
                >
                    {"One update"}
                </button>
                <button type="button" class="quiet" on:click=move |_| state.send(SchoolEvent::Restart)>
                    {"Begin again"}
                </button>
                <label class="school-environment">
                    {"It learns "}
                    <select prop:value=chosen on:change=choose>
                        {environments
                            .into_iter()
                            .map(|name| view! { <option value=name>{name}</option> })
                            .collect_view()}
                    </select>
                </label>
            </div>
            <p role="status" aria-label="Run">
                {status}
            </p>
        </section>
    }
}
