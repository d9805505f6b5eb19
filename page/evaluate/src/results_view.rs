//! The page of an open evaluation: progress, controls and results.

use std::rc::Rc;

use leptos::prelude::*;

use super::charts_view::Charts;
use super::limits_view::LimitsDialog;
use super::policies_view::PoliciesTable;
use super::progress_view::{Controls, ProgressView};
use super::run::OpenRun;
use super::state::Evaluations;
use super::tasks_view::TasksTable;
use volary_browser as browser;
use volary_storage as storage;
use volary_ui::alert_box::AlertWords;
use volary_ui::text::inert;

#[component]
pub(super) fn Results(evaluations: Evaluations, run: Rc<OpenRun>) -> impl IntoView {
    let limits = RwSignal::new(false);
    view! {
        <div class="evaluation">
            <header class="evaluation-head">
                <a class="back-link" href="#/evaluate">
                    {"All evaluations"}
                </a>
                <h1 class="evaluation-title" dir="auto">
                    {inert(&run.plan.name)}
                </h1>
                <ProgressView run=Rc::clone(&run) limits/>
                <Controls evaluations run=Rc::clone(&run) limits/>
            </header>
            <StorageAlert evaluations/>
            <PoliciesTable run=Rc::clone(&run)/>
            <Charts run=Rc::clone(&run)/>
            <TasksTable evaluations run=Rc::clone(&run)/>
            <LimitsDialog evaluations run open=limits/>
        </div>
    }
}

/// An alert that results could not be stored, with what to do.
#[component]
pub(super) fn StorageAlert(evaluations: Evaluations) -> impl IntoView {
    let try_again = |_| {
        browser::spawn(async {
            // The same alert reports a failure.
            let _ = storage::keep_all().await;
        });
    };
    move || {
        let problem = storage::problem()?;
        Some(view! {
            <div class="alert" role="alert">
                <AlertWords
                    what="The results are not stored. They are lost when this tab is closed."
                    why=problem.to_string()
                    advice=problem.advice()
                >
                    <div class="button-row">
                        <button
                            type="button"
                            class="primary"
                            on:click=move |_| evaluations.export_episodes()
                        >
                            {"Save episodes"}
                        </button>
                        <button type="button" on:click=try_again>
                            {"Try to store them"}
                        </button>
                    </div>
                </AlertWords>
            </div>
        })
    }
}
