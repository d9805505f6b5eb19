//! An open evaluation: progress, controls and results.

use std::rc::Rc;

use leptos::prelude::*;

use super::charts_view::charts;
use super::limits_view::limits_dialog;
use super::policies_view::policies_table;
use super::progress_view::{controls, progress};
use super::run::Run;
use super::state::Evaluations;
use super::tasks_view::tasks_view;
use crate::components::alert_box::alert_words;
use crate::components::erased::dynamic;
use crate::components::markup::{El, button, el, nothing};
use crate::components::text::inert_in;
use crate::storage;

/// The view of an open evaluation.
pub fn results_view(evaluations: Evaluations, run: &Rc<Run>) -> El {
    let title = inert_in("h1", "evaluation-title", &run.plan.name);
    let limits = RwSignal::new(false);
    el("div")
        .class("evaluation")
        .child(
            el("header")
                .class("evaluation-head")
                .child(el("a").attr("href", "#/evaluate").child("All evaluations"))
                .child(title)
                .child(progress(run, limits))
                .child(controls(evaluations, run, limits)),
        )
        .child(storage_alert(evaluations))
        .child(policies_table(run))
        .child(charts(run))
        .child(tasks_view(evaluations, run))
        .child(limits_dialog(evaluations, run, limits))
}

/// An alert that results are not stored, and what to do.
pub fn storage_alert(evaluations: Evaluations) -> AnyView {
    dynamic(move || {
        let Some(trouble) = storage::trouble() else {
            return nothing();
        };
        let try_again = move || {
            crate::browser::spawn(async {
                // Told by the same alert.
                let _ = storage::keep_all().await;
            });
        };
        el("div")
            .class("alert")
            .attr("role", "alert")
            .child(
                alert_words(
                    "The results are not stored. They are lost when this tab is closed.",
                    &trouble.to_string(),
                    trouble.advice(),
                )
                .child(
                    el("div")
                        .class("button-row")
                        .child(
                            button("primary")
                                .on_click(move || evaluations.export_episodes())
                                .child("Save episodes"),
                        )
                        .child(button("").on_click(try_again).child("Try to store them")),
                ),
            )
            .view()
    })
}
