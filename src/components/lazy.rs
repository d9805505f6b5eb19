//! A page whose code is loaded when it is opened, with an alert if that fails.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;

use super::alert_box::alert_words;
use super::erased::dynamic;
use super::markup::{button, el};
use crate::browser::lazy::{Loaded, Page, Unloaded};
use crate::browser::spawn;

/// A page that is being loaded.
pub type Coming = Pin<Box<dyn Future<Output = Loaded<Page>>>>;

#[derive(Clone, Copy)]
enum State {
    Coming,
    Here(Page),
    Lost,
}

/// Loads and shows a page; `name` is its display name.
pub fn lazy(name: &'static str, load: fn() -> Coming) -> AnyView {
    let state = RwSignal::new(State::Coming);
    let fetch = move || {
        state.set(State::Coming);
        spawn(async move {
            let page = load().await.map_or(State::Lost, State::Here);
            // If the reader left meanwhile, the signal is gone.
            let _ = state.try_set(page);
        });
    };
    fetch();
    dynamic(move || match state.get() {
        State::Coming => el("p")
            .class("coming")
            .attr("role", "status")
            .child(format!("Loading {name}…"))
            .view(),
        State::Here(page) => page(),
        State::Lost => el("div")
            .class("alert")
            .attr("role", "alert")
            .child(alert_words(
                &format!("{name} could not be opened."),
                &Unloaded.to_string(),
                Unloaded::ADVICE,
            ))
            .child(button("primary").on_click(fetch).child("Try again"))
            .view(),
    })
}
