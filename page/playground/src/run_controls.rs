//! **Run**, **Stop** and **Step**, next to the timeline, where they are always visible.

use std::time::Duration;
use volary_app::playground::Event;
use volary_app::playground::consent::EpisodeAttempt;
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::run::Run;

use leptos::prelude::*;

use super::manual_action;
use super::state::{Playground, use_playground};
use super::welcome;
use volary_app::playground::session::Refusal;
use volary_browser::{self as browser, timers};

/// Duration after which Stop is offered for a step.
const LONG: Duration = Duration::from_millis(400);

#[component]
pub(super) fn RunControls() -> impl IntoView {
    let playground = use_playground();
    let policy = playground.policy();
    // A slow step can be stopped even if no policy runs.
    let can_stop = Memo::new(move |_| policy.run.get() != Run::Idle || policy.is_slow.get());
    let can_run = Memo::new(move |_| may_run(playground));
    let can_step = Memo::new(move |_| may_step(playground));
    let is_manual = move || policy.kind.get() == PolicyKind::Manual;
    // At the end of a demonstration the guide says what comes next.
    let is_led = Memo::new(move |_| welcome::leads(playground));
    // Run and Stop are one button, so that it keeps the focus. While it cannot be pressed it is marked as disabled and
    // does nothing; a disabled button would lose the focus.
    let run = move |_| {
        if can_stop.get_untracked() {
            playground.update(Event::Stop);
        } else if can_run.get_untracked() {
            playground.update(Event::Attempt(EpisodeAttempt::Run));
        }
    };
    let step = move |_| {
        if can_step.get_untracked() {
            playground.update(Event::Attempt(EpisodeAttempt::Step));
        }
    };
    let rank = move |is_primary: bool| if is_primary { "primary" } else { "" };
    view! {
        <div class="run-controls" role="group" aria-label="Run">
            <button
                type="button"
                class=move || rank(is_manual() && !is_led.get())
                aria-disabled=move || (!can_step.get()).to_string()
                on:click=step
            >
                {"Step"}
            </button>
            <button
                type="button"
                class=move || rank(!is_manual() || can_stop.get())
                aria-disabled=move || (!can_stop.get() && !can_run.get()).to_string()
                on:click=run
            >
                {move || if can_stop.get() { "Stop" } else { "Run" }}
            </button>
        </div>
    }
}

/// Returns whether Run has an effect. Without a policy that can act it opens the choice of a policy, and after the end
/// of an episode it starts a new one.
fn may_run(playground: Playground) -> bool {
    match playground.may_step() {
        Ok(()) | Err(Refusal::Over | Refusal::NotAgreed) => true,
        Err(_) => false,
    }
}

/// Returns whether Step has an effect. A model with a request in progress is not asked again.
fn may_step(playground: Playground) -> bool {
    let asked =
        playground.policy().run.get() != Run::Idle && manual_action::is_left_to_model(playground);
    playground.may_step().is_ok() && !asked
}

/// Watches for slow operations. Loaded with the code that starts operations.
pub(super) fn watch_for_slow_steps(playground: Playground) {
    let slow = playground.policy().is_slow;
    let waits = StoredValue::new(0u32);
    let busy = Memo::new(move |_| playground.with(|machine| machine.session().is_busy()));
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
            if waits.try_get_value() == Some(wait) && busy.get_untracked() {
                slow.set(true);
            }
        });
    });
}
