//! The policy, its settings, **Run** and **Stop**.

use std::time::Duration;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::intents::Intent;
use super::model;
use super::policy_settings::{POLICY_FORM, PolicyKind, Run};
use super::state::{Playground, use_playground};
use crate::browser::{self, timers};
use crate::components::SchemaForm;
use crate::components::field::Field;
use crate::outside::costs::ROLE_COSTS;

/// After this time the user may want to stop a step.
const LONG: Duration = Duration::from_millis(400);

/// The policy and its settings.
#[component]
pub(super) fn PolicyPane() -> impl IntoView {
    let playground = use_playground();
    let drive = playground.drive;
    // An environment without an oracle cannot be played by one.
    Effect::new(move |_| {
        if !drive
            .kind
            .get_untracked()
            .fits(playground.chosen().as_ref())
        {
            playground.intend(Intent::ChoosePolicy(PolicyKind::Manual));
        }
    });
    let kinds = move || {
        let entry = playground.chosen();
        let kinds = PolicyKind::ALL.into_iter();
        let fitting = kinds.filter(|kind| kind.fits(entry.as_ref()));
        fitting
            .map(|kind| view! { <option value=kind.name()>{kind.name()}</option> })
            .collect_view()
    };
    let choose = move |event| {
        let name = event_target_value(&event);
        let kind = PolicyKind::ALL.into_iter().find(|kind| kind.name() == name);
        playground.intend(Intent::ChoosePolicy(kind.unwrap_or_default()));
    };
    let settings = move || match drive.kind.get() {
        PolicyKind::Manual => ().into_any(),
        PolicyKind::Model => model::settings_pane(),
        _ => view! { <SchemaForm form=drive.form id_prefix="policy"/> }.into_any(),
    };
    let run = move |event: SubmitEvent| {
        event.prevent_default();
        playground.intend(Intent::Run);
    };
    view! {
        <form
            class="policy-form"
            aria-label="Policy settings"
            novalidate
            id=POLICY_FORM
            on:submit=run
        >
            <h2 class="visually-hidden">{"Policy"}</h2>
            <Field id="policy" label="Policy">
                <select
                    id="policy"
                    aria-describedby="policy-help"
                    prop:value=move || drive.kind.get().name()
                    on:change=choose
                >
                    {kinds}
                </select>
                <p class="help" id="policy-help">
                    {move || drive.kind.get().summary()}
                </p>
            </Field>
            {settings}
            <Show when=move || drive.kind.get() == PolicyKind::Scripted>
                <div class="button-row">
                    <button
                        type="button"
                        class="quiet small"
                        on:click=move |_| playground.intend(Intent::ScriptFromEpisode)
                    >
                        {"Use this episode's actions"}
                    </button>
                </div>
            </Show>
            <RunAndStop playground/>
            {move || {
                playground.whole.track();
                ROLE_COSTS.get().map(|view| view())
            }}
        </form>
    }
}

#[component]
fn RunAndStop(playground: Playground) -> impl IntoView {
    let drive = playground.drive;
    let is_slow = slow(playground);
    let is_idle = move || drive.run.get() == Run::Idle;
    let is_unfit = move || {
        // The line below the tools says why no step is possible.
        drive.kind.get() == PolicyKind::Manual || playground.may_step().is_err()
    };
    // A step that takes long can be stopped even if no policy runs.
    view! {
        <div class="button-row">
            <Show when=is_idle>
                <button type="submit" class="primary" disabled=is_unfit>
                    {"Run"}
                </button>
            </Show>
            <Show when=move || !is_idle() || is_slow.get()>
                <button
                    type="button"
                    class="primary"
                    on:click=move |_| playground.intend(Intent::Stop)
                >
                    {"Stop"}
                </button>
            </Show>
        </div>
    }
}

/// Whether the current operation takes long.
fn slow(playground: Playground) -> RwSignal<bool> {
    let slow = RwSignal::new(false);
    let waits = StoredValue::new(0u32);
    let busy = Memo::new(move |_| playground.session.with(|session| session.is_busy()));
    Effect::new(move |_| {
        waits.update_value(|waits| *waits = waits.wrapping_add(1));
        let wait = waits.get_value();
        if !busy.get() {
            if slow.get_untracked() {
                slow.set(false);
            }
            return;
        }
        browser::spawn(async move {
            timers::sleep(LONG).await;
            if waits.get_value() == wait && busy.get_untracked() {
                slow.set(true);
            }
        });
    });
    slow
}
