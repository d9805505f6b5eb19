//! The progress of an evaluation, the reason of a pause, and the controls.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::schedule::PauseReason;
use volary_agent::evaluation::{EvaluationPhase, MainReason, Progress};
use volary_agent::model::limits::Spent;
use volary_core::quantity::{count_text, large_plural, plural};
use volary_view::summary::seconds_text;

use super::chart;
use super::run::OpenRun;
use super::state::Evaluations;
use volary_connections::outside::costs::RoleCosts;
use volary_ui::alert_box::AlertWords;
use volary_ui::text::inert;

const ELSEWHERE: &str = "This evaluation is running in another tab. Only one tab can run it, so \
     that nothing is paid for twice. Cancel it there or close that tab, then resume here.";

#[component]
pub(super) fn ProgressView(
    run: Rc<OpenRun>,
    /// Whether the dialog of limits is open.
    limits: RwSignal<bool>,
) -> impl IntoView {
    let (progress, phase) = (run.shown.progress, run.shown.phase);
    let total = run.plan.length();
    let done = move || progress.with(|progress| progress.finished + progress.failed);
    let percent = move |count: usize| count as f64 / total.max(1) as f64 * 100.0;
    let finished = move || {
        let end = percent(progress.with(|progress| progress.finished));
        format!("M0 0H{end:.2}V1H0Z")
    };
    let failed = move || {
        let (start, end) = (progress.with(|progress| progress.finished), done());
        let (start, end) = (percent(start), percent(end));
        format!("M{start:.2} 0H{end:.2}V1H{start:.2}Z")
    };
    let status =
        move || progress.with(|progress| phase.with(|phase| status_words(phase, progress)));
    let waiting = run.shown.waiting;
    let waits = move || {
        let text = waiting.get();
        (!text.is_empty()).then(|| {
            view! {
                <p class="faint evaluation-waits" dir="auto">
                    {inert(&text)}
                </p>
            }
        })
    };
    view! {
        <svg
            class="progress-bar"
            role="progressbar"
            aria-label="Progress"
            aria-valuemin="0"
            aria-valuemax=total.to_string()
            aria-valuenow=move || done().to_string()
            viewBox="0 0 100 1"
            preserveAspectRatio="none"
        >
            <path class="progress-done" d=finished></path>
            <path class="progress-failed" d=failed></path>
        </svg>
        <output class="evaluation-status" aria-label="Evaluation">
            {status}
        </output>
        {waits}
        <RoleCosts/>
        <Reason run limits/>
    }
}

/// The reason of a pause if the user should know it; otherwise the most common failure.
#[component]
fn Reason(run: Rc<OpenRun>, limits: RwSignal<bool>) -> impl IntoView {
    let (phase, table, total) = (run.shown.phase, run.shown.table, run.plan.length());
    move || {
        let (reason, is_budget) = match phase.get() {
            EvaluationPhase::Paused(PauseReason::Budget(end)) => {
                (format!("{end} Raise the limit to continue."), true)
            }
            EvaluationPhase::Paused(PauseReason::Elsewhere) => (ELSEWHERE.to_owned(), false),
            EvaluationPhase::Paused(PauseReason::Problem(problem)) => (problem.to_string(), false),
            EvaluationPhase::Running => return None,
            _ => {
                let reason = table.with(|table| table.main_reason.clone());
                return reason.map(|reason| view! { <Failures reason total/> }.into_any());
            }
        };
        let raise = is_budget.then(|| {
            view! {
                <button type="button" on:click=move |_| limits.set(true)>
                    "Change limits"
                </button>
            }
        });
        let alert = view! {
            <div class="alert" role="alert">
                <p class="alert-what" dir="auto">
                    {inert(&reason)}
                </p>
                {raise}
            </div>
        };
        Some(alert.into_any())
    }
}

/// The number of failures and their most common reason.
#[component]
fn Failures(reason: MainReason, total: usize) -> impl IntoView {
    let advice = "Select a failed cell below to see its error. Fix the cause, then retry the \
         failures.";
    view! {
        <div class="alert" role="alert">
            <AlertWords
                what=failed_words(&reason, total)
                why=reason.message.to_string()
                advice
            />
        </div>
    }
}

fn failed_words(reason: &MainReason, total: usize) -> String {
    let MainReason {
        given, failures, ..
    } = reason;
    let mut words = match failures {
        1 if total == 1 => "The episode failed".to_owned(),
        failures if *failures == total => format!("All {} failed", plural(total, "episode")),
        failures => format!(
            "{} of {} failed",
            count_text(*failures),
            plural(total, "episode")
        ),
    };
    words.push_str(&match (*given, *failures) {
        (_, 1) => ":".to_owned(),
        (given, failures) if given == failures => ", all for the same reason:".to_owned(),
        (1, _) => ", each for a different reason. The first:".to_owned(),
        (given, _) => format!(", {} of them for this reason:", count_text(given)),
    });
    words
}

fn status_words(phase: &EvaluationPhase, progress: &Progress) -> String {
    let done = progress.finished + progress.failed;
    let mut text = match phase {
        EvaluationPhase::Running => "Running".to_owned(),
        EvaluationPhase::Finished => "Finished".to_owned(),
        // An evaluation that has spent anything has been started.
        EvaluationPhase::Paused(PauseReason::Loaded)
            if done == 0 && progress.spent == Spent::default() =>
        {
            "Ready".to_owned()
        }
        EvaluationPhase::Paused(PauseReason::Cancelled) => "Cancelled".to_owned(),
        EvaluationPhase::Paused(_) => "Paused".to_owned(),
    };
    text.push_str(&format!(
        ": {} of {}",
        count_text(done),
        plural(progress.total, "episode")
    ));
    if progress.failed > 0 {
        text.push_str(&format!(", {} failed", count_text(progress.failed)));
    }
    if progress.spent.tokens > 0 {
        text.push_str(&format!(
            ", {}, cost {}",
            large_plural(progress.spent.tokens, "token"),
            chart::cost_words(progress.spent.cost)
        ));
    }
    if let (EvaluationPhase::Running, Some(left)) = (phase, progress.seconds_left) {
        text.push_str(&format!(", about {} left", seconds_text(left.ceil())));
    }
    text
}

#[component]
pub(super) fn Controls(
    evaluations: Evaluations,
    run: Rc<OpenRun>,
    /// Whether the dialog of limits is open.
    limits: RwSignal<bool>,
) -> impl IntoView {
    let (phase, progress) = (run.shown.phase, run.shown.progress);
    let is_running = move || phase.with(|phase| *phase == EvaluationPhase::Running);
    let is_paused = move || phase.with(|phase| matches!(phase, EvaluationPhase::Paused(_)));
    let has_failures = move || progress.with(|progress| progress.failed > 0);
    let act = move |act: fn(&Rc<OpenRun>)| {
        if let Some(run) = evaluations.open.get_untracked() {
            act(&run);
        }
    };
    // Pause and Resume are one button, so that it keeps the focus.
    let pause_or_resume = move |_| {
        if untrack(is_running) {
            act(|run| run.pause(PauseReason::Asked))
        } else {
            act(OpenRun::resume)
        }
    };
    let (id, name) = (run.id.to_string(), run.plan.name.to_string());
    let mut policies = run.plan.policies.iter();
    let has_limits = policies.any(|policy| policy.actor.is_model());
    let change_limits = has_limits.then(|| {
        view! {
            <button type="button" class="quiet" on:click=move |_| limits.set(true)>
                "Limits"
            </button>
        }
    });
    view! {
        <div class="button-row">
            <Show when=move || is_running() || is_paused()>
                <button type="button" class="primary" on:click=pause_or_resume>
                    {move || if is_running() { "Pause" } else { "Resume" }}
                </button>
            </Show>
            <Show when=is_running>
                <button type="button" on:click=move |_| act(OpenRun::cancel)>
                    {"Cancel"}
                </button>
            </Show>
            <Show when=move || has_failures() && !is_running()>
                <button type="button" on:click=move |_| act(OpenRun::retry_failures)>
                    {"Retry failures"}
                </button>
            </Show>
            {change_limits}
            <button type="button" on:click=move |_| evaluations.export_results(true)>
                {"Export CSV"}
            </button>
            <button type="button" on:click=move |_| evaluations.export_results(false)>
                {"Export JSONL"}
            </button>
            <button type="button" on:click=move |_| evaluations.export_episodes()>
                {"Export episodes"}
            </button>
            <button
                type="button"
                class="quiet"
                disabled=is_running
                on:click=move |_| evaluations.ask_to_delete(id.clone(), name.clone())
            >
                {"Delete"}
            </button>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_failed_and_how_many_alike() {
        let words = |given, failures, total| {
            let message = "Nothing answers.".into();
            let reason = MainReason {
                message,
                given,
                failures,
            };
            failed_words(&reason, total)
        };
        for (counts, expected) in [
            (
                (24, 24, 24),
                "All 24 episodes failed, all for the same reason:",
            ),
            ((1, 1, 1), "The episode failed:"),
            ((1, 1, 5), "1 of 5 episodes failed:"),
            (
                (3, 4, 5),
                "4 of 5 episodes failed, 3 of them for this reason:",
            ),
            (
                (1, 2, 5),
                "2 of 5 episodes failed, each for a different reason. The first:",
            ),
        ] {
            assert_eq!(words(counts.0, counts.1, counts.2), expected);
        }
    }

    #[test]
    fn an_evaluation_that_cost_something_is_not_new() {
        let loaded = EvaluationPhase::Paused(PauseReason::Loaded);
        let said = |finished, tokens| {
            let spent = Spent {
                tokens,
                ..Spent::default()
            };
            let progress = Progress {
                total: 3,
                finished,
                spent,
                ..Progress::default()
            };
            status_words(&loaded, &progress)
        };
        assert_eq!(said(0, 0), "Ready: 0 of 3 episodes");
        assert_eq!(said(0, 30), "Paused: 0 of 3 episodes, 30 tokens, cost –");
        assert!(said(1, 0).starts_with("Paused: 1 of 3"));
    }
}
