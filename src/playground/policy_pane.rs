//! Letting a policy act: which one, its settings, Run and Stop.

use std::time::Duration;

use leptos::prelude::*;

use super::controls::{buttons, choice, field, form, help, option};
use super::intents::Intent;
use super::model;
use super::policy_settings::{POLICY_FORM, PolicyKind, Run};
use super::state::{Playground, use_playground};
use crate::browser::{self, timers};
use crate::components::SchemaForm;
use crate::components::erased::{dynamic, flag, shown, watch, words};
use crate::components::markup::{El, all, button, el, nothing};

/// Whoever waits so long may want to stop it.
const LONG: Duration = Duration::from_millis(400);

/// The policy and its settings.
pub fn policy_pane() -> El {
    let playground = use_playground();
    let drive = playground.drive;
    // An environment without an oracle can't be left to one.
    watch(move || {
        if !drive
            .kind
            .get_untracked()
            .fits(playground.chosen().as_ref())
        {
            playground.intend(Intent::ChoosePolicy(PolicyKind::Manual));
        }
    });
    let kinds = dynamic(move || {
        let entry = playground.chosen();
        let kinds = PolicyKind::ALL.into_iter();
        let fitting = kinds.filter(|kind| kind.fits(entry.as_ref()));
        all(fitting
            .map(|kind| option(kind.name(), kind.name()).view())
            .collect())
    });
    let kind = words(move || drive.kind.get().name().to_owned());
    let choose = move |name: String| {
        let kind = PolicyKind::ALL.into_iter().find(|kind| kind.name() == name);
        playground.intend(Intent::ChoosePolicy(kind.unwrap_or_default()));
    };
    let control = choice(kind, choose)
        .attr("aria-describedby", "policy-help")
        .child(kinds);
    let settings = dynamic(move || match drive.kind.get() {
        PolicyKind::Manual => nothing(),
        PolicyKind::Model => model::settings_pane(),
        _ => view! { <SchemaForm form=drive.form id_prefix="policy"/> }.into_any(),
    });
    let script = shown(
        move || drive.kind.get() == PolicyKind::Scripted,
        move || {
            buttons([button("quiet small")
                .on_click(move || playground.intend(Intent::ScriptFromEpisode))
                .child("Use this episode's actions")])
            .view()
        },
    );
    let summary = words(move || drive.kind.get().summary().to_owned());
    form("policy-form", "Policy settings", move || {
        playground.intend(Intent::Run)
    })
    .attr("id", POLICY_FORM)
    .child(el("h2").class("visually-hidden").child("Policy"))
    .child(field("policy", "Policy", control).child(help(summary).attr("id", "policy-help")))
    .child(settings)
    .child(script)
    .child(run_and_stop(playground))
}

fn run_and_stop(playground: Playground) -> El {
    let drive = playground.drive;
    let slow = slow(playground);
    let idle = move || drive.run.get() == Run::Idle;
    let unfit = flag(move || {
        // The line below the tools says why no step is possible.
        drive.kind.get() == PolicyKind::Manual || playground.may_step().is_err()
    });
    let run = shown(idle, move || {
        el("button")
            .attr("type", "submit")
            .class("primary")
            .flag_property("disabled", unfit)
            .child("Run")
            .view()
    });
    // A step that takes long can be ended even if nobody runs.
    let stop = shown(
        move || !idle() || slow.get(),
        move || {
            button("primary")
                .on_click(move || playground.intend(Intent::Stop))
                .child("Stop")
                .view()
        },
    );
    el("div").class("button-row").child(run).child(stop)
}

/// Whether something has been under way for long.
fn slow(playground: Playground) -> RwSignal<bool> {
    let slow = RwSignal::new(false);
    let waits = StoredValue::new(0u32);
    let busy = Memo::new(move |_| playground.session.with(|session| session.is_busy()));
    watch(move || {
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
