//! The pane of the policy and its settings.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::policy::PolicyKind;

use super::choices::choose_policy;
use super::entries;
use super::model;
use super::parts::once_loaded;
use super::play_against::PlayAgainst;
use super::policy_settings::POLICY_FORM;
use super::state::use_playground;
use volary_ui::SchemaForm;
use volary_ui::field::Field;
use volary_ui::term::Terms;

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
            choose_policy(playground, PolicyKind::Manual);
        }
    });
    let kinds = move || {
        let entry = entries::chosen(playground);
        let kinds = PolicyKind::ALL.into_iter();
        let fitting = kinds.filter(|kind| kind.fits(entry.as_ref()));
        fitting
            .map(|kind| view! { <option value=kind.name()>{kind.plain_name()}</option> })
            .collect_view()
    };
    let choose = move |event| {
        let name = event_target_value(&event);
        let kind = PolicyKind::ALL.into_iter().find(|kind| kind.name() == name);
        choose_policy(playground, kind.unwrap_or_default());
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
                <Terms place="policy" terms=&["policy", "oracle"]/>
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
                        on:click=move |_| {
                            playground.play_with(move |code| (code.script_from_episode)(playground));
                        }
                    >
                        {"Use this episode's actions"}
                    </button>
                </div>
            </Show>
            // Enter in a field presses the hidden button.
            <button type="submit" hidden>
                {"Run"}
            </button>
            <PlayAgainst/>
            {once_loaded(playground, |code| code.role_costs)}
        </form>
    }
}
