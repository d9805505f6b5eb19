//! The progress of an evaluation, why it paused, and its controls.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::schedule::Why;
use volary_agent::evaluation::{MainReason, Phase, Progress};
use volary_agent::model::limits::Spent;

use super::chart;
use super::run::Run;
use super::state::Evaluations;
use crate::components::alert_box::alert_words;
use crate::components::erased::{dynamic, flag, shown, words};
use crate::components::markup::{El, all, button, el, nothing, path, svg};
use crate::components::text::inert_in;
use crate::projection::summary::seconds_text;
use crate::projection::text::{count_text, large_plural, plural};

const ELSEWHERE: &str = "This evaluation is running in another tab. Only one tab can run it, so \
     that nothing is paid for twice. Cancel it there or close that tab, then resume here.";

/// The progress, and why it paused. `limits` opens the dialog of limits.
pub(super) fn progress(run: &Rc<Run>, limits: RwSignal<bool>) -> AnyView {
    let (progress, phase) = (run.shown.progress, run.shown.phase);
    let done = move || {
        let progress = progress.get();
        progress.finished + progress.failed
    };
    let total = run.plan.length();
    let bar = svg()
        .class("progress-bar")
        .attr("role", "progressbar")
        .attr("aria-label", "Progress")
        .attr("aria-valuemin", "0")
        .attr("aria-valuemax", total.to_string())
        .attr("aria-valuenow", words(move || done().to_string()))
        .attr("viewBox", "0 0 100 1")
        .attr("preserveAspectRatio", "none")
        .child(path().class("progress-done").attr(
            "d",
            words(move || {
                let share =
                    progress.with(|progress| progress.finished as f64 / total.max(1) as f64);
                format!("M0 0H{:.2}V1H0Z", share * 100.0)
            }),
        ))
        .child(path().class("progress-failed").attr(
            "d",
            words(move || {
                let of = |count: usize| count as f64 / total.max(1) as f64 * 100.0;
                let progress = progress.get();
                let (start, end) = (
                    of(progress.finished),
                    of(progress.finished + progress.failed),
                );
                format!("M{start:.2} 0H{end:.2}V1H{start:.2}Z")
            }),
        ));
    let status = el("output")
        .class("evaluation-status")
        .attr("aria-label", "Evaluation")
        .child(words(move || {
            progress.with(|progress| phase.with(|phase| status_words(phase, progress)))
        }));
    let waiting = run.shown.waiting;
    let waits = dynamic(move || match waiting.get() {
        text if text.is_empty() => nothing(),
        text => inert_in("p", "faint evaluation-waits", &text).view(),
    });
    all(vec![bar.view(), status.view(), waits, why(run, limits)])
}

/// Why it paused, if the user should know, or else the most common failure.
fn why(run: &Rc<Run>, limits: RwSignal<bool>) -> AnyView {
    let (phase, table, total) = (run.shown.phase, run.shown.table, run.plan.length());
    dynamic(move || {
        let (reason, is_budget) = match phase.get() {
            Phase::Paused(Why::Budget(end)) => {
                (format!("{end} Raise the limit to continue."), true)
            }
            Phase::Paused(Why::Elsewhere) => (ELSEWHERE.to_owned(), false),
            Phase::Paused(Why::Trouble(trouble)) => (trouble.to_string(), false),
            Phase::Running => return nothing(),
            _ => {
                let reason = table.with(|table| table.main_reason.clone());
                return reason.map_or_else(nothing, |reason| failures(&reason, total));
            }
        };
        let raise = match is_budget {
            true => button("")
                .on_click(move || limits.set(true))
                .child("Change limits")
                .view(),
            false => nothing(),
        };
        el("div")
            .class("alert")
            .attr("role", "alert")
            .child(inert_in("p", "alert-what", &reason))
            .child(raise)
            .view()
    })
}

/// The number of failures and their most common reason.
fn failures(reason: &MainReason, total: usize) -> AnyView {
    let advice = "Select a failed cell below to see its error. Fix the cause, then retry the \
         failures.";
    el("div")
        .class("alert")
        .attr("role", "alert")
        .child(alert_words(
            &failed_words(reason, total),
            &reason.message,
            advice,
        ))
        .view()
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

fn status_words(phase: &Phase, progress: &Progress) -> String {
    let done = progress.finished + progress.failed;
    let mut text = match phase {
        Phase::Running => "Running".to_owned(),
        Phase::Finished => "Finished".to_owned(),
        // Spending counts as a start.
        Phase::Paused(Why::Loaded) if done == 0 && progress.spent == Spent::default() => {
            "Ready".to_owned()
        }
        Phase::Paused(Why::Cancelled) => "Cancelled".to_owned(),
        Phase::Paused(_) => "Paused".to_owned(),
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
    if let (Phase::Running, Some(left)) = (phase, progress.seconds_left) {
        text.push_str(&format!(", about {} left", seconds_text(left.ceil())));
    }
    text
}

/// The controls.
pub(super) fn controls(evaluations: Evaluations, run: &Rc<Run>, limits: RwSignal<bool>) -> El {
    let phase = run.shown.phase;
    let progress = run.shown.progress;
    let running = move || phase.with(|phase| *phase == Phase::Running);
    let paused = move || phase.with(|phase| matches!(phase, Phase::Paused(_)));
    let open = evaluations.open;
    let act = move |act: fn(&Rc<Run>)| {
        move || {
            if let Some(run) = open.get_untracked() {
                act(&run);
            }
        }
    };
    let some_failed = move || progress.with(|progress| progress.failed > 0);
    let (id, name) = (run.id.to_string(), run.plan.name.to_string());
    let mut policies = run.plan.policies.iter();
    let change_limits = match policies.any(|policy| policy.actor.is_model()) {
        true => button("quiet")
            .on_click(move || limits.set(true))
            .child("Limits")
            .view(),
        false => nothing(),
    };
    el("div")
        .class("button-row")
        .child(shown(
            move || running() || paused(),
            move || {
                // One button for both states, so that it keeps the focus.
                let (pause, resume) = (act(|run| run.pause(Why::Asked)), act(Run::resume));
                let press = move || match untrack(running) {
                    true => pause(),
                    false => resume(),
                };
                let does = words(move || match running() {
                    true => "Pause".to_owned(),
                    false => "Resume".to_owned(),
                });
                button("primary").on_click(press).child(does).view()
            },
        ))
        .child(shown(running, move || {
            button("").on_click(act(Run::cancel)).child("Cancel").view()
        }))
        .child(shown(
            move || some_failed() && !running(),
            move || {
                button("")
                    .on_click(act(Run::retry_failures))
                    .child("Retry failures")
                    .view()
            },
        ))
        .child(change_limits)
        .child(
            button("quiet")
                .on_click(move || evaluations.export_results(true))
                .child("Export CSV"),
        )
        .child(
            button("quiet")
                .on_click(move || evaluations.export_results(false))
                .child("Export JSONL"),
        )
        .child(
            button("quiet")
                .on_click(move || evaluations.export_episodes())
                .child("Export episodes"),
        )
        .child(
            button("quiet")
                .flag_property("disabled", flag(running))
                .on_click(move || evaluations.ask_to_delete(id.clone(), name.clone()))
                .child("Delete"),
        )
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
    fn what_was_paid_for_is_no_longer_just_ready() {
        let loaded = Phase::Paused(Why::Loaded);
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
