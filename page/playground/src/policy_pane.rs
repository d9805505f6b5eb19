//! The pane of the policy and its settings.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::policy::PolicyKind;

use super::entries;
use super::intent::Intent;
use super::model;
use super::parts::once_whole;
use super::policy_settings::POLICY_FORM;
use super::rival::PLAY_AGAINST;
use super::state::use_playground;
use super::terms::terms;
use volary_connections::outside::costs::ROLE_COSTS;
use volary_ui::SchemaForm;
use volary_ui::field::Field;

#[component]
pub(super) fn PolicyPane() -> impl IntoView {
    let playground = use_playground();
    let policy = playground.policy();
    // An oracle cannot be chosen for an environment that has none.
    Effect::new(move |_| {
        if !policy
            .kind
            .get_untracked()
            .fits(entries::chosen(playground).as_ref())
        {
            playground.intend(Intent::ChoosePolicy(PolicyKind::Manual));
        }
    });
    let kinds = move || {
        let entry = entries::chosen(playground);
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
    let settings = move || match policy.kind.get() {
        PolicyKind::Manual => ().into_any(),
        PolicyKind::Model => model::settings_pane(),
        _ => view! { <SchemaForm form=policy.form id_prefix="policy"/> }.into_any(),
    };
    let run = move |event: SubmitEvent| {
        event.prevent_default();
        playground.update(Event::Attempt(EpisodeAttempt::Run));
    };
    view! {
        <form
            class="policy-form"
            aria-label="Policy settings"
            novalidate
            id=POLICY_FORM
            on:submit=run
        >
            <div class="heading">
                <h2>{"Policy"}</h2>
                {terms(playground, "policy", &["policy", "oracle"])}
            </div>
            <Field id="policy" label="Policy">
                <select
                    id="policy"
                    aria-describedby="policy-help"
                    prop:value=move || policy.kind.get().name()
                    on:change=choose
                >
                    {kinds}
                </select>
                <p class="help" id="policy-help">
                    {move || policy.kind.get().summary()}
                </p>
            </Field>
            {settings}
            <Show when=move || policy.kind.get() == PolicyKind::Scripted>
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
            // Enter in a field presses the hidden button.
            <button type="submit" hidden>
                {"Run"}
            </button>
            {once_whole(playground, &PLAY_AGAINST)}
            {once_whole(playground, &ROLE_COSTS)}
        </form>
    }
}
