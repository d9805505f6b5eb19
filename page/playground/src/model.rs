//! The model policy: a model chooses the actions, called with the user's own API key.
//!
//! - [`settings`]: how the model is called, as forms and as a value; [`settings_view`] draws them, [`keeping`] persists
//!   them.
//! - [`player`] asks for one action after the other; [`state`] holds the settings and the current turn; [`turn`] draws
//!   it.
//! - [`turn_rules`]: what a turn asks for, counts and becomes.
//! - [`requests`]: the recorded requests and responses of each step.
//!
//! It is loaded when a model is first used, in one part with the page's settings, and reached only through the few
//! functions here.

mod keeping;
mod player;
mod requests;
mod settings;
mod settings_view;
pub(super) mod state;
mod turn;
mod turn_rules;

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;

use super::player::Player;
use super::state::Playground;
use state::ModelState;
use volary_browser::lazy::{DrawFn, Loaded};
use volary_ui::lazy::lazy;

/// The state of the model policy, which is created when it is first used. It belongs to the page, since the component
/// that first uses it may be unmounted.
fn state(playground: Playground) -> ModelState {
    playground.model().get_value().unwrap_or_else(|| {
        let owner = playground.owner().get_value();
        let state = match owner {
            Some(owner) => owner.with(ModelState::new),
            None => ModelState::new(),
        };
        playground.model().set_value(Some(state));
        state
    })
}

pub fn settings_pane() -> AnyView {
    lazy("the settings of the model", || Box::pin(load_settings()))
}

/// The model's streaming response at the end of the transcript.
pub fn turn_pane() -> AnyView {
    lazy("the model's turn", || Box::pin(load_turn()))
}

/// The dialog that shows a step's requests and responses.
pub fn requests_dialog() -> AnyView {
    lazy("the requests", || Box::pin(load_requests()))
}

/// Returns a player for the chosen model. If a setting is invalid, marks its field and returns `None`.
pub async fn seated(playground: Playground) -> Loaded<Option<Box<dyn Player>>> {
    load_player(playground).await
}

#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
fn load_settings() -> Loaded<DrawFn> {
    Ok(settings_view::settings_view)
}

#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
fn load_turn() -> Loaded<DrawFn> {
    Ok(turn::turn_pane)
}

#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
fn load_requests() -> Loaded<DrawFn> {
    Ok(requests::requests_dialog)
}

#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
fn load_player(playground: Playground) -> Loaded<Option<Box<dyn Player>>> {
    Ok(player::seated(playground))
}
