//! A page whose code is loaded on demand, with an alert if loading fails.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;

use super::alert_box::AlertWords;
use volary_browser::lazy::{DrawFn, Loaded, Unloaded};
use volary_browser::{location, spawn};

/// The future of a page that is being loaded.
pub type Coming = Pin<Box<dyn Future<Output = Loaded<DrawFn>>>>;

#[derive(Clone, Copy)]
enum LoadState {
    Coming,
    Here(DrawFn),
    Lost,
}

/// Loads and shows a page. `name` is used in the alert.
pub fn lazy(name: &'static str, load: fn() -> Coming) -> AnyView {
    let state = RwSignal::new(LoadState::Coming);
    let fetch = move || {
        state.set(LoadState::Coming);
        spawn(async move {
            let page = load().await.map_or(LoadState::Lost, LoadState::Here);
            // If the user left meanwhile, the signal is disposed of.
            let _ = state.try_set(page);
        });
    };
    fetch();
    (move || match state.get() {
        LoadState::Coming => view! {
            <p class="coming" role="status">
                {format!("Loading {name}…")}
            </p>
        }
        .into_any(),
        LoadState::Here(page) => page(),
        LoadState::Lost => view! {
            <div class="alert" role="alert">
                <AlertWords
                    what=format!("{name} could not be opened.")
                    why=Unloaded.to_string()
                    advice=Unloaded::ADVICE
                />
                <button type="button" class="primary" on:click=move |_| fetch()>
                    {"Try again"}
                </button>
                " "
                <button type="button" on:click=|_| location::reload()>
                    {"Reload the page"}
                </button>
            </div>
        }
        .into_any(),
    })
    .into_any()
}
