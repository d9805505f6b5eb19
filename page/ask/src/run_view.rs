//! The run of a question: progress, what it has spent, and the buttons that pause, stop and go on.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::ask::{AskScope, Event, RunShown, pause_reason};
use volary_ask::run::AskPhase;
use volary_core::json::{Json, Text};
use volary_core::quantity::plural;
use volary_ui::text::inert;
use volary_ui::{Dialog, SchemaForm};
use volary_view::ask::costs::status_text;
use volary_view::form::Form;

use super::question_view::asked;
use super::setup;
use super::state::{AskState, use_ask};

const LIMITS: &str = "ask-run-limits";

/// What is left to ask about of a question.
fn left(state: AskState, id: &Text, scope: AskScope) -> usize {
    state.history.with(|history| {
        let Some(question) = history.question(id) else {
            return 0;
        };
        let rows = match scope {
            AskScope::All => &question.rows,
            AskScope::Calibration => &question.calibration,
        };
        let open = rows.iter();
        open.filter(|row| history.answer(id, row).is_none()).count()
    })
}

#[component]
pub(super) fn RunView(id: Text, scope: AskScope) -> impl IntoView {
    let state = use_ask();
    let limits = RwSignal::new(false);
    let of_this = {
        let id = id.clone();
        Memo::new(move |_| {
            let shown = state.shown.get();
            shown.filter(|shown| shown.id == id && shown.scope == scope)
        })
    };
    let is_running =
        Memo::new(move |_| of_this.with(|shown| shown.as_ref().is_some_and(is_active)));
    let is_other = Memo::new(move |_| {
        state
            .shown
            .with(|shown| shown.as_ref().is_some_and(is_active))
            && !is_running.get()
    });
    let left = {
        let id = id.clone();
        Memo::new(move |_| left(state, &id, scope))
    };
    let progress = move || {
        let shown = of_this.get()?;
        Some(progress_view(&shown))
    };
    let waits = move || {
        let count = left.get();
        (of_this.with(Option::is_none) && count > 0).then(|| {
            view! {
                <p class="evaluation-status" role="status">
                    {format!("{} without an answer.", plural(count, "trajectory"))}
                </p>
            }
        })
    };
    let reason = move || {
        let shown = of_this.get()?;
        let reason = pause_reason(&shown.phase).map(Text::from);
        let is_budget = reason.is_some()
            && matches!(
                shown.phase,
                AskPhase::Paused(volary_ask::run::AskPause::Budget(_))
            );
        let reason = reason.or(shown.failure)?;
        let raise = is_budget.then(|| {
            view! {
                <button type="button" on:click=move |_| limits.set(true)>
                    {"Change limits"}
                </button>
            }
        });
        Some(view! {
            <div class="alert" role="alert">
                <p class="alert-what" dir="auto">
                    {inert(&reason)}
                </p>
                {raise}
            </div>
        })
    };
    let failed = Memo::new(move |_| {
        of_this.with(|shown| {
            shown
                .as_ref()
                .is_some_and(|shown| shown.progress.failed > 0)
        })
    });
    // Pause and Resume are one button, so that it keeps the focus.
    let resume_id = id.clone();
    let pause_or_resume = move |_| {
        if is_running.get_untracked() {
            state.dispatch(Event::Pause);
        } else {
            state.resume(&resume_id, scope);
        }
    };
    let name = move || {
        if is_running.get() {
            "Pause"
        } else if of_this.with(Option::is_none) && scope == AskScope::Calibration {
            "Ask the model about these"
        } else if of_this.with(Option::is_none) {
            "Ask about the rest"
        } else {
            "Resume"
        }
    };
    let can_act = move || is_running.get() || left.get() > 0 || failed.get();
    let is_shown = move || of_this.with(Option::is_some) || left.get() > 0;
    view! {
        <section class="card ask-run" aria-label="Run" hidden=move || !is_shown()>
            {progress}
            {waits}
            {reason}
            <Show when=move || is_other.get()>
                <p class="help">{"Another question is being asked."}</p>
            </Show>
            <div class="button-row">
                <Show when=can_act>
                    <button
                        type="button"
                        class="primary"
                        disabled=move || is_other.get()
                        on:click=pause_or_resume.clone()
                    >
                        {name}
                    </button>
                </Show>
                <Show when=move || is_running.get()>
                    <button type="button" on:click=move |_| state.dispatch(Event::Stop)>
                        {"Stop"}
                    </button>
                </Show>
                <Show when=can_act>
                    <button type="button" class="quiet" on:click=move |_| limits.set(true)>
                        {"Limits"}
                    </button>
                </Show>
            </div>
            <LimitsDialog id open=limits/>
        </section>
    }
}

fn is_active(shown: &RunShown) -> bool {
    shown.phase == AskPhase::Running
}

fn progress_view(shown: &RunShown) -> AnyView {
    let progress = shown.progress;
    let done = progress.answered + progress.from_cache;
    let total = (done + progress.waiting + progress.asking + progress.failed).max(1);
    let percent = |count: usize| count as f64 / total as f64 * 100.0;
    let (good, all) = (percent(done), percent(done + progress.failed));
    view! {
        <svg
            class="progress-bar"
            role="progressbar"
            aria-label="Progress"
            aria-valuemin="0"
            aria-valuemax=total.to_string()
            aria-valuenow=done.to_string()
            viewBox="0 0 100 1"
            preserveAspectRatio="none"
        >
            <path class="progress-done" d=format!("M0 0H{good:.2}V1H0Z")></path>
            <path class="progress-failed" d=format!("M{good:.2} 0H{all:.2}V1H{good:.2}Z")></path>
        </svg>
        <output class="evaluation-status" aria-label="Progress of the question">
            {status_text(shown)}
        </output>
    }
    .into_any()
}

/// Changes the limits of a question, also while it is asked.
#[component]
fn LimitsDialog(id: Text, open: RwSignal<bool>) -> impl IntoView {
    let state = use_ask();
    let question = asked(state, &id);
    let form = RwSignal::new(Form::new(setup::limits_schema()));
    Effect::watch(
        move || open.get(),
        move |is_open, _, _| {
            let question = question.get_untracked();
            if let Some(question) = question.filter(|_| *is_open) {
                let (limits, _) = setup::values(&question.setup);
                form.set(Form::with_value(setup::limits_schema(), &limits));
            }
        },
        false,
    );
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        let value: Option<Json> = form.try_update(Form::submit).flatten();
        let (Some(value), Some(question)) = (value, question.get_untracked()) else {
            return volary_browser::show_fault(LIMITS);
        };
        let asked = &question.setup;
        let new = setup::setup(
            asked.question.clone(),
            asked.connection.clone(),
            asked.model.clone(),
            &value,
            &Json::Null,
        );
        state.dispatch(Event::SetBudget {
            id: id.clone(),
            budget: new.budget(),
        });
        open.set(false);
    };
    view! {
        <Dialog open title="Limits">
            <form aria-label="Limits of the question" novalidate id=LIMITS on:submit=submitted>
                <SchemaForm form id_prefix="ask-run-limits"/>
                <div class="button-row">
                    <button type="submit" class="primary">
                        {"Apply"}
                    </button>
                </div>
            </form>
        </Dialog>
    }
}
