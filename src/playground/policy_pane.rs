//! Letting a policy act: which one, its settings, Run and Stop.

use std::time::Duration;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::drive::{POLICY_FORM, PolicyKind, Run};
use super::state::{Playground, use_playground};
use crate::components::SchemaForm;
use crate::components::erased::{changed, dynamic, flag, label, pressed, shown, submitted, watch};
use crate::shell::{self, timers};

/// Whoever waits so long may want to stop it.
const LONG: Duration = Duration::from_millis(400);

/// The policy and its settings.
#[component]
pub fn PolicyPane() -> impl IntoView {
    let playground = use_playground();
    let drive = playground.drive;
    let kind = Memo::new(move |_| drive.kind.get());
    let entry = Memo::new(move |_| playground.setup.environment.get());
    let kinds = move || {
        let entry = playground.entry(&entry.get());
        PolicyKind::ALL
            .into_iter()
            .filter(|kind| kind.fits(entry.as_ref()))
            .map(|kind| view! { <option value=kind.name()>{kind.name()}</option> })
            .collect_view()
            .into_any()
    };
    // An environment without an oracle can't be left to one.
    watch(move || {
        let entry = playground.entry(&entry.get());
        if !kind.get_untracked().fits(entry.as_ref()) {
            playground.choose_policy(PolicyKind::Manual);
        }
    });
    let choose = move |event| {
        let name = event_target_value(&event);
        let kind = PolicyKind::ALL.into_iter().find(|kind| kind.name() == name);
        playground.choose_policy(kind.unwrap_or_default());
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        playground.run();
    };
    let running = Memo::new(move |_| drive.run.get());
    let busy = Memo::new(move |_| playground.session.with(|session| session.is_busy()));
    let slow = slow(playground, busy);
    view! {
        <form class="policy-form" id=POLICY_FORM aria-label="Policy settings" novalidate on:submit=submitted(submit)>
            <h2>"Policy"</h2>
            <div class="field">
                <label for="policy">"Policy"</label>
                <select
                    id="policy"
                    aria-describedby="policy-help"
                    prop:value=label(move || kind.get().name())
                    on:change=changed(choose)
                >
                    {dynamic(kinds)}
                </select>
                <p class="help" id="policy-help">{label(move || kind.get().summary())}</p>
            </div>
            {shown(
                move || kind.get() != PolicyKind::Manual,
                move || view! { <SchemaForm form=drive.form id_prefix="policy"/> }.into_any(),
            )}
            {shown(
                move || kind.get() == PolicyKind::Scripted,
                move || {
                    view! {
                        <div class="button-row">
                            <button
                                type="button"
                                class="quiet small"
                                on:click=pressed(move |_| playground.script_from_episode())
                            >
                                "Take this episode's actions"
                            </button>
                        </div>
                    }
                        .into_any()
                },
            )}
            <div class="button-row">
                {shown(
                    move || running.get() == Run::Idle,
                    move || {
                        view! {
                            <button
                                type="submit"
                                class="primary"
                                prop:disabled=flag(move || {
                                    kind.get() == PolicyKind::Manual || busy.get()
                                })
                            >
                                "Run"
                            </button>
                        }
                            .into_any()
                    },
                )}
                // A step that takes long can be ended even if nobody runs.
                {shown(
                    move || running.get() != Run::Idle || slow.get(),
                    move || {
                        view! {
                            <button
                                type="button"
                                class:primary=flag(move || running.get() != Run::Idle)
                                on:click=pressed(move |_| playground.stop())
                            >
                                "Stop"
                            </button>
                        }
                            .into_any()
                    },
                )}
            </div>
        </form>
    }
}

/// Whether something has been under way for long.
fn slow(playground: Playground, busy: Memo<bool>) -> RwSignal<bool> {
    let slow = RwSignal::new(false);
    let waits = StoredValue::new(0u32);
    watch(move || {
        waits.update_value(|waits| *waits = waits.wrapping_add(1));
        let wait = waits.get_value();
        if !busy.get() {
            if slow.get_untracked() {
                slow.set(false);
            }
            return;
        }
        shell::spawn(async move {
            timers::sleep(LONG).await;
            let still = playground
                .session
                .with_untracked(|session| session.is_busy());
            if waits.get_value() == wait && still {
                slow.set(true);
            }
        });
    });
    slow
}
