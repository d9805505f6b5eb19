//! Evaluations: many tasks × policies × repeats, run in the background, with their results.
//!
//! - [`setup`]: the input for a new evaluation and its plan; [`setup_view`] renders the form.
//! - [`state`]: the evaluations of the page; [`run`]: the open one, with its schedule and storage.
//! - [`pool`]: the workers; [`stage`]: environments of models' episodes; [`model_episode`]: such an episode,
//!   with its [`model_settings`]; [`abroad`]: environments on servers.
//! - [`results_view`]: an open evaluation: [`progress_view`], [`policies_view`], [`charts_view`] with the
//!   geometry in [`chart`], [`tasks_view`]; [`limits_view`] changes the [`pace`]. [`list_view`]: previous
//!   evaluations.
//! - [`delete_dialog`]: confirms a deletion.
//!
//! Plans and results are computed in `volary_agent::evaluation`.

pub mod chart;
mod charts_view;
mod delete_dialog;
mod limits_view;
pub mod list_view;
pub mod model_episode;
pub mod model_settings;
mod policies_view;
pub mod pool;
mod progress_view;
pub mod rate_limits;
pub mod remote_environments;
pub mod results_view;
pub mod run;
pub mod setup;
pub mod setup_view;
pub mod stage;
pub mod state;
pub mod tasks_view;

use leptos::prelude::*;

use crate::components::erased::{dynamic, watch, words};
use crate::components::markup::{all, el};
use crate::navigation::use_pages;
use crate::playground::state::use_playground;
use crate::projection::recovery::loading_text;
use crate::route::Route;
use crate::storage;
use state::Evaluations;

/// The page.
pub fn page() -> AnyView {
    let evaluations = Evaluations::new(use_playground());
    let pages = use_pages();
    let is_one_wanted = |route: &Route| {
        matches!(
            route,
            Route::Evaluate {
                evaluation: Some(_)
            }
        )
    };
    // Known before the first effect runs, so that the form for a new evaluation never flashes up.
    evaluations
        .is_loading
        .set(pages.route.with_untracked(is_one_wanted));
    watch(move || {
        // While another page is shown, this one keeps its state and continues.
        match pages.route.get() {
            Route::Evaluate { evaluation } => untrack(|| evaluations.follow(evaluation)),
            _ => pool::idle_workers::end(),
        }
    });
    let content = dynamic(move || match evaluations.open.get() {
        Some(run) => results_view::results_view(evaluations, &run).view(),
        None if evaluations.is_loading.get() => all(vec![
            el("h1").child("Evaluate").view(),
            el("p")
                .class("faint")
                .attr("role", "status")
                .child(words(|| loading_text(storage::recovery())))
                .view(),
        ]),
        None => all(vec![
            el("h1").child("Evaluate").view(),
            el("p")
                .class("faint")
                .child("Run policies on many tasks and compare their results.")
                .view(),
            results_view::storage_alert(evaluations),
            el("section")
                .class("card")
                .attr("aria-label", "New evaluation")
                .child(el("h2").child("New evaluation"))
                .child(setup_view::setup_view(evaluations))
                .view(),
            list_view::list_view(evaluations),
        ]),
    });
    el("div")
        .class("evaluate")
        .child(content)
        .child(delete_dialog::delete_dialog(evaluations))
        .view()
}
