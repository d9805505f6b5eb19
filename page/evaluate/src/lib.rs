//! Evaluations: many tasks × policies × trials, run in the background, with their results.
//!
//! - [`setup`]: the input for a new evaluation and its plan; [`setup_view`] renders the form.
//! - [`state`]: the evaluations of the page; [`run`]: the open one, with its schedule and storage.
//! - [`pool`]: the workers; [`stage`]: environments of models' episodes; [`model_episode`]: such an episode, with its
//!   [`model_settings`]; [`remote_environments`]: environments on servers.
//! - [`results_view`]: an open evaluation: [`progress_view`], [`policies_view`], [`charts_view`] with the geometry in
//!   [`chart`], [`tasks_view`]; [`limits_view`] changes the [`rate_limits`]. [`list_view`]: previous evaluations;
//!   [`compare_view`]: two of them, task by task.
//! - [`delete_dialog`]: confirms a deletion. [`rename_dialog`]: asks for a new name.
//!
//! Plans and results are computed in `volary_agent::evaluation`.

pub mod chart;
mod charts_view;
mod compare_view;
mod delete_dialog;
mod limits_view;
mod list_view;
pub mod model_episode;
pub mod model_settings;
mod policies_view;
pub mod pool;
mod progress_view;
pub mod rate_limits;
pub mod remote_environments;
mod rename_dialog;
mod results_view;
pub mod run;
pub mod setup;
mod setup_view;
pub mod stage;
pub mod state;
mod tasks_view;

use leptos::prelude::*;
use volary_app::outside::PlayingPage;
use volary_view::recovery::loading_text;
use volary_view::route::Route;

use compare_view::ComparePage;
use delete_dialog::DeleteDialog;
use list_view::PreviousEvaluations;
use results_view::{Results, StorageAlert};
use setup_view::SetupForm;
use state::Evaluations;
use volary_connections::outside::dialog::OutsideDialog;
use volary_playground::state::use_playground;
use volary_storage as storage;
use volary_ui::navigation::use_pages;
use volary_ui::sharing_check::CheckedExportDialog;

/// The page, as the router mounts it.
pub fn page() -> AnyView {
    view! { <EvaluatePage/> }.into_any()
}

#[component]
fn EvaluatePage() -> impl IntoView {
    let evaluations = Evaluations::new(use_playground());
    let pages = use_pages();
    let is_one_wanted = |route: &Route| {
        matches!(
            route,
            Route::Evaluate {
                evaluation: Some(_),
                beside: None,
            }
        )
    };
    // Set before the first effect runs, so that the form for a new evaluation never flashes up.
    evaluations
        .is_loading
        .set(pages.route.with_untracked(is_one_wanted));
    Effect::new(move |_| {
        // While another page is shown, this page keeps its state and the evaluation continues.
        match pages.route.get() {
            Route::Evaluate { evaluation, beside } => {
                // A comparison opens neither evaluation, so a running one is paused.
                let open = evaluation.filter(|_| beside.is_none());
                untrack(|| evaluations.follow(open));
            }
            _ => pool::idle_workers::end(),
        }
    });
    let compared = Memo::new(move |former: Option<&Option<(String, String)>>| {
        pages.route.with(|route| match route {
            Route::Evaluate { evaluation, beside } => evaluation.clone().zip(beside.clone()),
            _ => former.cloned().flatten(),
        })
    });
    let content = move || match evaluations.open.get() {
        _ if compared.with(Option::is_some) => {
            let pair = compared.get();
            pair.map(|(first, second)| view! { <ComparePage first second/> })
                .into_any()
        }
        Some(run) => view! { <Results evaluations run/> }.into_any(),
        None if evaluations.is_loading.get() => view! {
            <h1>"Evaluate"</h1>
            <p class="faint" role="status">
                {|| loading_text(storage::recovery())}
            </p>
        }
        .into_any(),
        None => view! {
            <h1>"Evaluate"</h1>
            <p class="faint">"Run policies on many tasks and compare their results."</p>
            <StorageAlert evaluations/>
            <section class="card" aria-label="New evaluation">
                <h2>{"New evaluation"}</h2>
                <SetupForm evaluations/>
            </section>
            <PreviousEvaluations evaluations/>
        }
        .into_any(),
    };
    view! {
        <div class="evaluate">
            {content}
            <DeleteDialog evaluations/>
            <CheckedExportDialog export=evaluations.export/>
            <OutsideDialog page=PlayingPage::Evaluation/>
        </div>
    }
}
