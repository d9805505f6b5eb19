//! The form of a new evaluation.

mod planning;
mod size;
mod source;
mod state;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use self::source::{SourceField, TasksFields};
use self::state::{EvaluationSetup, PolicyEntry};
use super::pool::idle_workers;
use super::setup::PolicyChoice;
use super::state::Evaluations;
use volary_connections::models::connections;
use volary_playground::start::load_all;
use volary_ui::SchemaForm;
use volary_ui::icon::{Glyph, NamedIcon};

const FORM: &str = "evaluation-form";

#[component]
pub(super) fn SetupForm(evaluations: Evaluations) -> impl IntoView {
    let setup = EvaluationSetup::new(evaluations);
    let playground = evaluations.playground;
    load_all(playground);
    Effect::new(move |_| {
        if playground.can_play() {
            untrack(|| source::refresh(setup));
            idle_workers::start();
        }
    });
    // Objects owned by the effect are disposed of when it runs again, but the policies must live as long as the form.
    let owner = Owner::current().unwrap_or_default();
    Effect::new(move |_| {
        if let Some(plan) = evaluations.copied.get() {
            owner.with(|| untrack(|| setup.fill(plan)));
            evaluations.copied.set(None);
        }
    });
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        setup.start();
    };
    view! {
        <form
            class="evaluation-form"
            aria-label="New evaluation"
            novalidate
            id=FORM
            on:submit=submitted
        >
            <div class="setup-side">
                <fieldset class="group">
                    <legend>{"Tasks"}</legend>
                    <SourceField setup/>
                    <TasksFields setup/>
                </fieldset>
                <SchemaForm
                    form=setup.general
                    id_prefix="evaluation-general"
                    legend="Trials and success"
                />
                <Show when=move || setup.has_model()>
                    <SchemaForm
                        form=setup.pace
                        id_prefix="evaluation-pace"
                        legend="Limits for models"
                    />
                </Show>
            </div>
            <div class="setup-side">
                <fieldset class="group">
                    <legend>{"Policies"}</legend>
                    <For each=move || setup.policies.get() key=|entry| entry.key let(entry)>
                        <PolicyFields setup entry/>
                    </For>
                    <button type="button" on:click=move |_| setup.add_policy()>
                        {"Add policy"}
                    </button>
                </fieldset>
            </div>
            <div class="start-row">
                <button type="submit" class="primary">
                    {"Start"}
                </button>
                <span class="faint" role="status" aria-label="Size">
                    {move || setup.size_text()}
                </span>
                <span class="faint" role="status" aria-label="Estimate">
                    {move || setup.estimate_text()}
                </span>
            </div>
        </form>
    }
}

/// The fields of a policy: its kind and settings.
#[component]
fn PolicyFields(setup: EvaluationSetup, entry: PolicyEntry) -> impl IntoView {
    let built_in = PolicyChoice::BUILT_IN
        .map(|kind| view! { <option value=kind.to_value()>{kind.name().to_owned()}</option> });
    let models = move || {
        connections::read(|known| {
            let list = known.list().iter();
            list.map(|saved| {
                let name = &saved.connection.name;
                let value = PolicyChoice::Model(name.clone()).to_value();
                view! { <option value=value>{format!("Model: {name}")}</option> }
            })
            .collect_view()
        })
    };
    let pick = move |event| {
        if let Some(kind) = PolicyChoice::of_value(&event_target_value(&event)) {
            entry.pick(kind);
        }
    };
    let remove = move |_| {
        let policies = setup.policies;
        policies.update(|entries| entries.retain(|other| other.key != entry.key));
    };
    let id = format!("policy-{}", entry.key);
    view! {
        <div class="policy-entry">
            <div class="policy-head">
                <div class="field">
                    <label for=id.clone()>{"Policy"}</label>
                    <select
                        id=id.clone()
                        prop:value=move || entry.kind.with(PolicyChoice::to_value)
                        on:change=pick
                    >
                        {built_in.into_iter().collect_view()}
                        {models}
                    </select>
                </div>
                <button type="button" class="quiet icon-button" on:click=remove>
                    <NamedIcon glyph=Glyph::Close name="Remove policy"/>
                </button>
            </div>
            <p class="help">{move || entry.kind.with(PolicyChoice::summary)}</p>
            <SchemaForm form=entry.form id_prefix=format!("{id}-settings")/>
        </div>
    }
}
